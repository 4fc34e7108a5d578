"""``fabric.ticket_brief@1``: a control, not a qualifying capability."""

from fabric_dagster.capabilities.base import Arguments, Capability


class TicketBrief(Arguments):
    """Takes nothing: the ticket is the run's own."""


CAPABILITY = Capability(
    id="fabric.ticket_brief@1",
    application="fabric",
    summary="Lay down the source facts of the ticket: its typed inputs and the digests of its files.",
    arguments=TicketBrief,
    outputs={"brief": "brief"},
    postconditions=("the ticket's digest equals the run's", "every file's bytes have their digest"),
)
