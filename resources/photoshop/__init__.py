"""The Photoshop hands: read, edit and export real PSD bytes, without Photoshop.

Holds the container reader and writer (``psd/``), the semantic tree, the operations, the worker process
that every untrusted file is parsed in, and the provider that the supervisor drives. Must never write a
source file, change a block that an operation did not name, import Dagster outside ``dagster.py``, or
guess where it cannot be right: what it can't reproduce it refuses by name.
"""
