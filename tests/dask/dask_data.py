"""Rows in memory and as Dask collections; local fits and fits on Dask."""

from itertools import pairwise

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

from directboost import DirectBoostClassifier
from directboost.dask import DaskDirectBoostClassifier

M, D, K = 300, 4, 4
ENDS = (0, 80, 80, 190, 191, 300)  # of partitions: one is empty, one has a single row

_RNG = np.random.default_rng(11)
LABELS = _RNG.integers(0, K, M)
X = (1.3 * _RNG.normal(size=(K, D))[LABELS] + _RNG.normal(size=(M, D))).round(1)
MANY = 1.3 * _RNG.normal(size=(K, D))[LABELS] + _RNG.normal(size=(M, D))
GAPS = X.copy()
GAPS[_RNG.random((M, D)) < 0.15] = np.nan
WEIGHTS = _RNG.integers(0, 4, M) / 2.0
WORDS = np.array(["pear", "apple", "fig", "lime"])[LABELS]
FRAME = pd.DataFrame(
    {
        "width": X[:, 0],
        "town": pd.Categorical(_RNG.choice(["Ulm", "Bonn", "Kiel"], M)),
        "gaps": GAPS[:, 2],
        "size": pd.Categorical(np.array(list("sml"))[LABELS % 3]),
    },
    index=np.arange(M) + 1000,
)


def in_parts(rows, ends=ENDS):
    """Return a Dask array whose blocks have those ends."""
    chunks = tuple(int(j - i) for i, j in pairwise(ends))
    return da.concatenate([da.from_array(rows[i:j], chunks=-1) for i, j in pairwise(ends)]).rechunk(
        (chunks, *((n,) for n in rows.shape[1:]))
    )


def frame_parts(rows, ends=ENDS):
    """Return a Dask frame or series whose partitions have those ends."""
    return dd.from_map(lambda ij: rows.iloc[slice(*ij)], list(pairwise(ends)), meta=rows.iloc[:0])


def fit_dask(X, y, weight=None, *, client=None, ends=ENDS, **choices):
    """Fit on Dask to partitions of rows in memory."""
    weight = None if weight is None else in_parts(weight, ends)
    model = DaskDirectBoostClassifier(client=client, **{"nu": 0.03, **choices})
    return model.fit(in_parts(X, ends), in_parts(y, ends), weight)


def fit_local(X, y, weight=None, **choices):
    """Fit the local estimator."""
    return DirectBoostClassifier(**{"nu": 0.03, **choices}).fit(X, y, weight)


def assert_same_optimum(far, near):
    """Check that two models fitted to a tolerance of 1e-8 have the same optimum."""
    ours, theirs = far.certificate_, near.certificate_
    assert ours.relative_gap <= 1e-6  # block descent alone may not get quite as far as 1e-8
    assert abs(ours.primal - theirs.primal) <= 1e-7
    assert ours.dictionary == theirs.dictionary
    assert far.n_learners_ > 0
    np.testing.assert_allclose([far.nu_, far.nu_max_], [near.nu_, near.nu_max_], rtol=1e-9)
    assert_overlap(far, near)


def assert_overlap(far, near):
    """Check that both intervals [dual, primal] can contain the same optimum."""
    ours, theirs = far.certificate_, near.certificate_
    assert ours.dual <= theirs.primal
    assert theirs.dual <= ours.primal


def assert_same_bits(one, other):
    """Check that two fits have the same model and certificate, to the bit."""
    assert one.learners_ == other.learners_
    np.testing.assert_array_equal(one.weights_, other.weights_)
    assert one.certificate_ == other.certificate_
    assert len(one.history_) == len(other.history_)
    for a, b in zip(one.history_, other.history_, strict=True):
        assert (a.primal, a.dual, a.max_price) == (b.primal, b.dual, b.max_price)
