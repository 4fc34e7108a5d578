"""The command line ``fabric``: one module per command group, registered by being in ``commands/``.

Says what the rooms decide, for people and with ``--json`` for programs, and turns errors into one line and
an exit code. It may import every room; nothing imports it. It decides nothing by itself.
"""
