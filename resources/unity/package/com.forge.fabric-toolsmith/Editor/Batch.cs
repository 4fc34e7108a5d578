// Entry points of batch mode. What came of it goes into a file: an exit code says nothing.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using UnityEditor;
using UnityEditor.Build.Reporting;
using UnityEngine;

namespace Forge.FabricToolsmith
{
    /// <summary>What every batch report tells.</summary>
    [Serializable]
    public sealed class BatchReport
    {
        public string schema = "fabric.toolsmith-report.v1";
        public string nonce = "";
        public string package = "";
        public string unity = "";
        public string kind = "";
        public string result = "";
        public int errors;
        public int warnings;
        public string output = "";
        public string target = "";
        public string size = "";
        public string[] messages = new string[0];
    }

    public static class Batch
    {
        private const int MostMessages = 200;

        public static void Compile()
        {
            Run("compile", report =>
            {
                // Scripts with errors end batch mode before it gets here: being here with none is the result.
                report.result = EditorUtility.scriptCompilationFailed ? "Failed" : "Succeeded";
                report.errors = EditorUtility.scriptCompilationFailed ? 1 : 0;
            });
        }

        public static void Build()
        {
            Run("build", report =>
            {
                var options = new BuildPlayerOptions
                {
                    scenes = EnabledScenes(),
                    locationPathName = Argument("-fabricOut"),
                    target = Target(Argument("-fabricTarget")),
                    targetGroup = BuildPipeline.GetBuildTargetGroup(Target(Argument("-fabricTarget"))),
                    options = BuildOptions.StrictMode,
                };
                if (Argument("-fabricDevelopment") == "1") options.options |= BuildOptions.Development;
                var built = BuildPipeline.BuildPlayer(options);
                report.result = built.summary.result.ToString();
                report.errors = built.summary.totalErrors;
                report.warnings = built.summary.totalWarnings;
                report.output = built.summary.outputPath;
                report.target = Argument("-fabricTarget");
                report.size = built.summary.totalSize.ToString();
                var messages = new List<string>();
                foreach (var step in built.steps)
                    foreach (var message in step.messages)
                        if (message.type != LogType.Log && message.type != LogType.Warning && messages.Count < MostMessages)
                            messages.Add(step.name + ": " + message.content);
                report.messages = messages.ToArray();
            });
        }

        private static void Run(string kind, Action<BatchReport> work)
        {
            var report = new BatchReport
            {
                kind = kind,
                nonce = Argument("-fabricNonce"),
                package = Digests.OfTree(Session.PackageRoot()),
                unity = Application.unityVersion,
            };
            try
            {
                work(report);
            }
            catch (Exception fault)
            {
                report.result = "Failed";
                report.errors = Math.Max(1, report.errors);
                report.messages = new[] { fault.GetType().Name + ": " + fault.Message };
            }
            var file = Argument("-fabricReport");
            File.WriteAllBytes(file + ".tmp", new UTF8Encoding(false).GetBytes(JsonUtility.ToJson(report)));
            File.Move(file + ".tmp", file);
            EditorApplication.Exit(report.result == "Succeeded" && report.errors == 0 ? 0 : 1);
        }

        private static string Argument(string name)
        {
            var given = Environment.GetCommandLineArgs();
            for (var index = 0; index + 1 < given.Length; index++)
                if (given[index] == name) return given[index + 1];
            return "";
        }

        private static string[] EnabledScenes()
        {
            var found = new List<string>();
            foreach (var scene in EditorBuildSettings.scenes)
                if (scene.enabled) found.Add(scene.path);
            return found.ToArray();
        }

        private static BuildTarget Target(string name)
        {
            switch (name)
            {
                case "StandaloneWindows64": return BuildTarget.StandaloneWindows64;
                case "StandaloneLinux64": return BuildTarget.StandaloneLinux64;
                case "StandaloneOSX": return BuildTarget.StandaloneOSX;
                case "Android": return BuildTarget.Android;
                case "iOS": return BuildTarget.iOS;
                case "WebGL": return BuildTarget.WebGL;
                default: throw new RefusedException("unity.target_unknown", "there is no build target " + name);
            }
        }
    }
}
