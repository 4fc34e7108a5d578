"""The live Unity hands: a batch editor on a copy, or a running editor that is lent our package.

Holds the package's deployment and its restoration, the mailbox of a running editor, batch mode and its result
files, the MCP route, and the qualification of Unity-Skills. Must never send a mutation twice, believe an exit
code, a log or a reply, write a scene that an editor has open, or leave a manifest other than it was.
"""
