"""What Alembic runs around the steps: they get the connection that the ledger opened, in its transaction."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    # On SQLite too: the ledger begins its transactions itself, and SQLite can roll tables back.
    transactional_ddl=True,
)
context.run_migrations()
