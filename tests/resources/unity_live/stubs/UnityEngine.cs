// Hand-written reference stubs: the members of UnityEngine that the package uses, with enough behind them to
// run its mailbox under mono. Signatures follow Unity's scripting reference (2021.3 to 6000).
using System;
using System.Text;

namespace UnityEngine
{
    public enum LogType { Error, Assert, Warning, Log, Exception }

    public class Object
    {
        public string name { get; set; }
        // Where it lies, for the stubs themselves.
        public string StubPath = "";
        public long StubId;
    }

    public class ScriptableObject : Object { }
    public class Texture : Object { }
    public class Sprite : Object { }

    public class Material : Object
    {
        public bool HasProperty(string name) { return false; }
        public Texture GetTexture(string name) { return null; }
    }

    public static class Application
    {
        public static string dataPath { get; set; }
        public static string unityVersion { get { return "2022.3.62f3"; } }
    }

    public static class JsonUtility
    {
        public static string ToJson(object value) { return Json.Write(value); }
        public static T FromJson<T>(string text) { return (T)new Json(text).Read(typeof(T)); }
    }
}

namespace UnityEngine.U2D
{
    public sealed class SpriteAtlas : UnityEngine.Object { }
}

namespace UnityEngine.SceneManagement
{
    public struct Scene
    {
        public string path { get; set; }
    }
}
