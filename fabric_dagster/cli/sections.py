"""``fabric --help`` in sections: what one begins with stands first, not what begins with an A."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer.core import TyperGroup

if TYPE_CHECKING:
    import click

SECTIONS = {
    "Begin": ("demo", "init", "dev", "doctor"),
    "Run tickets": ("run", "runs", "show", "approve", "retake", "reconcile", "cancel", "stop", "pictures"),
    "Write workflows": ("pack", "graph", "ticket", "schema"),
    "Govern them": (
        *("qualify", "validator", "certify", "publish", "commission", "suspend", "resume", "revoke"),
        *("lifecycle", "keys"),
    ),
    "By hand": ("photoshop", "unity"),
    "Prove and measure": ("spine", "artifacts", "bench"),
}
OTHERS = "More"


class Sections(TyperGroup):
    """The program's commands, listed by section; one that no section names stands last."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order of the help."""
        known = [name for names in SECTIONS.values() for name in names]
        found = super().list_commands(ctx)
        return [*(name for name in known if name in found), *sorted(set(found) - set(known))]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section's commands with the first words of their help."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        shown = {name: command for name, command in commands.items() if command and not command.hidden}
        named = {name for names in SECTIONS.values() for name in names}
        room = formatter.width - 6 - max(map(len, shown))
        for title, names in {**SECTIONS, OTHERS: tuple(n for n in shown if n not in named)}.items():
            rows = [(name, shown[name].get_short_help_str(room)) for name in names if name in shown]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
