"""Names of features and classes, the same in summaries and messages."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from directboost import DirectBoostClassifier, DirectBoostClassifierCV, load
from directboost.model.names import default_names, some_of, these_features, these_pairs

X, Y = load_iris(return_X_y=True)
KEY = "names: x2 is column 2 of X, counted from 0"


@pytest.mark.parametrize("given", [X, X.tolist(), sp.csr_matrix(X), pd.DataFrame(X)], ids=type)
def test_the_summary_explains_default_names(given):
    text = DirectBoostClassifier(nu=0.1).fit(given, Y).summary(max_rules=1)
    assert text.splitlines()[-3].startswith("  x2 <= 2.45 ")
    assert text.splitlines()[-1] == KEY


def test_names_of_a_data_frame_are_not_explained():
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2", "width"])
    assert "counted from" not in DirectBoostClassifier(nu=0.1).fit(frame, Y).summary()


def test_names_that_are_not_shown_are_not_explained():
    """No rules, an empty model, and a model of constants only."""
    model = DirectBoostClassifier(nu=0.1).fit(X, Y)
    constant = DirectBoostClassifier(nu=0.1).fit(np.ones((150, 1)), np.arange(150) < 99)
    empty = DirectBoostClassifier(nu=1.0).fit(X, Y)
    for text in (model.summary(max_rules=0), empty.summary(), constant.summary()):
        assert "counted from" not in text


@pytest.mark.parametrize(
    "asked",
    [
        {"feature_costs": {"age": 2.0}},
        {"categorical_features": ["age"]},
        {"monotonic_cst": {"age": (1, 1)}},
    ],
    ids=lambda asked: next(iter(asked)),
)
def test_unknown_names_are_rejected_with_a_list_of_names(asked):
    """If X has no names, the message explains the default names and how to pass others."""
    model, argument = DirectBoostClassifier(**asked), next(iter(asked))
    with pytest.raises(ValueError, match=f"{argument} names features .*'age'.*'x0', 'x1'") as found:
        model.fit(X, Y)
    assert "x3 is column 3 of X, counted from 0" in str(found.value)
    assert "pass X as a data frame" in str(found.value)
    with pytest.raises(ValueError, match=f"{argument} names .*'age'.*it has 'a', 'b', 'c', 'd'$"):
        model.fit(pd.DataFrame(X, columns=list("abcd")), Y)


def test_long_lists_of_names_are_shortened():
    assert some_of(default_names(14)).endswith("'x10', 'x11' and 2 more")
    assert some_of(default_names(2)) == "'x0', 'x1'"


# --- Sets of features in a certificate -------------------------------------------------------

HOSTILE = [
    *("a, b", "line\nbreak", "</script>", "x\u202ey", ")"),
    *("", "it's", "salt and pepper", " s"),
]


def test_sets_of_features_are_named():
    assert these_features(["age"]) == "this feature (age)"
    assert these_features(["age", "max. speed"]) == "these 2 features (age, max. speed)"
    names = default_names(20)
    shown = "x0, x1, x2, x3, x4, x5, x6, x7"
    assert these_features(names[:8]) == f"these 8 features ({shown})"
    assert these_features(names) == f"these 20 features ({shown} and 12 more)"
    assert these_pairs([("age", "city")]) == "this pair (age and city)"
    assert these_pairs([("a", "b"), ("a", "c")]) == "these 2 pairs (a and b, a and c)"
    assert these_pairs([("a", "b")] * 10).endswith("a and b and 2 more)")


def test_names_in_a_set_are_unambiguous_and_bounded():
    assert these_features(["a, b", "c"]) == "these 2 features ('a, b', c)"
    assert these_pairs([("salt and pepper", "c")]) == "this pair ('salt and pepper' and c)"
    for name in HOSTILE:
        assert these_features([name, "other"]).isprintable()
    assert len({these_features([name, "other"]) for name in [*HOSTILE, "s"]}) == 10
    assert these_features(["first" * 20 + "one"]) != these_features(["first" * 20 + "two"])
    longest = these_features(["\U000e0001" * 5000] * 300)
    assert len(longest) < 5000


def test_the_certificate_of_a_budget_names_the_features(tmp_path):
    """In the certificate, the summary, the report page and the model file, whatever the names."""
    frame = pd.DataFrame(X, columns=["petal, or so", "line\nbreak", "</script>", "width"])
    model = DirectBoostClassifierCV(nus=8, cv=3, max_features_used=2).fit(frame, Y)
    best = model.path_[-1]
    words = "all stumps of these 2 features (</script>, width)"
    assert [frame.columns[f] for f in best.features_used_] == ["</script>", "width"]
    assert best.certificate_.dictionary == words
    assert f"no model over {words} goes below" in best.summary()
    assert load(best.save(tmp_path / "m.json")).certificate_ == best.certificate_
    page = best.report(tmp_path / "r.html", frame, Y).read_text(encoding="utf-8")
    assert "over all stumps of these 2 features (" in page
    assert "(</script>, width)" not in page
