"""A PSD or PSB as a list of blocks: read within limits, written back byte for byte.

Holds the bounded reader, the container (header, resources, layer records, tagged blocks, merged image),
the channel codecs and the block-level diff. Bytes in, verified object out: no files, no processes. Must
never interpret more than the structure needs, and never drop or reorder a block that it doesn't know.
"""
