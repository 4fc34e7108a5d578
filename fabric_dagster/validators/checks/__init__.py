"""The built-in validators, one a module, each exporting ``VALIDATOR``.

Being here registers one (``fabric_dagster.validators.registry``). A module states in its docstring what
it looks at and which fault only it can see; it measures with ``kernels/`` and writes nothing.
"""
