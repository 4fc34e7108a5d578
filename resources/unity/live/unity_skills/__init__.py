"""Unity-Skills, pinned: its reviewed operations tried without effect, and an inert candidate as the outcome.

Holds ``record.yaml`` and its reader, the package's identity on the disk, and the qualification adapter. Must
never execute a skill, use Bypass mode, pass code, or call anything that the record does not list; a candidate
grants nothing and registers no handler.
"""
