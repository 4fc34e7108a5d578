"""The graph kernel: parse, validate, seal, partition, compile, bind.

Pure functions: bytes and declarations in, verified frozen objects out. The order of nodes, keys and edges
in a document carries no meaning; everything else in it does, and every fault is reported at once with
file, line and value. Never opens a file, never asks a clock, never touches an application, and never
decides authority: a sealed graph is a candidate and nothing more.
"""
