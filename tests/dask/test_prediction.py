"""Predictions for Dask collections: lazy, by partition, and equal to those of the local model."""

import pickle
import subprocess
import sys

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score

from directboost import DirectBoostClassifier
from directboost.dask import DaskDirectBoostClassifier
from tests.dask.dask_data import (
    ENDS,
    FRAME,
    GAPS,
    LABELS,
    WEIGHTS,
    WORDS,
    fit_dask,
    frame_parts,
    in_parts,
)

pytestmark = pytest.mark.timeout(60)
METHODS = ["predict", "predict_proba", "predict_log_proba", "decision_function"]
every_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(scope="module", params=[2, 4], ids="k={}".format)
def labels(request):
    """Return words for two classes and for four."""
    return WORDS if request.param == 4 else np.where(LABELS > 1, "yes", "no")


@pytest.fixture(scope="module")
def of_arrays(labels):
    """Return a model of arrays."""
    return fit_dask(GAPS, labels)


@pytest.fixture(scope="module")
def of_frames(labels):
    """Return a model of frames with categories."""
    return DaskDirectBoostClassifier(nu=0.03).fit(frame_parts(FRAME), in_parts(labels))


def refuse(*args, **kwargs):
    raise AssertionError("something was computed")


def lazy(model, method, X):
    """Call a method of the model; it must not compute anything."""
    with dask.config.set(scheduler=refuse):
        return getattr(model, method)(X)


@every_method
def test_arrays(of_arrays, method):
    found = lazy(of_arrays, method, in_parts(GAPS))
    expected = getattr(of_arrays.to_local(), method)(GAPS)
    assert isinstance(found, da.Array)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    assert found.chunks[0] == tuple(np.diff(ENDS))
    computed = found.compute()
    assert computed.dtype == found.dtype
    np.testing.assert_array_equal(computed, expected)


@every_method
def test_arrays_of_unknown_lengths(of_arrays, method):
    X = dd.from_dask_array(in_parts(GAPS)).to_dask_array()
    assert np.isnan(X.shape[0])
    found = lazy(of_arrays, method, X).compute()
    np.testing.assert_array_equal(found, getattr(of_arrays.to_local(), method)(GAPS))


@every_method
def test_arrays_cut_by_columns(of_arrays, method):
    found = lazy(of_arrays, method, da.from_array(GAPS, chunks=(90, 3)))
    expected = getattr(of_arrays.to_local(), method)(GAPS)
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.compute(), expected)


@every_method
def test_frames(of_frames, method):
    found = lazy(of_frames, method, frame_parts(FRAME))
    expected = getattr(of_frames.to_local(), method)(FRAME)
    computed = found.compute()
    assert found.npartitions == len(ENDS) - 1
    assert type(computed) is type(found._meta)
    pd.testing.assert_index_equal(computed.index, FRAME.index)
    np.testing.assert_array_equal(computed.to_numpy(), expected)
    if expected.ndim == 2:
        assert computed.columns.tolist() == found.columns.tolist() == of_frames.classes_.tolist()
        assert found.dtypes.tolist() == computed.dtypes.tolist()
    else:
        assert found.dtype == computed.dtype


@every_method
def test_rows_in_memory(of_frames, method):
    found = getattr(of_frames, method)(FRAME)
    np.testing.assert_array_equal(found, getattr(of_frames.to_local(), method)(FRAME))


@every_method
def test_partitions_are_predicted_alone(of_frames, method):
    """An empty partition gives an empty result of the right kind."""
    found = lazy(of_frames, method, frame_parts(FRAME))
    empty, single = (found.get_partition(q).compute() for q in (1, 3))
    assert len(empty) == 0
    assert type(empty) is type(found._meta)
    assert single.index.tolist() == [FRAME.index[ENDS[3]]]
    if empty.ndim == 2:
        assert empty.columns.tolist() == of_frames.classes_.tolist()


@every_method
def test_an_index_of_numbers(of_frames, method):
    frame = FRAME.set_axis(np.linspace(-2.0, 2.0, len(FRAME)))
    found = lazy(of_frames, method, frame_parts(frame))
    pd.testing.assert_index_equal(found.compute().index, frame.index)
    assert len(found.get_partition(1).compute()) == 0


def test_empty_blocks_of_arrays(of_arrays):
    found = of_arrays.predict_proba(in_parts(GAPS)).blocks[1].compute()
    assert found.shape == (0, of_arrays.classes_.size)


def test_score(of_arrays, labels):
    X, y, weight = in_parts(GAPS), in_parts(labels), in_parts(WEIGHTS)
    predicted = of_arrays.to_local().predict(GAPS)
    assert of_arrays.score(X, y) == pytest.approx(accuracy_score(labels, predicted))
    expected = accuracy_score(labels, predicted, sample_weight=WEIGHTS)
    assert of_arrays.score(X, y, weight) == pytest.approx(expected)
    assert of_arrays.score(GAPS, labels, WEIGHTS) == pytest.approx(expected)


def test_score_of_frames(of_frames, labels):
    y = pd.DataFrame({"label": labels}, index=FRAME.index)
    expected = accuracy_score(labels, of_frames.to_local().predict(FRAME))
    assert of_frames.score(frame_parts(FRAME), frame_parts(y)) == pytest.approx(expected)


def test_the_local_model(of_frames):
    local = of_frames.to_local()
    assert type(local) is DirectBoostClassifier
    plain = DirectBoostClassifier().get_params().keys()
    params = of_frames.get_params()
    assert local.get_params() == {name: params[name] for name in plain}
    assert {"client", "task_timeout", "cluster_timeout"} <= params.keys() - plain
    assert not vars(local).keys() & (params.keys() - plain)
    local.fit(FRAME, LABELS)
    assert of_frames.classes_.dtype.kind in "OU"


WITHOUT_DASK = """
import pickle, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("dask", "distributed"):
            raise ImportError(name)

sys.meta_path.insert(0, Refuse())
models, X = pickle.load(sys.stdin.buffer)
found = [(model.predict(X), model.predict_proba(X), model.certificate_) for model in models]
assert "dask" not in sys.modules
sys.stdout.buffer.write(pickle.dumps(found))
"""


def test_the_local_model_works_without_dask():
    """A model of two classes and one of four, in one process: it takes a second to start."""
    models = [fit_dask(GAPS, y) for y in (LABELS > 1, WORDS)]
    local = [model.to_local() for model in models]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DASK],
        input=pickle.dumps((local, GAPS)), capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    for model, one, found in zip(models, local, pickle.loads(done.stdout), strict=True):
        predicted, probabilities, certificate = found
        np.testing.assert_array_equal(predicted, one.predict(GAPS))
        np.testing.assert_array_equal(probabilities, one.predict_proba(GAPS))
        assert certificate == model.certificate_
