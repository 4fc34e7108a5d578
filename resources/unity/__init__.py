"""Unity hands: edit a real project's text assets, headless, and read it back.

``text/`` is the byte engine, ``importers/`` knows ``.meta`` blocks, ``project.py`` indexes a tree,
``operations/`` execute capabilities on a staged copy, ``provider.py`` is the port.
Never writes outside a journaled transaction, never runs code from a project, never trusts a path of a plan.
"""
