"""Blind validators: they judge the actual bytes and have no way to the specialist's opinion of them.

``base.py`` says what one is, ``checks/`` holds one a module (packs add theirs), ``kernels/`` the pure
readers and measures that they share, ``program.py`` the separate program that runs and signs.
Never imports a Photoshop or Unity writer, never repairs anything, never skips a check: what crashes,
overruns or cannot be judged has failed.
"""
