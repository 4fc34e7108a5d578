// The session of a running editor: begins with every domain, and says so.
using System.Diagnostics;
using System.IO;
using UnityEditor;
using UnityEngine;

namespace Forge.FabricToolsmith
{
    [InitializeOnLoad]
    public static class Session
    {
        private const double Every = 0.2;
        private static Mailbox mailbox;
        private static SessionState state;
        private static double next;

        static Session()
        {
            Begin();
            EditorApplication.update += Tick;
            AssemblyReloadEvents.beforeAssemblyReload += Reloading;
        }

        public static string Root
        {
            get { return Path.GetDirectoryName(Application.dataPath); }
        }

        public static void Begin()
        {
            mailbox = new Mailbox(Path.Combine(Root, "Library", "Fabric", "toolsmith"));
            if (!mailbox.Exists) return;
            mailbox.LoseUnended();
            var hello = mailbox.ReadHello();
            state = new SessionState
            {
                nonce = hello.nonce,
                package = Digests.OfTree(PackageRoot()),
                project = Root.Replace('\\', '/'),
                unity = Application.unityVersion,
                process = Process.GetCurrentProcess().Id,
            };
            Say("ready");
        }

        public static string PackageRoot()
        {
            return UnityEditor.PackageManager.PackageInfo.FindForAssembly(typeof(Session).Assembly).resolvedPath;
        }

        private static void Tick()
        {
            if (EditorApplication.timeSinceStartup < next) return;
            next = EditorApplication.timeSinceStartup + Every;
            Hold.Expire();
            if (!mailbox.Exists)
            {
                // Fabric has taken its mailbox away: it is done with this editor.
                if (state != null) Hold.Release();
                state = null;
                return;
            }
            if (state == null || state.nonce != mailbox.ReadHello().nonce) Begin();
            Say(EditorApplication.isCompiling || EditorApplication.isUpdating ? "busy" : "ready");
            if (state.package != mailbox.ReadHello().package) return; // another package than was meant does nothing
            while (mailbox.Step(state.nonce, Handlers.Handle)) { }
        }

        private static void Reloading()
        {
            if (state == null) return;
            Hold.Release();
            Say("reloading");
        }

        private static void Say(string what)
        {
            state.state = what;
            state.beat++;
            state.held = Hold.Held;
            mailbox.WriteSession(state);
        }
    }
}
