"""Parameters that several estimators share have the same default, order and description."""

import inspect
import re

import pytest

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
    DirectBoostMultiLabelClassifierCV,
    baselines,
)
from directboost.baselines.base import Baseline
from directboost.dask import DaskDirectBoostClassifier

BASELINES = [getattr(baselines, name) for name in baselines.__all__]
#: Defaults of the parameters that baselines share, in the order of the constructors. The
#: parameters of the method itself stand between `n_rounds` and the others.
SHARED = {
    "n_rounds": 500,
    "learning_rate": 1.0,
    "max_bins": 255,
    "categorical_features": None,
    "n_jobs": None,
    "random_state": None,
}
#: Not every method has shrinkage, or is randomised.
OPTIONAL = {"learning_rate", "random_state"}
#: In the cross-validation, `max_learners` is one of the budgets, which come first.
OTHER_PLACE = {
    DirectBoostClassifierCV: {"max_learners"},
    DirectBoostMultiLabelClassifierCV: {"max_learners"},
}

each_baseline = pytest.mark.parametrize("estimator", BASELINES, ids=lambda e: e.__name__)


def parameters(estimator):
    """Return the parameters of the constructor by name."""
    found = dict(inspect.signature(estimator.__init__).parameters)
    del found["self"]
    return found


def entries(estimator):
    """Return the type and the description of the documented parameters by name."""
    section = re.search(r"\nParameters\n-+\n(.*?)\n\n", inspect.getdoc(estimator), re.DOTALL)[1]
    found = {}
    for entry in re.split(r"\n(?=\S)", section):
        first, *lines = entry.split("\n")
        name, kind = first.split(" : ")
        found[name] = kind, " ".join(line.strip() for line in lines)
    return found


@each_baseline
def test_baselines_agree_on_shared_parameters(estimator):
    own = parameters(estimator)
    shared = [name for name in SHARED if name in own]
    assert set(SHARED) - set(shared) <= OPTIONAL
    special = [name for name in own if name not in SHARED]
    assert list(own) == ["n_rounds", *special, *shared[1:]]
    assert {name: own[name].default for name in shared} == {name: SHARED[name] for name in shared}
    reference = parameters(baselines.AdaBoostECC)  # has all of them
    assert [own[name] for name in shared] == [reference[name] for name in shared]
    positional = [name for name in own if own[name].kind is not inspect.Parameter.KEYWORD_ONLY]
    assert positional == ["n_rounds"]


@each_baseline
def test_docstrings_of_baselines_describe_all_parameters(estimator):
    """They are in the order of the signature; shared entries begin with that of `Baseline`."""
    documented, shared = entries(estimator), entries(Baseline)
    assert list(shared) == [name for name in SHARED if name != "random_state"]
    assert list(documented) == list(parameters(estimator))
    for name, (kind, description) in documented.items():
        default = parameters(estimator)[name].default
        text = kind.partition("default=")[2]
        assert text.strip('"') == default if isinstance(default, str) else eval(text) == default
        assert description.endswith(".")
        if name in shared:
            assert kind == shared[name][0]
            assert description.startswith(shared[name][1])
        if name == "random_state":
            assert kind == "int, RandomState or None, default=None"


@pytest.mark.parametrize(
    "estimator",
    [
        DirectBoostClassifierCV,
        DirectBoostMultiLabelClassifier,
        DirectBoostMultiLabelClassifierCV,
        DaskDirectBoostClassifier,
    ],
)
def test_estimators_agree_on_shared_parameters(estimator):
    """Except for the default nu of several labels."""
    own, reference = parameters(estimator), parameters(DirectBoostClassifier)
    if estimator is DirectBoostMultiLabelClassifier:
        assert own.pop("nu").default > reference.pop("nu").default
    shared = [name for name in reference if name in own]
    assert len(shared) >= 15
    assert [own[name] for name in shared] == [reference[name] for name in shared]
    moved = OTHER_PLACE.get(estimator, set())
    in_order = [name for name in own if name in reference and name not in moved]
    assert in_order == [name for name in shared if name not in moved]
