"""What the validator's program may take of the machine.

A hostile picture must not take the machine down: on POSIX the address space is limited, so that an
allocation fails inside the check that asked for it. Windows has no such limit for a running process; there
the limits on pixels and bytes before decoding stand alone.
"""

from __future__ import annotations

import os

#: Address space in bytes: libraries map about 1 GiB of it before the first picture.
MEMORY = 6 << 30


def limit_memory(size: int = MEMORY) -> bool:
    """Lower the address-space limit of this process to ``size`` bytes; whether the system has one."""
    if os.name == "nt":
        return False
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        size = min(size, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (size, hard))
    except (ValueError, OSError):
        return False  # macOS refuses it on some versions
    return True
