"""A Unity-Skills server on loopback, as its sources describe it, that can lie, reload and move ports."""

from __future__ import annotations

import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class FakeSkills:
    """``behave`` is a set of words that its methods look for."""

    def __init__(self, project, registry):
        self.project, self.registry = project, registry
        self.behave, self.asked, self.mode = set(), [], "auto"
        self.instance = "Game_1a2b3c4d"
        self.audit = project / "Library/UnitySkillsAudit.jsonl"
        self.audit.parent.mkdir(exist_ok=True)
        self.log("mode_changed", mode="auto")
        self.server = None
        self.move()

    def log(self, kind, **data):
        """Append to the audit file."""
        with self.audit.open("a", encoding="utf-8") as file:
            file.write(
                json.dumps({"ts": f"2026-01-01T00:00:0{len(self.asked) % 10}.000Z", "type": kind, **data})
                + "\n"
            )

    def move(self):
        """Listen elsewhere and register that."""
        self.close()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                fake.get(self)

            def do_POST(self):
                fake.post(self)

            def log_message(self, *_words):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.register()

    def register(self, **changes):
        """Write the registry."""
        entry = {
            "id": self.instance, "name": "Game", "path": str(self.project), "port": self.server.server_port,
            "pid": os.getpid(), "last_active": int(time.time()), **changes,
        }  # fmt: skip
        self.registry.write_text(json.dumps({self.project.as_posix(): entry}), encoding="utf-8")

    def close(self):
        """Stop."""
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()

    def answer(self, handler, document, code=200):
        """Reply as the server does."""
        data = json.dumps(document).encode()
        handler.send_response(code)
        handler.send_header("Content-Length", str(len(data)))
        handler.send_header("X-Request-Id", "nonsense" if "no_request_id" in self.behave else "req_0000002A")
        agent = "somebody-else" if "other_agent" in self.behave else handler.headers.get("X-Agent-Id", "")
        handler.send_header("X-Agent-Id", agent)
        handler.end_headers()
        handler.wfile.write(data)

    def get(self, handler):
        """Only /health is played."""
        self.asked.append(handler.path)
        mode = "bypass" if "bypass" in self.behave else self.mode
        if "bypass_later" in self.behave and sum("/health" in path for path in self.asked) > 1:
            mode = "bypass"
        self.answer(
            handler,
            {
                "status": "ok", "service": "UnitySkills", "currentMode": mode,
                "version": "2.6.2" if "newer" in self.behave else "2.4.2",
                "instanceId": "Other_9" if "other_instance" in self.behave else self.instance,
                "workflowRecoveryMode": "recovery" in self.behave,
            },
        )  # fmt: skip

    def post(self, handler):
        """A dry run, whatever the fake makes of it."""
        self.asked.append(handler.path)
        parts = urlsplit(handler.path)
        assert ["dryRun"] == parse_qs(parts.query)["mode"]
        args = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        if "moves" in self.behave:
            self.behave.discard("moves")
            handler.close_connection = True
            threading.Thread(target=self.move).start()
            return
        if "executes" in self.behave:
            self.log("call", skill="asset_move", result="allowed", mode="auto")
        if "writes" in self.behave:
            (self.project / "Assets/New.asset").write_bytes(b"%YAML 1.1\n")
        if "refuses" in self.behave:
            self.answer(handler, {"status": "error", "errorCode": "COMPILING", "error": "compiling"}, 503)
            return
        name = parts.path.rsplit("/", 1)[-1]
        reads = "_get_" in name
        risk = {"asset_move": "medium"}.get(name, "low")
        skill = {
            "name": name, "operation": ["Query"] if reads else ["Modify"], "readOnly": reads,
            "riskLevel": "high" if "other_risk" in self.behave else risk, "mayTriggerReload": False,
            "mayEnterPlayMode": False, "tracksWorkflow": name != "texture_set_settings" and not reads,
        }  # fmt: skip
        document = {
            "status": "success" if "success" in self.behave else "dryRun",
            "valid": "invalid" not in self.behave,
            "skill": skill, "validation": {"semanticErrors": None}, "note": "No execution performed",
            "steps": [{"do": name, "with": args}] if name == "asset_move" else None,
            "changes": {"scale": 0.5} if name == "asset_move" else None,
        }  # fmt: skip
        self.answer(handler, document)
