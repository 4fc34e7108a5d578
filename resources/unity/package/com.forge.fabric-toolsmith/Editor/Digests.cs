// SHA-256 of bytes and of this package's tree, as Fabric computes them.
using System;
using System.Collections.Generic;
using System.IO;
using System.Security.Cryptography;
using System.Text;

namespace Forge.FabricToolsmith
{
    public static class Digests
    {
        public static string Of(byte[] data)
        {
            using (var hash = SHA256.Create())
            {
                var text = new StringBuilder("sha256:");
                foreach (var value in hash.ComputeHash(data)) text.Append(value.ToString("x2"));
                return text.ToString();
            }
        }

        /// <summary>Over one line a file, sorted by path: digest, two spaces, POSIX path, newline.</summary>
        public static string OfTree(string root)
        {
            var lines = new List<string>();
            var start = root.TrimEnd('/', '\\').Length + 1;
            foreach (var file in Directory.GetFiles(root, "*", SearchOption.AllDirectories))
                lines.Add(file.Substring(start).Replace('\\', '/') + "\0" + Of(File.ReadAllBytes(file)));
            lines.Sort(StringComparer.Ordinal);
            var text = new StringBuilder();
            foreach (var line in lines)
            {
                var cut = line.IndexOf('\0');
                text.Append(line.Substring(cut + 1)).Append("  ").Append(line.Substring(0, cut)).Append('\n');
            }
            return Of(new UTF8Encoding(false).GetBytes(text.ToString()));
        }
    }
}
