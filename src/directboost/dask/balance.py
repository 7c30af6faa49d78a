"""Where shards go so that no worker has more to do than others."""

from collections.abc import Mapping, Sequence


def moves(holders: Sequence[str], threads: Mapping[str, int]) -> dict[int, str]:
    """Return which shards should go to which worker.

    Parameters
    ----------
    holders : sequence of str
        The worker of every shard; shards are about equally large.
    threads : mapping of str to int
        The threads of every worker.

    Returns
    -------
    dict of int to str
        As few as possible: a shard goes only where that lowers the load of the busiest worker.
    """
    held: dict[str, list[int]] = {worker: [] for worker in threads}
    for shard, worker in enumerate(holders):
        held.setdefault(worker, []).append(shard)
    moved: dict[int, str] = {}
    while True:
        busiest = max(threads, key=lambda w: (len(held[w]) / threads[w], w))
        idlest = min(threads, key=lambda w: ((len(held[w]) + 1) / threads[w], w))
        if (len(held[idlest]) + 1) / threads[idlest] >= len(held[busiest]) / threads[busiest]:
            return moved
        shard = held[busiest].pop()
        held[idlest].append(shard)
        moved[shard] = idlest
