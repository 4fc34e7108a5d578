"""Makes the generated part of the documentation from the code: pictures, diagrams, references.

Each module makes texts by name; ``docs/generate.py`` writes or compares them. Equal code makes equal bytes:
nothing here depends on the clock, the terminal or the order of a set.
"""
