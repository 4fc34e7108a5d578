// A running editor without Unity: pumps the package's own code over a project's folder, and misbehaves when told.
using System;
using System.IO;
using System.Runtime.CompilerServices;
using System.Threading;
using UnityEditor;
using UnityEngine;

public static class Fake
{
    public static string Package = "";
    public static string OpenScene = "";
    public static string Folder = "";
    public static bool Reload;

    public static bool Says(string what) { return File.Exists(Path.Combine(Folder, what)); }
}

public static class Host
{
    public static int Main(string[] given)
    {
        Application.dataPath = Path.Combine(Path.GetFullPath(given[0]), "Assets");
        Fake.Package = given[1];
        Fake.Folder = given[2];
        RuntimeHelpers.RunClassConstructor(typeof(Forge.FabricToolsmith.Session).TypeHandle);
        while (!Fake.Says("stop"))
        {
            var scene = Path.Combine(Fake.Folder, "scene");
            Fake.OpenScene = File.Exists(scene) ? File.ReadAllText(scene).Trim() : "";
            EditorApplication.update();
            if (Fake.Reload)
            {
                // A domain reload: the socket of others would drop; here the next domain reads the mailbox.
                Fake.Reload = false;
                AssemblyReloadEvents.Fire();
                Thread.Sleep(300);
                Forge.FabricToolsmith.Session.Begin();
            }
            Thread.Sleep(10);
        }
        return 0;
    }
}
