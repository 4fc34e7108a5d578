"""The rules of a valid graph, one module a subject; every rule is a function of a ``Case`` to faults.

A rule reports everything that it finds and assumes nothing about the other rules: it stays quiet where its
own question has no meaning because something else is broken. A rule never repairs and never decides
authority. ``RULES`` of each module is its table; ``fabric_dagster.graphs.validate`` runs them all.
"""
