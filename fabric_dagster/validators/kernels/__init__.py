"""Pure readers and measures that validators share: bytes in, facts out.

PNG structure, pictures and their differences, PSD documents, the expectation picture's own simple
renderer, the project's tree. No validator's rule is decided here and nothing is ever written.
Their sources are part of every validator's digest: a changed measure is a changed validator.
"""
