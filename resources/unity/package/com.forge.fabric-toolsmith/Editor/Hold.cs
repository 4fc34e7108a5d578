// The editor holds still while Fabric writes files, and imports them when it is told to.
//
// Rules kept here: nothing that is open with unsaved changes is written under the editor's feet, an open scene
// never. A hold ends by itself when nobody asks for anything any more: whoever took it may have died.
using System;
using System.Collections.Generic;
using UnityEditor;
using UnityEditor.SceneManagement;

namespace Forge.FabricToolsmith
{
    public static class Hold
    {
        public const double LeaseSeconds = 120;
        private static bool held;
        private static double until;

        public static bool Held { get { return held; } }

        public static List<Fact> Take(string[] paths)
        {
            if (EditorApplication.isPlayingOrWillChangePlaymode)
                throw new RefusedException("unity.editor_busy", "the editor is in play mode");
            if (EditorApplication.isCompiling || EditorApplication.isUpdating)
                throw new RefusedException("unity.editor_busy", "the editor is compiling or importing");
            var wanted = new HashSet<string>(StringComparer.Ordinal);
            foreach (var path in paths)
                wanted.Add(path.EndsWith(".meta", StringComparison.Ordinal) ? path.Substring(0, path.Length - 5) : path);
            for (var index = 0; index < EditorSceneManager.sceneCount; index++)
            {
                var scene = EditorSceneManager.GetSceneAt(index);
                if (wanted.Contains(scene.path))
                    throw new RefusedException("unity.scene_open", "the editor has this scene open: " + scene.path);
            }
            var stage = PrefabStageUtility.GetCurrentPrefabStage();
            if (stage != null && wanted.Contains(stage.assetPath))
                throw new RefusedException("unity.scene_open", "the editor has this prefab open: " + stage.assetPath);
            foreach (var path in wanted)
            {
                if (path.EndsWith(".unity", StringComparison.Ordinal)) continue; // objects of a scene that is not open are not loaded
                foreach (var item in AssetDatabase.LoadAllAssetsAtPath(path))
                    if (item != null && EditorUtility.IsDirty(item))
                        throw new RefusedException("unity.asset_unsaved", "the editor has unsaved changes in " + path);
            }
            if (!held)
            {
                AssetDatabase.DisallowAutoRefresh();
                EditorApplication.LockReloadAssemblies();
                held = true;
            }
            Renew();
            return new List<Fact> { new Fact("held", "true") };
        }

        public static List<Fact> Import(string[] paths)
        {
            if (!held) throw new RefusedException("unity.not_held", "nothing is held: take the hold first");
            Renew();
            var found = new List<Fact>();
            foreach (var path in paths)
            {
                AssetDatabase.ImportAsset(path, ImportAssetOptions.ForceSynchronousImport | ImportAssetOptions.ForceUpdate);
                found.Add(new Fact(path, AssetDatabase.AssetPathToGUID(path)));
            }
            return found;
        }

        public static List<Fact> Release()
        {
            if (held)
            {
                held = false;
                EditorApplication.UnlockReloadAssemblies();
                AssetDatabase.AllowAutoRefresh();
            }
            return new List<Fact> { new Fact("held", "false") };
        }

        public static void Expire()
        {
            if (held && EditorApplication.timeSinceStartup > until) Release();
        }

        private static void Renew()
        {
            until = EditorApplication.timeSinceStartup + LeaseSeconds;
        }
    }
}
