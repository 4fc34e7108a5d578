// Hand-written reference stubs of UnityEditor. What an editor holds in memory here is what lies on the disk.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using UnityEngine;

namespace UnityEditor
{
    [AttributeUsage(AttributeTargets.Class)]
    public sealed class InitializeOnLoadAttribute : Attribute { }

    public static class EditorApplication
    {
        public delegate void CallbackFunction();
        public static CallbackFunction update;
        private static readonly System.Diagnostics.Stopwatch Watch = System.Diagnostics.Stopwatch.StartNew();
        public static double timeSinceStartup { get { return Watch.Elapsed.TotalSeconds; } }
        public static bool isCompiling { get { return false; } }
        public static bool isUpdating { get { return false; } }
        public static bool isPlayingOrWillChangePlaymode { get { return Fake.Says("playing"); } }
        public static void LockReloadAssemblies() { }
        public static void UnlockReloadAssemblies() { }
        public static void Exit(int code) { Environment.Exit(code); }
    }

    public static class AssemblyReloadEvents
    {
        public delegate void AssemblyReloadCallback();
        public static event AssemblyReloadCallback beforeAssemblyReload;
        public static void Fire() { if (beforeAssemblyReload != null) beforeAssemblyReload(); }
    }

    [Flags]
    public enum ImportAssetOptions { Default = 0, ForceUpdate = 1, ForceSynchronousImport = 8 }

    public sealed class SceneAsset : UnityEngine.Object { }

    public static class AssetDatabase
    {
        private static string File_(string path) { return Path.Combine(Path.GetDirectoryName(Application.dataPath), path); }

        public static string AssetPathToGUID(string path)
        {
            var meta = File_(path) + ".meta";
            if (!File.Exists(meta)) return "";
            foreach (var line in File.ReadAllLines(meta))
                if (line.StartsWith("guid: ", StringComparison.Ordinal)) return Fake.Says("lies") ? new string('0', 32) : line.Substring(6);
            return "";
        }

        public static void ImportAsset(string path, ImportAssetOptions options)
        {
            if (Fake.Says("dies")) Environment.Exit(9);
            if (Fake.Says("throws")) throw new InvalidOperationException("the importer failed");
            if (Fake.Says("postprocessor") && File.Exists(File_(path) + ".meta"))
                File.AppendAllText(File_(path) + ".meta", "# a postprocessor was here\n");
            if (Fake.Says("reloads")) Fake.Reload = true;
        }

        public static Type GetMainAssetTypeAtPath(string path)
        {
            if (Fake.Says("unimported")) return null;
            return File.Exists(File_(path)) || Directory.Exists(File_(path)) ? typeof(UnityEngine.Object) : null;
        }

        public static UnityEngine.Object[] LoadAllAssetsAtPath(string path)
        {
            var found = new List<UnityEngine.Object>();
            if (path.EndsWith(".asset", StringComparison.Ordinal) && File.Exists(File_(path)))
                foreach (var line in File.ReadAllLines(File_(path)))
                    if (line.StartsWith("--- !u!", StringComparison.Ordinal))
                        found.Add(new ScriptableObject { StubPath = path, StubId = long.Parse(line.Substring(line.IndexOf('&') + 1)) });
            return found.ToArray();
        }

        public static T LoadAssetAtPath<T>(string path) where T : UnityEngine.Object { return null; }
        public static string GetAssetPath(UnityEngine.Object item) { return ""; }
        public static void DisallowAutoRefresh() { }
        public static void AllowAutoRefresh() { }

        public static bool TryGetGUIDAndLocalFileIdentifier(UnityEngine.Object item, out string guid, out long id)
        {
            guid = item.StubPath.StartsWith("guid:", StringComparison.Ordinal) ? item.StubPath.Substring(5) : AssetPathToGUID(item.StubPath);
            id = item.StubId;
            return guid != "";
        }
    }

    public static class EditorUtility
    {
        public static bool scriptCompilationFailed { get { return false; } }
        public static bool IsDirty(UnityEngine.Object item) { return false; }
    }

    public enum TextureImporterType { Default = 0, Sprite = 8 }
    public enum SpriteImportMode { None = 0, Single = 1, Multiple = 2 }

    public class AssetImporter : UnityEngine.Object
    {
        public string assetBundleName { get; set; }
        public static AssetImporter GetAtPath(string path) { return path.EndsWith(".png", StringComparison.Ordinal) ? new TextureImporter() : new AssetImporter(); }
    }

    public sealed class TextureImporter : AssetImporter
    {
        public TextureImporterType textureType { get { return TextureImporterType.Sprite; } }
        public SpriteImportMode spriteImportMode { get { return SpriteImportMode.Single; } }
    }

    public enum SerializedPropertyType { Generic = -1, Integer = 0, Boolean = 1, Float = 2, String = 3, ObjectReference = 5, LayerMask = 6, Enum = 7 }

    public sealed class SerializedObject : IDisposable
    {
        private readonly UnityEngine.Object item;
        public SerializedObject(UnityEngine.Object item) { this.item = item; }

        public SerializedProperty FindProperty(string path)
        {
            // Of a file with one object, a property at the top of it.
            var file = Path.Combine(Path.GetDirectoryName(Application.dataPath), item.StubPath);
            foreach (var line in File.ReadAllLines(file))
                if (line.StartsWith("  " + path + ": ", StringComparison.Ordinal))
                    return new SerializedProperty(line.Substring(path.Length + 4));
            return null;
        }

        public void Dispose() { }
    }

    public sealed class SerializedProperty
    {
        private readonly string text;
        
        public SerializedProperty(string text)
        {
            this.text = text.StartsWith("'", StringComparison.Ordinal) ? text.Trim('\'').Replace("''", "'") : text;
        }

        public SerializedPropertyType propertyType
        {
            get
            {
                long whole;
                if (text.StartsWith("{fileID", StringComparison.Ordinal)) return SerializedPropertyType.ObjectReference;
                return long.TryParse(text, out whole) ? SerializedPropertyType.Integer : SerializedPropertyType.String;
            }
        }

        public long longValue { get { return long.Parse(text); } }
        public bool boolValue { get { return text == "1"; } }
        public string stringValue { get { return text; } }

        public UnityEngine.Object objectReferenceValue
        {
            get
            {
                if (text.IndexOf("guid: ", StringComparison.Ordinal) < 0) return null;
                var guid = text.Substring(text.IndexOf("guid: ", StringComparison.Ordinal) + 6, 32);
                var id = text.Substring(9, text.IndexOf(',') - 9);
                return new ScriptableObject { StubPath = "guid:" + guid, StubId = long.Parse(id) };
            }
        }
    }

    public enum BuildTarget { StandaloneOSX = 2, StandaloneWindows64 = 19, iOS = 9, Android = 13, WebGL = 20, StandaloneLinux64 = 24 }
    public enum BuildTargetGroup { Unknown = 0, Standalone = 1 }

    [Flags]
    public enum BuildOptions { None = 0, Development = 1, StrictMode = 2097152 }

    public struct BuildPlayerOptions
    {
        public string[] scenes { get; set; }
        public string locationPathName { get; set; }
        public BuildTarget target { get; set; }
        public BuildTargetGroup targetGroup { get; set; }
        public BuildOptions options { get; set; }
    }

    public static class BuildPipeline
    {
        public static BuildTargetGroup GetBuildTargetGroup(BuildTarget target) { return BuildTargetGroup.Standalone; }
        public static Build.Reporting.BuildReport BuildPlayer(BuildPlayerOptions options) { return null; }
    }

    public sealed class EditorBuildSettingsScene
    {
        public bool enabled { get; set; }
        public string path { get; set; }
    }

    public static class EditorBuildSettings
    {
        public static EditorBuildSettingsScene[] scenes { get { return new EditorBuildSettingsScene[0]; } }
    }
}

namespace UnityEditor.PackageManager
{
    public sealed class PackageInfo
    {
        public string resolvedPath { get; set; }
        public static PackageInfo FindForAssembly(Assembly assembly) { return new PackageInfo { resolvedPath = Fake.Package }; }
    }
}

namespace UnityEditor.U2D
{
    public static class SpriteAtlasExtensions
    {
        public static UnityEngine.Object[] GetPackables(this UnityEngine.U2D.SpriteAtlas atlas) { return new UnityEngine.Object[0]; }
    }
}

namespace UnityEditor.SceneManagement
{
    public static class EditorSceneManager
    {
        public static int sceneCount { get { return Fake.OpenScene == "" ? 0 : 1; } }
        public static UnityEngine.SceneManagement.Scene GetSceneAt(int index)
        {
            return new UnityEngine.SceneManagement.Scene { path = Fake.OpenScene };
        }
    }

    public sealed class PrefabStage : UnityEngine.Object
    {
        public string assetPath { get; set; }
    }

    public static class PrefabStageUtility
    {
        public static PrefabStage GetCurrentPrefabStage() { return null; }
    }
}

namespace UnityEditor.Build.Reporting
{
    public enum BuildResult { Unknown, Succeeded, Failed, Cancelled }

    public struct BuildStepMessage
    {
        public LogType type { get { return LogType.Log; } }
        public string content { get { return ""; } }
    }

    public struct BuildStep
    {
        public string name { get { return ""; } }
        public BuildStepMessage[] messages { get { return new BuildStepMessage[0]; } }
    }

    public struct BuildSummary
    {
        public BuildResult result { get { return BuildResult.Succeeded; } }
        public int totalErrors { get { return 0; } }
        public int totalWarnings { get { return 0; } }
        public ulong totalSize { get { return 0; } }
        public string outputPath { get { return ""; } }
    }

    public sealed class BuildReport : UnityEngine.Object
    {
        public BuildSummary summary { get { return new BuildSummary(); } }
        public BuildStep[] steps { get { return new BuildStep[0]; } }
    }
}
