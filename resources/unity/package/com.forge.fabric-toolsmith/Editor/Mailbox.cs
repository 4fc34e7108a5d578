// Requests and replies as files: they survive a domain reload, a dropped connection and a killed editor.
//
// Rules kept here: a request is taken by one atomic rename, before anything is done, so that it can be taken
// once, ever, by whichever domain comes first. Its name is the SHA-256 of its bytes. One that was taken and
// has no reply is never done again: the next domain says "lost" for it.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using UnityEngine;

namespace Forge.FabricToolsmith
{
    public sealed class Mailbox
    {
        public const int MostBytes = 1 << 20;
        private static readonly UTF8Encoding Utf8 = new UTF8Encoding(false);
        private readonly string root;

        public Mailbox(string root)
        {
            this.root = root;
        }

        private string Requests { get { return Path.Combine(root, "requests"); } }
        private string Taken { get { return Path.Combine(root, "taken"); } }
        private string Replies { get { return Path.Combine(root, "replies"); } }

        public bool Exists { get { return File.Exists(Path.Combine(root, "hello.json")); } }

        public Hello ReadHello()
        {
            return JsonUtility.FromJson<Hello>(ReadText(Path.Combine(root, "hello.json")));
        }

        public void WriteSession(SessionState state)
        {
            Put(Path.Combine(root, "session.json"), JsonUtility.ToJson(state));
        }

        public void Put(string file, string text)
        {
            var temporary = file + ".tmp";
            File.WriteAllBytes(temporary, Utf8.GetBytes(text));
            if (File.Exists(file)) File.Replace(temporary, file, null);
            else File.Move(temporary, file);
        }

        /// <summary>What an earlier domain took and did not answer.</summary>
        public void LoseUnended()
        {
            if (!Directory.Exists(Taken)) return;
            foreach (var file in Directory.GetFiles(Taken, "*.json"))
            {
                var identity = Path.GetFileNameWithoutExtension(file);
                if (File.Exists(Path.Combine(Replies, identity + ".json"))) continue;
                Answer(new Reply
                {
                    identity = "sha256:" + identity, status = "lost", code = "unity.uncertain",
                    what = "the editor ended or reloaded before this was answered"
                });
            }
        }

        /// <summary>Take the next request and answer it; whether there was one.</summary>
        public bool Step(string session, Func<Request, List<Fact>> handle)
        {
            if (!Directory.Exists(Requests)) return false;
            var files = Directory.GetFiles(Requests, "*.json");
            Array.Sort(files, StringComparer.Ordinal);
            foreach (var file in files)
            {
                var name = Path.GetFileName(file);
                var taken = Path.Combine(Taken, name);
                Directory.CreateDirectory(Taken);
                try
                {
                    File.Move(file, taken);
                }
                catch (IOException)
                {
                    continue; // taken before, or taken by another: never twice
                }
                Answer(Handle(session, taken, Path.GetFileNameWithoutExtension(name), handle));
                return true;
            }
            return false;
        }

        private Reply Handle(string session, string taken, string name, Func<Request, List<Fact>> handle)
        {
            var reply = new Reply { identity = "sha256:" + name, status = "refused" };
            try
            {
                var data = ReadBytes(taken);
                if (Digests.Of(data) != reply.identity)
                    throw new RefusedException("unity.request_refused", "the bytes are not those of the name");
                var request = JsonUtility.FromJson<Request>(Utf8.GetString(data));
                reply.id = request.id;
                if (request.schema != "fabric.toolsmith-request.v1" || request.session != session)
                    throw new RefusedException("unity.request_refused", "the request is for another session");
                reply.facts = handle(request).ToArray();
                reply.status = "done";
            }
            catch (RefusedException fault)
            {
                reply.code = fault.Code;
                reply.what = fault.Message;
            }
            catch (Exception fault)
            {
                // Whatever a handler met: something may have been done, and nobody knows how much.
                reply.status = "failed";
                reply.code = "unity.uncertain";
                reply.what = fault.GetType().Name + ": " + fault.Message;
            }
            return reply;
        }

        private void Answer(Reply reply)
        {
            Directory.CreateDirectory(Replies);
            Put(Path.Combine(Replies, reply.identity.Substring(7) + ".json"), JsonUtility.ToJson(reply));
        }

        private static byte[] ReadBytes(string file)
        {
            if (new FileInfo(file).Length > MostBytes)
                throw new RefusedException("unity.request_refused", "the request is too long");
            return File.ReadAllBytes(file);
        }

        private static string ReadText(string file)
        {
            return Utf8.GetString(ReadBytes(file));
        }
    }
}
