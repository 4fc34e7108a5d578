// Fields of serializable types as JSON, as JsonUtility has it: what the stub of it needs, and no more.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Reflection;
using System.Text;

public sealed class Json
{
    private readonly string text;
    private int at;

    public Json(string text) { this.text = text; }

    public static string Write(object value)
    {
        if (value == null) return "\"\"";
        if (value is bool) return (bool)value ? "true" : "false";
        if (value is int || value is long) return Convert.ToString(value, CultureInfo.InvariantCulture);
        var word = value as string;
        var made = new StringBuilder();
        if (word != null)
        {
            made.Append('"');
            foreach (var c in word)
                if (c == '"' || c == '\\') made.Append('\\').Append(c);
                else if (c < ' ') made.Append("\\u").Append(((int)c).ToString("x4"));
                else made.Append(c);
            return made.Append('"').ToString();
        }
        var parts = new List<string>();
        var list = value as Array;
        if (list != null)
        {
            foreach (var item in list) parts.Add(Write(item));
            return "[" + string.Join(",", parts.ToArray()) + "]";
        }
        foreach (var field in value.GetType().GetFields(BindingFlags.Instance | BindingFlags.Public))
            parts.Add(Write(field.Name) + ":" + Write(field.GetValue(value)));
        return "{" + string.Join(",", parts.ToArray()) + "}";
    }

    public object Read(Type type)
    {
        Space();
        var next = text[at];
        if (next == '"') return Text();
        if (next == 't' || next == 'f') { at += next == 't' ? 4 : 5; return next == 't'; }
        if (next == '[') return List(type);
        if (next == '{') return Object(type);
        var begin = at;
        while (at < text.Length && "-0123456789".IndexOf(text[at]) >= 0) at++;
        return Convert.ChangeType(long.Parse(text.Substring(begin, at - begin), CultureInfo.InvariantCulture), type ?? typeof(long));
    }

    private object Object(Type type)
    {
        var made = type == null ? null : Activator.CreateInstance(type);
        Expect('{');
        while (!Ends('}'))
        {
            var name = Text();
            Expect(':');
            var field = type == null ? null : type.GetField(name);
            var value = Read(field == null ? null : field.FieldType);
            if (field != null) field.SetValue(made, value);
        }
        return made;
    }

    private object List(Type type)
    {
        var inner = type == null ? null : type.GetElementType();
        var found = new List<object>();
        Expect('[');
        while (!Ends(']')) found.Add(Read(inner));
        if (inner == null) return null;
        var made = Array.CreateInstance(inner, found.Count);
        for (var index = 0; index < found.Count; index++) made.SetValue(found[index], index);
        return made;
    }

    private string Text()
    {
        Expect('"');
        var made = new StringBuilder();
        while (text[at] != '"')
        {
            var c = text[at++];
            if (c == '\\')
            {
                c = text[at++];
                if (c == 'u') { c = (char)int.Parse(text.Substring(at, 4), NumberStyles.HexNumber); at += 4; }
                else if (c == 'n') c = '\n';
                else if (c == 't') c = '\t';
                else if (c == 'r') c = '\r';
            }
            made.Append(c);
        }
        at++;
        return made.ToString();
    }

    private bool Ends(char last)
    {
        Space();
        if (text[at] == ',') { at++; Space(); }
        if (text[at] != last) return false;
        at++;
        return true;
    }

    private void Expect(char c)
    {
        Space();
        if (text[at] != c) throw new FormatException("expected " + c + " at " + at);
        at++;
    }

    private void Space() { while (at < text.Length && char.IsWhiteSpace(text[at])) at++; }
}
