"""The line: a compiled Skill Graph as Dagster assets, checks and source assets.

Turns a ``CompiledGraph`` into definitions and knows nothing else: every step asks the supervisor, which
decides from the spine what may happen. Never decides, never writes to an application, never imports a
provider's engine.
"""
