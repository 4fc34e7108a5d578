"""One log's statements, built once: building them costs more than running them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, insert, select

from resources.ledger.schema import EVENTS

if TYPE_CHECKING:
    from sqlalchemy import Select

INSERT = insert(EVENTS)


class Queries:
    """The statements of the log (``workspace``, ``branch``)."""

    def __init__(self, workspace: str, branch: str) -> None:
        table = EVENTS.c
        self.here = (table.workspace == workspace, table.branch == branch)
        self.all: Select[Any] = select(EVENTS).where(*self.here)
        self.last = self.all.order_by(table.position.desc()).limit(1)
        self.by_keys = self.all.where(table.idempotency_key.in_(bindparam("keys", expanding=True)))
        self.digest_at = select(table.digest).where(*self.here, table.position == bindparam("at"))
        self.version = (
            select(table.version)
            .where(*self.here, table.stream == bindparam("of"))
            .order_by(table.version.desc())
            .limit(1)
        )

        self.streams = (
            select(table.stream)
            .distinct()
            .where(*self.here, table.stream >= bindparam("least"), table.stream < bindparam("most"))
            .order_by(table.stream)
        )
        self._pages: dict[tuple[bool, bool], Select[Any]] = {}

    def page(self, *, of_stream: bool, of_types: bool) -> Select[Any]:
        """Up to ``:most`` events after position ``:after``, of stream ``:of`` and ``:types`` where asked."""
        query = self._pages.get((of_stream, of_types))
        if query is None:
            table = EVENTS.c
            query = self.all.where(table.position > bindparam("after"))
            if of_stream:
                # In the order of its versions, which is that of positions: the stream's own index serves it.
                query = query.where(table.stream == bindparam("of"), table.version > bindparam("version"))
            query = query.where(table.type.in_(bindparam("types", expanding=True))) if of_types else query
            query = query.order_by(table.version if of_stream else table.position).limit(bindparam("most"))
            self._pages[of_stream, of_types] = query
        return query
