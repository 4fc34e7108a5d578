"""What a look of ``fabric doctor`` finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    state: State
    what: str
    mend: str = ""

    def as_dict(self) -> dict[str, str]:
        """The JSON form."""
        parts = {"name": self.name, "state": self.state, "what": self.what, "mend": self.mend}
        return {key: text for key, text in parts.items() if text}
