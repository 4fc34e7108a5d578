"""Files, written safely: paths that cannot climb, durable writes, one journaled transaction.

Every provider commits through ``transaction.py``: all files or none, refused when anything changed
underneath, undone from a journal after a crash. Knows nothing of pictures, Unity or Photoshop.
Never follows a symlink, never writes outside the root it was given, never leaves a temporary file.
"""
