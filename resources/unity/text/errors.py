"""The one error of this room. The caller maps it to its own kind of error; the parts carry over."""

from __future__ import annotations


class TextFault(Exception):
    """What is wrong with a Unity text file, or with a path or value given for it.

    ``code`` is stable, ``what`` a sentence, ``where`` a line or a property path, ``mend`` what to do,
    ``value`` the offending text, ``candidates`` what would have been possible.
    """

    def __init__(
        self,
        code: str,
        what: str,
        *,
        where: str = "",
        mend: str = "",
        value: str | None = None,
        candidates: tuple[str, ...] = (),
    ) -> None:
        super().__init__(f"{where}: {what}" if where else what)
        self.code = code
        self.what = what
        self.where = where
        self.mend = mend
        self.value = value
        self.candidates = candidates
