"""One module per command or group of commands; ``register(app)`` in each adds it."""
