"""The callback protocol of scikit-learn, in versions that have one."""

import numpy as np
import pytest

from directboost import DirectBoostClassifier, Status
from tests.conftest import make_blobs

protocol = pytest.importorskip(
    "sklearn.callback", reason="this scikit-learn has no callbacks", exc_type=ImportError
)
DATA = make_blobs(3, m=40)


class Recorder:
    """A FitCallback that records every call and stops after `stop_after` rounds."""

    def __init__(self, stop_after=None):
        self.calls = []
        self.stop_after = stop_after

    def setup(self, estimator, context):
        self.calls.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.calls.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context, **values):
        self.calls.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, **values):
        self.calls.append(("end", context.task_name))
        return self.stop_after is not None and self.count("end", "round") >= self.stop_after

    def count(self, what, task):
        """Return the number of calls `what` for a task."""
        return self.calls.count((what, task))


def test_the_recorder_is_a_fit_callback():
    """The protocol of scikit-learn accepts the recorder of these tests."""
    assert isinstance(Recorder(), protocol.FitCallback)


def test_every_round_is_a_task():
    """set_callbacks: the fit begins and ends once, every round begins and ends once."""
    seen = Recorder()
    model = DirectBoostClassifier(nu=0.01).set_callbacks(seen).fit(DATA.X, DATA.y)
    rounds = len(model.history_)
    assert rounds > 2
    assert seen.calls[:2] == [("setup", "fit"), ("begin", "fit")]
    assert seen.calls[-2:] == [("end", "fit"), ("teardown", "fit")]
    assert seen.calls[2:-2] == [("begin", "round"), ("end", "round")] * rounds


def test_callbacks_do_not_change_the_model():
    """A fit with callbacks gives the same coefficients."""
    watched = DirectBoostClassifier().set_callbacks(Recorder()).fit(DATA.X, DATA.y)
    alone = DirectBoostClassifier().fit(DATA.X, DATA.y)
    np.testing.assert_array_equal(watched.weights_, alone.weights_)


def test_a_callback_can_stop_the_fit():
    """A true return value after a round stops the fit; the model is kept, with a warning."""
    seen = Recorder(stop_after=2)
    model = DirectBoostClassifier(nu=0.001, tol=1e-6).set_callbacks(seen)
    with pytest.warns(UserWarning, match="stopped"):
        model.fit(DATA.X, DATA.y)
    assert model.status_ is Status.STOPPED
    assert seen.count("end", "round") == len(model.history_) == 2
    assert seen.calls[-2:] == [("end", "fit"), ("teardown", "fit")]
    model.predict(DATA.X)


def test_teardown_is_called_after_an_error():
    """A fit that raises an error calls teardown."""
    seen = Recorder()

    def fail(record):
        raise RuntimeError("no")

    model = DirectBoostClassifier(callbacks=fail).set_callbacks(seen)
    with pytest.raises(RuntimeError, match="no"):
        model.fit(DATA.X, DATA.y)
    assert seen.count("setup", "fit") == seen.count("teardown", "fit") == 1


def test_the_progress_bar_of_scikit_learn_runs():
    """scikit-learn's ProgressBar works during a fit."""
    pytest.importorskip("rich", reason="the progress bar of scikit-learn needs rich")
    model = DirectBoostClassifier().set_callbacks(protocol.ProgressBar()).fit(DATA.X, DATA.y)
    assert model.certificate_.converged
