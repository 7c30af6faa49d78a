"""What the kernels work on, as plain records of arrays."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass

from ..arrays import Array, Bools, Ints, Scores


@dataclass(frozen=True)
class PassRows:
    """Rows of a fused pass: labels (pairwise) or targets (one-vs-all), and weights.

    Attributes
    ----------
    loss : int
        Number of the loss, `Loss.native`.
    k : int
    labels : (m,) int32 array or None
    targets : (m, k) int8 array of +1 and -1, or None
    c : (m,) array in the precision of the scores
    """

    loss: int
    k: int
    labels: Ints | None
    targets: Ints | None
    c: Scores


@dataclass(frozen=True)
class LossPass:
    """Result of a fused pass: the loss and, in the precision of F, what was asked for."""

    value: float
    U: Scores | None
    A: Scores | None
    C: Scores | None


@dataclass(frozen=True)
class Sweeps:
    """How hard a block is solved.

    `full` sweeps over all jumps, each followed by `segment` sweeps over the non-zero ones; a
    block counts as solved when a sweep moves less than `tolerance` of the first.
    """

    full: int
    segment: int
    tolerance: float


@dataclass(frozen=True)
class BlockWork:
    """The working set of block descent.

    Attributes
    ----------
    codes : (features, m) array of codes
    features, n_bins : (n,) int32 arrays
    missing : (n,) bool array
    nu : (n,) array
        nu times the cost of each feature.
    jumps : list of n arrays (n_jumps, k)
        Changed in place.
    p : float
    damping : float
        Factor on the diagonal curvature.
    slack : float
        Relative rise of the objective that still counts as none.
    sweeps : Sweeps
    """

    codes: Ints
    features: Ints
    n_bins: Ints
    missing: Bools
    nu: Array
    jumps: list[Array]
    p: float
    damping: float
    slack: float
    sweeps: Sweeps


def ranges(total: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut 0..total into pieces of a fixed size, whatever the number of threads."""
    for begin in range(0, total, size):
        yield begin, min(begin + size, total)


def spread(
    pool: Executor | None, task: Callable[[int, int], float], pieces: list[tuple[int, int]]
) -> list[float]:
    """Run a task on every piece, on the pool where there is one, and keep the order."""
    if pool is None or len(pieces) < 2:
        return [task(begin, end) for begin, end in pieces]
    return list(pool.map(lambda piece: task(*piece), pieces))
