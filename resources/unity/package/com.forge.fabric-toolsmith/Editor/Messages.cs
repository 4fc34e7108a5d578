// What travels: plain serializable types, read and written by JsonUtility and nothing else.
using System;

namespace Forge.FabricToolsmith
{
    /// <summary>Written by Fabric beside the mailbox: whom it waits for.</summary>
    [Serializable]
    public sealed class Hello
    {
        public string schema = "";
        /// <summary>Drawn for one deployment; the session repeats it.</summary>
        public string nonce = "";
        /// <summary>The digest that the deployed package must have.</summary>
        public string package = "";
    }

    /// <summary>Written by the editor: who is there. <c>beat</c> rises while the main thread lives.</summary>
    [Serializable]
    public sealed class SessionState
    {
        public string schema = "fabric.toolsmith-session.v1";
        public string nonce = "";
        public string package = "";
        public string project = "";
        public string unity = "";
        public int process;
        public string state = "";
        public long beat;
        public bool held;
    }

    /// <summary>One request. <c>args</c> is JSON of the method's own type, as text.</summary>
    [Serializable]
    public sealed class Request
    {
        public string schema = "";
        public string session = "";
        public string id = "";
        public string method = "";
        public string args = "";
    }

    /// <summary>How a request ended. <c>identity</c> is the SHA-256 of the request's bytes.</summary>
    [Serializable]
    public sealed class Reply
    {
        public string schema = "fabric.toolsmith-reply.v1";
        public string id = "";
        public string identity = "";
        public string status = "";
        public string code = "";
        public string what = "";
        public Fact[] facts = new Fact[0];
    }

    /// <summary>One thing that was looked at.</summary>
    [Serializable]
    public sealed class Fact
    {
        public string subject = "";
        public string found = "";

        public Fact() { }

        public Fact(string subject, string found)
        {
            this.subject = subject;
            this.found = found ?? "";
        }
    }

    /// <summary>Arguments of hold and import: project-relative paths.</summary>
    [Serializable]
    public sealed class PathsArgs
    {
        public string[] paths = new string[0];
    }

    /// <summary>Arguments of the looks that need a path alone.</summary>
    [Serializable]
    public sealed class AssetArgs
    {
        public string asset = "";
    }

    /// <summary>Arguments of the looks at one serialized property.</summary>
    [Serializable]
    public sealed class PropertyArgs
    {
        public string asset = "";
        /// <summary>fileID, as text: it has 64 bits.</summary>
        public string document = "";
        public string path = "";
    }

    /// <summary>Arguments of the look at a material's slot.</summary>
    [Serializable]
    public sealed class MaterialArgs
    {
        public string asset = "";
        public string slot = "";
    }

    /// <summary>A typed refusal: nothing was done.</summary>
    public sealed class RefusedException : Exception
    {
        public readonly string Code;

        public RefusedException(string code, string what) : base(what)
        {
            Code = code;
        }
    }
}
