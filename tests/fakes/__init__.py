"""Doubles of the outside world for tests: in memory, stateful, and able to misbehave on request.

They keep every rule of the port that they stand for, and look themselves whether the law keeps its own: an
effect that should not have been reached fails the test there and then. They never stand in for a kernel, a
reader or a validator, which are tested on real files.
"""
