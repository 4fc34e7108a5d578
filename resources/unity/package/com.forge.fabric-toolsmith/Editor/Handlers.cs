// The closed table of methods. A name that is not in it is refused; no name is ever looked up elsewhere.
using System;
using System.Collections.Generic;
using UnityEngine;

namespace Forge.FabricToolsmith
{
    public static class Handlers
    {
        private static readonly Dictionary<string, Func<string, List<Fact>>> Table =
            new Dictionary<string, Func<string, List<Fact>>>(StringComparer.Ordinal)
            {
                { "session.hold", text => Hold.Take(Paths(text)) },
                { "session.import", text => Hold.Import(Paths(text)) },
                { "session.release", text => Hold.Release() },
                { "unity.import_texture@1", text => Looks.Texture(Asset(text)) },
                { "unity.slice_sprites@1", text => Looks.Sprites(Asset(text)) },
                { "unity.rename_sprite@1", text => Looks.Sprites(Asset(text)) },
                { "unity.set_property@1", text => Looks.Property(Property(text)) },
                { "unity.set_prefab_property@1", text => Looks.Property(Property(text)) },
                { "unity.edit_list@1", text => Looks.Property(Property(text)) },
                { "unity.set_scene_property@1", text => Looks.Scene(Asset(text)) },
                { "unity.create_asset@1", text => Looks.MainAsset(Asset(text)) },
                { "unity.move_asset@1", text => Looks.MainAsset(Asset(text)) },
                { "unity.delete_asset@1", text => Looks.Gone(Asset(text)) },
                { "unity.set_atlas_members@1", text => Looks.Atlas(Asset(text)) },
                { "unity.set_bundle_name@1", text => Looks.Bundle(Asset(text)) },
                { "unity.set_material_texture@1", text => Looks.Slot(Material(text)) },
                { "unity.set_addressable@1", text => Looks.MainAsset(Asset(text)) },
                { "unity.set_asmdef_references@1", text => Looks.MainAsset(Asset(text)) },
            };

        public static List<Fact> Handle(Request request)
        {
            Func<string, List<Fact>> handler;
            if (!Table.TryGetValue(request.method, out handler))
                throw new RefusedException("capability_unavailable", "there is no method " + request.method);
            return handler(request.args);
        }

        private static string[] Paths(string text)
        {
            return JsonUtility.FromJson<PathsArgs>(text).paths;
        }

        private static string Asset(string text)
        {
            return JsonUtility.FromJson<AssetArgs>(text).asset;
        }

        private static PropertyArgs Property(string text)
        {
            return JsonUtility.FromJson<PropertyArgs>(text);
        }

        private static MaterialArgs Material(string text)
        {
            return JsonUtility.FromJson<MaterialArgs>(text);
        }
    }
}
