"""The registry of exact, typed operations.

One module per capability, registered by being here. Holds declarations only: argument models, effects,
pre- and postconditions, failure codes. Never code that touches an application.
"""
