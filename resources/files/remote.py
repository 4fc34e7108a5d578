"""Opens what a URL of ``fsspec`` names: one place where a missing driver is said in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.errors import UsageFault

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem  # type: ignore[import-untyped]


def file_system(url: str) -> tuple[AbstractFileSystem, str]:
    """The file system and the path in it; ``UsageFault`` (``storage.no_driver``) for what is not served."""
    import fsspec

    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as fault:
        scheme = url.partition("://")[0]
        raise UsageFault(
            "storage.no_driver",
            f"nothing here reads and writes {scheme}:// ({fault})",
            mend="install the driver that fsspec names, or use a folder",
        ) from fault
    return system, str(path)
