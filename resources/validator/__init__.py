"""The way to the independent validator: starts its program, asks it, brings back signed verdicts.

Holds no key and judges nothing: the key lies in the validator's own home and only its program reads it.
A program that died is started again once; one that cannot answer is a typed failure, never a pass.
"""
