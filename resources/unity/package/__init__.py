"""The UPM package ``com.forge.fabric-toolsmith``: what an editor is lent for one governed operation.

Holds C# for the editor alone: a mailbox, a closed table of typed handlers, batch entry points. Its tree is
named by its digest (``package.py`` of the room ``live``). Must never evaluate text, look a type or a
method up by a name from the wire, open a socket, or write an asset: it imports, looks and reports.
"""
