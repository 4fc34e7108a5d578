"""What a ``.meta`` says: the importer blocks of each Unity version, sprite ids, certified profiles applied.

Produces and patches bytes; reads and writes no file. A new block is complete, in the project's own shape; an
existing one is patched in place: GUID, slices and whatever a profile does not name keep their bytes.
"""
