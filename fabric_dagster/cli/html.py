"""The report of a run as one HTML page with its pictures inside, for people who would rather look."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING, Any

from fabric_dagster.cli.report import side_name
from fabric_dagster.errors import FabricError
from fabric_dagster.supervisor.machine import WHOLE_RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from fabric_dagster.supervisor.records import RunRecord
    from resources.supervision.assembly import Hall

STYLE = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.5rem; margin-bottom: .25rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top;
  padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
code, pre { font: 12.5px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { border: 1px solid var(--line); border-radius: 6px; padding: .75rem; overflow-x: auto;
  white-space: pre; }
.add { color: #1a7f37; } .del { color: #cf222e; }
.ok { color: #1a7f37; font-weight: 600; } .bad { color: #cf222e; font-weight: 600; }
td.id { white-space: nowrap; } summary { opacity: .75; cursor: pointer; }
figure { display: inline-block; margin: 0 1.5rem 1rem 0; } figcaption { font-size: 12.5px; opacity: .75; }
img { max-width: 100%; border-radius: 6px; border: 1px solid var(--line);
  background: repeating-conic-gradient(#8883 0 25%, transparent 0 50%) 0 0 / 16px 16px; }
"""


def write_html(hall: Hall, run: RunRecord, document: dict[str, Any]) -> Path:
    """Write ``report.html`` into the run's delivery folder; the page needs no other file."""
    from resources.files.durable import write_durably

    folder = hall.home.deliveries / run.key / run.run[7:19]
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "report.html"
    write_durably(page, _page(hall, document).encode())
    return page


def _page(hall: Hall, document: dict[str, Any]) -> str:
    run, ticket = document["run"], document["ticket"]
    word = "ok" if run["state"] == "completed" else "bad"
    parts = [
        f"<h1>{escape(ticket['key'])}: {escape(ticket['summary'])}</h1>",
        f"<p><span class={word}>{escape(run['state'])}</span> {escape(run['reference'])}</p>",
        f"<p>{run['events']} signed events, run <code>{run['run']}</code></p>",
        *(f"<p class=bad>{escape(line)}</p>" for line in run.get("unresolved", ())),
        _pictures(hall, document),
        "<h2>Decision</h2>",
        _decision(document["decision"]),
        "<h2>What ran</h2>",
        _table(
            ("partition", "specialist", "attempt", "state", "operations"),
            (
                [
                    p["partition"],
                    p["specialist"],
                    p["attempt"],
                    p["state"],
                    ", ".join(item["capability"] for item in p["operations"]),
                ]
                for p in document["partitions"]
            ),
        ),
        *(_verdict(hall, verdict) for verdict in document["verdicts"]),
        *_approvals(run.get("approvals", ())),
        "<h2>Files</h2>",
        _table(
            ("application", "file"), ([app, f] for app, files in document["files"].items() for f in files)
        ),
        *(
            f"<h2>Exact diff of {escape(diff['partition'])}</h2><pre>{_diff(diff['text'])}</pre>"
            for diff in document["diffs"]
        ),
        "<h2>Signed events</h2>",
        _table(
            ("position", "event", "signed by", "at", "digest"),
            ([e["position"], e["type"], e["actor"], e["at"], e["digest"]] for e in document["events"]),
        ),
    ]
    title = escape(f"{ticket['key']} {run['state']}")
    body = "\n".join(parts)
    head = f"<meta charset=utf-8><title>{title}</title><style>{STYLE}</style>"
    return f"<!doctype html>\n<html lang=en>\n<head>{head}</head>\n<body>\n{body}\n</body>\n</html>\n"


def _pictures(hall: Hall, document: dict[str, Any]) -> str:
    found = [
        (f"{artifact.get('node', '')}: {artifact['name']}", artifact["digest"])
        for part in document["partitions"]
        for artifact in part["artifacts"]
        if artifact["kind"] == "png"
    ]
    return "".join(_figure(hall, title, digest) for title, digest in found)


def _figure(hall: Hall, title: str, digest: str) -> str:
    try:
        data = base64.b64encode(hall.services.artifacts.get(digest)).decode()
    except FabricError:
        return f"<p class=bad>{escape(title)}: {digest} is not in the artifact store</p>"
    caption = f"<figcaption>{escape(title)}<br><code>{digest[:23]}</code></figcaption>"
    image = f"<img alt='{escape(title, quote=True)}' src='data:image/png;base64,{data}'>"
    return f"<figure>{image}{caption}</figure>"


def _decision(decision: dict[str, Any]) -> str:
    if not decision:
        return "<p>None was made.</p>"
    values = _table(("what", "value"), ([name, value] for name, value in decision["values"].items()))
    cited = "".join(
        f"<li>{escape(str(item.get('citation')))}: “{escape(str(item.get('quote')))}”</li>"
        for item in decision["evidence"]
    )
    return f"<p>Rule <code>{escape(decision['rule'])}</code></p>{values}<ul>{cited}</ul>"


def _approvals(approvals: Sequence[dict[str, str]]) -> list[str]:
    if not approvals:
        return []
    rows = (
        [item["side"], item["state"], item.get("by", ""), item.get("note", ""), item["picture"]]
        for item in approvals
    )
    return ["<h2>Visual approval</h2>", _table(("side", "decision", "by", "note", "picture"), rows)]


def _verdict(hall: Hall, verdict: dict[str, Any]) -> str:
    rows = []
    for check in verdict["checks"]:
        word = "passed" if check["passed"] else "failed"
        found = _table(
            ("where", "expected", "found"),
            ([item["where"], item["expected"], item["found"]] for item in check.get("findings", ())),
        )
        word_open = "" if check["passed"] else " open"
        count = len(check.get("findings", ()))
        found = f"<details{word_open}><summary>{count} looked at</summary>{found}</details>"
        rows.append(
            f"<tr><td class=id><code>{check['id']}</code></td>"
            f"<td class={'ok' if check['passed'] else 'bad'}>{word}</td>"
            f"<td>{escape(check['summary'])}{found}</td></tr>"
        )
    # The whole run's are those of its sides again.
    pictured = verdict["checks"] if verdict["side"] != WHOLE_RUN else []
    pictures = "".join(
        _figure(hall, f"{check['id']}: {title}", check["picture_digests"][file])
        for check in pictured
        for title, file in check.get("pictures", {}).items()
    )
    head = f"<h2>Blind checks on {escape(side_name(verdict['side']))}, signed by the validator</h2>"
    return f"{head}<table>{''.join(rows)}</table><p>{pictures}</p>"


def _table(heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    head = "".join(f"<th>{escape(item)}</th>" for item in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _diff(text: str) -> str:
    kinds = {"+": "add", "-": "del"}
    lines = (
        f"<span class={kinds[line[0]]}>{escape(line)}</span>" if line[:1] in kinds else escape(line)
        for line in text.splitlines()
    )
    return "\n".join(lines)
