"""What the law asks of an artifact store: bytes by digest, verified every time they are read.

``ports.py`` is the port; ``resources/artifacts`` implements it. Must never hold bytes, paths or I/O itself.
"""
