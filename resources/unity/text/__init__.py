"""The Unity text engine: a file is bytes plus spans, an edit a list of splices, nothing is ever serialised.

Reads what Unity writes with text serialisation (scenes, prefabs, assets, ``.meta``, project settings), finds
a value by its property path, and changes exactly the bytes of that value in the file's own style.
Stands alone: imports nothing else of the project and no library. Never guesses: an unclear path is an error.
"""

from resources.unity.text.edits import Splice, apply, set_value
from resources.unity.text.errors import TextFault
from resources.unity.text.file import UnityFile
from resources.unity.text.lists import insert_item, move_item, remove_item, repeat_item
from resources.unity.text.references import Reference, scan_references, scan_rows

__all__ = [
    "Reference",
    "Splice",
    "TextFault",
    "UnityFile",
    "apply",
    "insert_item",
    "move_item",
    "remove_item",
    "repeat_item",
    "scan_references",
    "scan_rows",
    "set_value",
]
