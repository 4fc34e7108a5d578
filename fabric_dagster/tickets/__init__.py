"""From a Jira issue's JSON to one typed ticket (design/TICKET.md).

Reads hostile bytes within limits, finds the one fenced block, and checks every value and file that it
names; reports all faults at once with key, line and value. Prose around the block has no authority here.
Never writes, never asks a network, never guesses what an editor's typography meant.
"""

from fabric_dagster.tickets.files import TicketFiles
from fabric_dagster.tickets.issue import Issue, read_issue
from fabric_dagster.tickets.parse import check_inputs, named_graph, parse_ticket, unknown_graph

__all__ = [
    "Issue",
    "TicketFiles",
    "check_inputs",
    "named_graph",
    "parse_ticket",
    "read_issue",
    "unknown_graph",
]
