"""Room for arrays of rows that a question needs and forgets.

Workers of Dask give memory back to the system at once, and to get it again costs more than some of
the passes over it: so every thread keeps its room for the next shard.
"""

import threading
from typing import Any

import numpy as np

from ..arrays import Scores

_rooms = threading.local()


def give_back() -> None:
    """Let go of the room of this thread."""
    _rooms.__dict__.clear()


def room(name: str, like: Scores) -> Scores:
    """Return an array of the shape and precision of another, with whatever was left in it.

    The next call with that name in the same thread may return the same memory.
    """
    held: dict[str, Any] = _rooms.__dict__
    found = held.get(name)
    if found is None or found.nbytes < like.nbytes:
        found = held[name] = np.empty(like.nbytes, dtype=np.uint8)
    return np.asarray(found[: like.nbytes].view(like.dtype).reshape(like.shape))
