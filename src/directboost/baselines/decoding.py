"""From the scores of bits to the scores of classes."""

import numpy as np
from scipy.special import logsumexp

from ..arrays import Array
from .search import signs

_FAR = 300.0  # of the scores: exp(-2 * 300) is still a number


def loss_scores(f: Array, M: Array) -> Array:
    """Return F_c = -ln sum_j exp(-M_cj f_j) from scores f (m, L) and the code M (k, L), (m, k).

    A bit has two exponentials, whatever the number of classes; only where one of them would leave
    the range of numbers, every class takes its own.
    """
    near = np.clip(f, -_FAR, _FAR)
    top = np.abs(near).max(axis=1, keepdims=True)
    sums = np.exp(-near - top) @ (M.T > 0.0) + np.exp(near - top) @ (M.T < 0.0)
    F = -top - np.log(sums)
    far = np.flatnonzero((near != f).any(axis=1))
    if far.size:
        F[far] = np.stack([-logsumexp(-word * f[far], axis=1) for word in M], axis=1)
    return np.asarray(F)


def hamming_scores(f: Array, M: Array) -> Array:
    """Return F_c = sum_j M_cj sign(f_j), with sign(0) = +1, (m, k)."""
    return np.asarray(signs(f) @ M.T)


def linear_scores(f: Array, M: Array) -> Array:
    """Return F_c = sum_j M_cj f_j, (m, k)."""
    return np.asarray(f @ M.T)


DECODINGS = {"loss": loss_scores, "hamming": hamming_scores, "linear": linear_scores}
