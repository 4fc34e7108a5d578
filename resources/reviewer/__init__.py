"""The validator's desk: reviews of candidate graphs, in its own home, with its own key, log and trust root.

``desk.py`` is what its program does, ``client.py`` how others ask for it; ``python -m resources.reviewer``
is the program. Must never run inside a process that holds another identity's key, take a result from whoever
asks, or sign what its own log does not hold.
"""
