"""The rules of leaves in words hold exactly for the rows in the leaves."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from directboost import DirectBoostClassifier, load
from directboost.model.summary import FeatureWords, describe_rule, leaf_words, votes_in_words
from directboost.model.trees import Leaf, Tree
from directboost.plotting import plot_feature
from tests.export.report.reading import read_page
from tests.model.test_trees import by_hand

LEVELS = np.array(["chalk", "clay", "loam", "sand"], dtype=object)


def holds(words, row):
    """Evaluate a rule in words on a row with features a, b and c (a category); None is missing."""
    if words.startswith("not ("):
        return not holds(words[5:-1], row)
    return all(_holds_one(text.strip("()"), row) for text in re.split(r" and ", words))


def _holds_one(text, row):
    bare = text.removesuffix(" or missing")
    name = re.search(r"\b[abc]\b", bare).group()
    value = row[name]
    if value is None and bare != text:
        return True
    if " is " in bare:
        what = bare.split(" is ")[1]
        if what in ("missing", "present"):
            return (value is None) == (what == "missing")
        left_out = re.split(", ", re.sub("^(not|none of) ", "", what))
        return (value in left_out) == (not re.match("not|none of", what))
    return value is not None and eval(bare, {}, {name: value})


def rows_with_gaps(m=400, seed=0):
    """Draw two numbers and a category with missing values, and classes that depend on all three."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 12, m) / 4, "b": rng.integers(0, 12, m) / 4})
    frame["c"] = pd.Categorical(LEVELS[rng.integers(0, 4, m)])
    y = (frame["a"] > 1.1).to_numpy() ^ (frame["b"] > 1.6) ^ frame["c"].isin(["clay", "sand"])
    gaps = rng.random((m, 3)) < 0.15 + 0.2 * y.to_numpy()[:, None]
    return frame.mask(gaps), y.astype(int) + gaps[:, 0]


@pytest.mark.parametrize("gaps", [True, False])
def test_rules_in_words_match_the_responses(gaps):
    X, y = rows_with_gaps()
    if not gaps:
        keep = X.notna().all(axis=1)
        X, y = X[keep], y[keep]
    model = DirectBoostClassifier(learner="tree", nu=0.003).fit(X, y)
    rows = [{k: None if pd.isna(v) else v for k, v in row.items()} for row in X.to_dict("records")]
    codes = model._checked(X)
    words = [describe_rule(model, learner) for learner in model.learners_]
    assert sum(" and " in text for text in words) > 5
    assert any(" or missing" in text for text in words) == gaps
    for learner, text in zip(model.learners_, words, strict=True):
        if isinstance(learner, Leaf):
            expected = np.where([holds(text, row) for row in rows[:120]], 1.0, -1.0)
            np.testing.assert_array_equal(expected, learner.predict(codes[:120]), err_msg=text)


def test_a_leaf_by_hand():
    """Bounds on one feature are merged; missing values are mentioned if there were some."""
    tree, levels = by_hand(), LEVELS.tolist()
    some = [FeatureWords("a", had_missing=True), FeatureWords("c", levels, had_missing=True)]
    none = [FeatureWords("a"), FeatureWords("c", levels)]

    def words(tree, number, polarity, features):
        return leaf_words(Leaf(tree, number, polarity), dict(enumerate(features)))

    assert words(tree, 0, 1, some) == "a <= 1 or missing"
    assert words(tree, 0, -1, none) == "not (a <= 1)"
    assert words(tree, 1, 1, some) == "a > 1 and c is loam"
    assert words(tree, 2, -1, some) == "not (a > 1 and c is not loam)"
    twice = Tree(
        np.array([0, 0, 0]), np.array([1.0, 3.0, 2.0]), np.zeros(3, bool), np.ones(3, bool),
        np.array([~0, 2, ~1]), np.array([1, ~3, ~2]),
    )  # fmt: skip
    assert words(twice, 1, 1, some) == "1 < a <= 2"
    assert words(twice, 3, 1, some) == "a > 3"
    flag = replace(tree, value=np.where(tree.is_level, tree.value, 0.5))
    booleans = [replace(feature, boolean=feature.levels is None) for feature in none]
    assert words(flag, 0, 1, booleans) == "a is False"
    assert words(flag, 1, 1, booleans) == "a is True and c is loam"
    booleans[0] = replace(booleans[0], had_missing=True)
    assert words(flag, 0, 1, booleans) == "a is False or missing"


def test_booleans_are_true_or_false_everywhere(tmp_path):
    """In the summary, in plots, on the report page, and after loading; numbers remain numbers."""
    rng = np.random.default_rng(0)
    flags = rng.random((200, 2)) < 0.5
    frame = pd.DataFrame({"member": flags[:, 0], "number": flags[:, 1] * 1.0})
    frame["member"] = frame["member"].astype("boolean").mask(rng.random(200) < 0.1)
    y = (flags[:, 0] + 2 * flags[:, 1] + rng.integers(0, 2, 200)) // 2
    for learner in ("stump", "pair", "tree"):
        model = DirectBoostClassifier(learner=learner, nu=0.03).fit(frame, y)
        assert model.boolean_.tolist() == [True, False]
        text = model.summary()
        assert "member is True" in text
        assert "member >" not in text
        assert "member <" not in text
        assert "number is" not in text
        again = load(model.save(tmp_path / "model.json"))
        assert again.summary() == text
        assert again.boolean_.tolist() == [True, False]
    model = DirectBoostClassifier(nu=0.03).fit(frame, y)
    ax = plot_feature(model, "member")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["False", "True", "missing"]
    data = read_page(model.report(tmp_path / "page.html", frame, y)).data
    table = next(table for table in data["tables"] if table["name"] == "member")
    assert (table["boolean"], table["levels"]) == (True, [[0, "False"], [1, "True"]])
    assert "member is True" in " ".join(data["rules"]["texts"])
    assert not DirectBoostClassifier(nu=0.03).fit(flags, y).boolean_.any()


def test_small_votes_are_counted_but_not_listed():
    classes = ["a", "b", "c"]
    votes = np.array([2e-5, 1.25, 0.0125])
    assert votes_in_words(votes, classes) == "b: 1.25, c: 0.0125 and 1 more"
    assert votes_in_words(np.array([2e-5, 0.0, 0.0]), classes) == "a: 2e-05"
    assert votes_in_words(np.array([0.5, -0.7, 1e-4]), classes) == "b: -0.7, a: 0.5 and 1 more"
    assert votes_in_words(np.arange(8.0), list("abcdefgh")).endswith("d: 3 and 2 more")
    assert votes_in_words(np.zeros(3), classes) == ""


def test_the_name_that_is_explained_is_shown():
    """A tree may use more features than the path to one of its leaves."""
    X, y = load_iris(return_X_y=True)
    text = DirectBoostClassifier(learner="tree", nu=0.03).fit(X, y).summary(max_rules=1)
    rule, key = text.splitlines()[5], text.splitlines()[-1]
    assert re.search(rf"\b{key.split()[1]}\b", rule)


def test_a_model_of_pairs_lists_its_strongest_pairs():
    """By the deviations of their effects, with the number of rules; at most `max_rules` of them."""
    X, y = load_iris(return_X_y=True)
    model = DirectBoostClassifier(learner="pair", nu=0.002).fit(X, y)
    effects = model.ensemble_.effects
    assert len(effects.pairs) == 6
    lines = model.summary().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("strongest pairs"))
    assert lines[start - 1].startswith("  and ")
    assert lines[start + 6 :] == ["  and 1 weaker pair", f"names: {lines[-1][7:]}"]
    found = []
    for line in lines[start + 1 : start + 6]:
        one, other, rules = re.match(r"  x(\d) and x(\d) +(\d+) rules? ", line).groups()
        pair = next(p for p in effects.pairs if p.features == (int(one), int(other)))
        assert int(rules) == pair.n_rules
        assert f": {pair.deviations.max():.3g}" in line
        found.append(pair.strength)
    assert found == sorted((pair.strength for pair in effects.pairs), reverse=True)[:5]
    assert "strongest pairs" not in model.summary(max_rules=0)
    assert "  and 4 weaker pairs" in model.summary(max_rules=2)
    assert "strongest pairs" not in DirectBoostClassifier().fit(X, y).summary()
