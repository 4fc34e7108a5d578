// What the editor itself sees of a capability's outcome. Looks change nothing.
using System.Collections.Generic;
using System.Globalization;
using UnityEditor;
using UnityEditor.U2D;
using UnityEngine;
using UnityEngine.U2D;

namespace Forge.FabricToolsmith
{
    public static class Looks
    {
        public static List<Fact> MainAsset(string path)
        {
            var type = AssetDatabase.GetMainAssetTypeAtPath(path);
            return new List<Fact>
            {
                new Fact("guid", AssetDatabase.AssetPathToGUID(path)),
                new Fact("imported", type == null ? "no" : "yes"),
            };
        }

        public static List<Fact> Gone(string path)
        {
            var type = AssetDatabase.GetMainAssetTypeAtPath(path);
            return new List<Fact> { new Fact("imported", type == null ? "no" : "yes") };
        }

        public static List<Fact> Scene(string path)
        {
            var found = MainAsset(path);
            found.Add(new Fact("scene", AssetDatabase.LoadAssetAtPath<SceneAsset>(path) == null ? "no" : "yes"));
            return found;
        }

        public static List<Fact> Texture(string path)
        {
            var found = MainAsset(path);
            var importer = AssetImporter.GetAtPath(path) as TextureImporter;
            found.Add(new Fact("importer", importer == null ? "none" : "texture"));
            if (importer != null)
            {
                found.Add(new Fact("textureType", ((int)importer.textureType).ToString(CultureInfo.InvariantCulture)));
                found.Add(new Fact("spriteMode", ((int)importer.spriteImportMode).ToString(CultureInfo.InvariantCulture)));
            }
            return found;
        }

        public static List<Fact> Sprites(string path)
        {
            var found = Texture(path);
            foreach (var item in AssetDatabase.LoadAllAssetsAtPath(path))
            {
                if (!(item is Sprite)) continue;
                string guid;
                long id;
                if (AssetDatabase.TryGetGUIDAndLocalFileIdentifier(item, out guid, out id))
                    found.Add(new Fact("sprite:" + item.name, id.ToString(CultureInfo.InvariantCulture)));
            }
            return found;
        }

        public static List<Fact> Bundle(string path)
        {
            var found = MainAsset(path);
            var importer = AssetImporter.GetAtPath(path);
            found.Add(new Fact("bundle", importer == null ? "" : importer.assetBundleName));
            return found;
        }

        public static List<Fact> Atlas(string path)
        {
            var found = MainAsset(path);
            var atlas = AssetDatabase.LoadAssetAtPath<SpriteAtlas>(path);
            if (atlas == null) return found;
            foreach (var item in SpriteAtlasExtensions.GetPackables(atlas))
                found.Add(new Fact("member", AssetDatabase.AssetPathToGUID(AssetDatabase.GetAssetPath(item))));
            return found;
        }

        public static List<Fact> Slot(MaterialArgs args)
        {
            var found = MainAsset(args.asset);
            var material = AssetDatabase.LoadAssetAtPath<Material>(args.asset);
            if (material == null || !material.HasProperty(args.slot)) return found;
            var texture = material.GetTexture(args.slot);
            found.Add(new Fact("texture", texture == null ? "" : AssetDatabase.AssetPathToGUID(AssetDatabase.GetAssetPath(texture))));
            return found;
        }

        public static List<Fact> Property(PropertyArgs args)
        {
            var found = MainAsset(args.asset);
            if (args.asset.EndsWith(".unity", System.StringComparison.Ordinal) || args.document == "0") return found;
            foreach (var item in AssetDatabase.LoadAllAssetsAtPath(args.asset))
            {
                string guid;
                long id;
                if (item == null || !AssetDatabase.TryGetGUIDAndLocalFileIdentifier(item, out guid, out id)) continue;
                if (id.ToString(CultureInfo.InvariantCulture) != args.document) continue;
                using (var shown = new SerializedObject(item))
                {
                    var property = shown.FindProperty(args.path);
                    found.Add(new Fact("property", property == null ? "none" : "there"));
                    if (property != null) found.Add(new Fact("value", Value(property)));
                }
            }
            return found;
        }

        private static string Value(SerializedProperty property)
        {
            switch (property.propertyType)
            {
                case SerializedPropertyType.Integer:
                case SerializedPropertyType.LayerMask:
                case SerializedPropertyType.Enum:
                    return property.longValue.ToString(CultureInfo.InvariantCulture);
                case SerializedPropertyType.Boolean:
                    return property.boolValue ? "1" : "0";
                case SerializedPropertyType.String:
                    return property.stringValue;
                case SerializedPropertyType.ObjectReference:
                    var value = property.objectReferenceValue;
                    string guid;
                    long id;
                    if (value == null || !AssetDatabase.TryGetGUIDAndLocalFileIdentifier(value, out guid, out id)) return "none";
                    return guid + ":" + id.ToString(CultureInfo.InvariantCulture);
                default:
                    return "?"; // of a kind that is compared in the file alone
            }
        }
    }
}
