"""`directboost fit`."""

import inspect

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import log_loss

import directboost
from directboost import DirectBoostClassifier
from directboost.cli.fit import fit
from directboost.cli.options import HEADINGS, SEARCH
from directboost.losses import LOSSES
from directboost.margins import MARGINS
from directboost.oracles import LEARNERS
from directboost.penalties import PENALTIES
from directboost.solvers import SOLVERS
from tests.cli.running import error_line, run, run_json

#: Parameters that are not plain values, or that other options set.
_NOT_PLAIN = {"monotonic_cst", "verbose", "warm_start", "callbacks", "categorical_features"}


def test_model_equals_that_of_the_estimator(capsys, csv, tmp_path, model, table):
    out = tmp_path / "m.json"
    options = ("--target", "Art", "--drop", "id", "--nu", "0.02", "-o", out)
    code, printed, err = run(capsys, "fit", csv, *options)
    assert code == 0
    assert printed == model.summary() + "\n"
    assert "Text columns, used as categories: town (2 values)" in err
    assert f"Wrote {out}" in err
    X = table.select("height", "town", "noise")
    np.testing.assert_array_equal(directboost.load(out).predict_proba(X), model.predict_proba(X))


def test_parquet_gives_the_same_model(capsys, csv, table, tmp_path):
    """An enum column is read like a text column."""
    path = tmp_path / "t.parquet"
    table.with_columns(pl.col("town").cast(pl.Enum(["東京, Süd", "Köln"]))).write_parquet(path)
    found = [run_json(capsys, "fit", p, "--target", "Art", "--drop", "id") for p in (csv, path)]
    for facts in found:
        del facts["seconds"]
    assert found[0] == found[1]


def test_every_plain_parameter_is_an_option_with_the_same_default():
    options = {
        name: parameter.default for name, parameter in inspect.signature(fit).parameters.items()
    }
    defaults = DirectBoostClassifier().get_params()
    assert defaults.keys() - options.keys() == _NOT_PLAIN
    shared = defaults.keys() & options.keys()
    assert {name: options[name] for name in shared} == {name: defaults[name] for name in shared}


def test_help_lists_the_registered_names(capsys):
    _, out, _ = run(capsys, "fit", "--help")
    text = " ".join(out.split())
    for registry in (LOSSES, MARGINS, SOLVERS, LEARNERS):
        assert ", ".join(registry) in text
    assert "; ".join(PENALTIES) in text
    for heading in HEADINGS:
        assert (f"\n{heading}:\n" in out) == (heading != SEARCH)


def test_options_reach_the_estimator(capsys, tmp_path):
    out = tmp_path / "m.json"
    options = "--loss hinge --penalty 3 --nu 0.1 --tol 0.05 --max-bins none --class-weight balanced"
    costs = ("--feature-cost", "petal width (cm)=4", "--n-jobs", 1, "--random-state", 3)
    facts = run_json(capsys, "fit", "iris", *options.split(), *costs, "-o", out)
    X, y = _iris()
    twin = DirectBoostClassifier(
        loss="hinge", penalty=3.0, nu=0.1, tol=0.05, max_bins=None, class_weight="balanced",
        feature_costs={"petal width (cm)": 4.0},
    ).fit(X, y)  # fmt: skip
    assert facts["certificate"]["primal"] == twin.certificate_.primal
    assert facts["cost"] == twin.cost_
    np.testing.assert_array_equal(directboost.load(out).weights_, twin.weights_)


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (["--interactions", "2"], {"interactions": 2}),
        (["--interactions", "0"], {"interactions": 0}),
        (["--interactions", "größe, town", "--interactions", 'noise,"a, b",town'],
         {"interactions": [("größe", "town"), ("noise", "a, b", "town")]}),
        (["--pair-bins", 4, "--interaction-cost", "1.5"],
         {"pair_bins": 4, "interaction_cost": 1.5}),
    ],
)  # fmt: skip
def test_options_of_pairs(capsys, table, tmp_path, options, parameters):
    """Names are separated by commas; a name that contains one is quoted."""
    renamed = table.rename({"height": "größe", "id": "a, b"})
    renamed.write_csv(tmp_path / "t.csv")
    fixed = ("--target", "Art", "--learner", "pair", "--nu", 0.05, "-o", tmp_path / "m.json")
    facts = run_json(capsys, "fit", tmp_path / "t.csv", *fixed, *options)
    X = renamed.drop("Art").with_columns(pl.col("town").cast(pl.Categorical))
    twin = DirectBoostClassifier(learner="pair", nu=0.05, **parameters)
    twin.fit(X, renamed["Art"].to_numpy())
    assert facts["certificate"]["dictionary"] == twin.certificate_.dictionary
    assert facts["certificate"]["primal"] == twin.certificate_.primal
    loaded = directboost.load(tmp_path / "m.json")
    assert {name: loaded.get_params()[name] for name in parameters} == parameters


def test_the_choice_of_the_learner_is_printed(capsys):
    options = ("fit", "iris", "--learner", "auto", "--nu", 0.05)
    choice = run_json(capsys, *options)["learner_choice"]
    assert choice["learner"] in ("stump", "pair")
    assert f"learner:     {choice['learner']}, {choice['reason']}" in run(capsys, *options)[1]


@pytest.mark.parametrize("text", ["town", "", '"town,noise', "2.5"])
def test_interactions_are_a_number_or_several_names(capsys, csv, text):
    options = ("--target", "Art", "--learner", "pair", "--interactions", text)
    code, out, err = run(capsys, "fit", csv, *options)
    assert (code, out) == (2, "")
    assert f"'--interactions': {text!r} is neither a single number of features nor names" in err
    both = ("--interactions", "2", "--interactions", "town,noise")
    assert "'2' is neither" in run(capsys, "fit", csv, *options[:4], *both)[2]


def test_errors_about_pairs_name_the_feature_or_the_learner(capsys, csv):
    options = ("fit", csv, "--target", "Art", "--quiet")
    pair = (*options, "--learner", "pair", "--interactions")
    assert "['twn'] (did you mean 'town'?)" in error_line(capsys, *pair, "twn,noise")
    assert "the feature 'town' twice" in error_line(capsys, *pair, "town,town")
    expected = "pair_bins=4 is invalid with learner='stump', which has no pairs: use learner='pair'"
    assert expected in error_line(capsys, *options, "--pair-bins", 4)


def test_a_warning_says_why_there_is_no_pair(capsys, csv):
    options = ("--target", "Art", "--drop", "id", "--drop", "town", "--drop", "noise", "--nu", 0.1)
    code, out, err = run(capsys, "fit", csv, *options, "--learner", "pair")
    assert code == 0
    assert "directboost: warning: learner='pair' fits stumps only: X has one feature" in err
    assert "no model over all stumps goes below" in out


def test_feature_costs_from_a_file(capsys, tmp_path):
    """JSON and CSV are equivalent; --feature-cost overrides the file."""
    (tmp_path / "c.json").write_text('{"petal width (cm)": 9, "petal length (cm)": 5}')
    (tmp_path / "c.csv").write_text("feature,cost\npetal width (cm),9\npetal length (cm),2\n")
    known = {"petal width (cm)": 9.0, "petal length (cm)": 5.0}
    X, y = _iris()
    twin = DirectBoostClassifier(nu=0.1, feature_costs=known).fit(X, y)
    for options in (["c.json"], ["c.csv", "--feature-cost", "petal length (cm)=5"]):
        path = tmp_path / options[0]
        facts = run_json(capsys, "fit", "iris", "--nu", 0.1, "--feature-costs", path, *options[1:])
        assert facts["certificate"]["primal"] == twin.certificate_.primal
    (tmp_path / "bad.csv").write_text("name,price\na,1\n")
    assert "does not contain feature costs" in error_line(
        capsys, "fit", "iris", "--feature-costs", tmp_path / "bad.csv"
    )


def test_sample_weights_from_a_column(capsys, table, tmp_path):
    weight = np.arange(120) % 4
    table.with_columns(pl.Series("w", weight)).write_csv(tmp_path / "w.csv")
    options = ("--target", "Art", "--drop", "id", "--sample-weight", "w", "--nu", 0.02)
    facts = run_json(capsys, "fit", tmp_path / "w.csv", *options)
    X = table.select("height", pl.col("town").cast(pl.Categorical), "noise")
    twin = DirectBoostClassifier(nu=0.02).fit(X, table["Art"].to_numpy(), weight)
    assert facts["certificate"]["primal"] == twin.certificate_.primal


def test_validation_decreases_nu(capsys, csv):
    options = ("--target", "Art", "--drop", "id", "--validation", csv, "--n-iter-no-change", 2)
    facts = run_json(capsys, "fit", csv, *options)
    assert facts["nu"] < facts["nu_max"]
    assert facts["certificate"]["converged"]


def test_held_out_rows_are_scored(capsys, tmp_path):
    out = tmp_path / "m.json"
    facts = run_json(capsys, "fit", "iris", "--holdout", 0.2, "-o", out)
    assert (facts["rows"], facts["holdout"]["rows"]) == (120, 30)
    assert [entry["rows"] for entry in facts["holdout"]["classes"]] == [10, 10, 10]
    code, printed, _ = run(capsys, "fit", "iris", "--holdout", 0.2)
    assert code == 0
    assert "held-out rows:" in printed


def test_the_report_is_written(capsys, csv, tmp_path):
    page = tmp_path / "r.html"
    options = ("--target", "Art", "--drop", "id", "--holdout", 0.25, "--report", page)
    facts = run_json(capsys, "fit", csv, *options)
    assert facts["report"] == str(page)
    assert "<html" in page.read_text(encoding="utf-8")


def test_a_time_limit_keeps_the_best_model(capsys, tmp_path):
    options = ("--time-limit", 0, "--tol", 1e-9, "-o", tmp_path / "m.json")
    code, out, err = run(capsys, "fit", "digits", *options, "--json")
    assert code == 0
    assert '"status": "time_limit"' in out
    assert "directboost: warning: " in err
    assert (tmp_path / "m.json").exists()


def test_quiet_prints_only_the_summary(capsys):
    assert run(capsys, "fit", "iris", "--quiet")[::2] == (0, "")


def test_numeric_column_as_categories(capsys, table, tmp_path):
    """Every value of the column is a category of the model."""
    table.write_csv(tmp_path / "t.csv")
    options = (
        "--target",
        "Art",
        "--drop",
        "id",
        "--categorical",
        "noise",
        "-o",
        tmp_path / "m.json",
    )
    run_json(capsys, "fit", tmp_path / "t.csv", *options)
    levels = directboost.load(tmp_path / "m.json").categories_
    assert levels[2].tolist() == list(range(9))
    assert levels[0] is None


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            ["nosuch.csv", "--target", "y"],
            "nosuch.csv does not exist; embedded data sets are digits",
        ),
        (["t.csv", "--target", "y"], "t.csv has no column 'y'; it has 'a', 'b'"),
        (["t.csv", "--target", "b", "--drop", "c"], "has no column 'c'"),
        (["t.csv", "--target", "a"], "The target column 'a' of t.csv has missing values in 2 rows"),
        (["one.csv", "--target", "b"], "one class"),
        (["empty.csv", "--target", "b"], "empty.csv is empty"),
        (["header.csv", "--target", "b"], "header.csv has column names but no rows"),
        (["twice.csv", "--target", "b"], "twice.csv has several columns named 'a'"),
        (["day.csv", "--target", "b"], "Column 'a' of day.csv contains dates; read them as"),
        (["list.parquet", "--target", "b"], "Column 'a' of list.parquet has type List"),
        (["t.xlsx", "--target", "b"], "neither CSV nor Parquet: expected one of the extensions"),
        (["iris", "--loss", "nosuch"], "loss='nosuch'"),
        (["iris", "--feature-cost", "nosuch=2"], "nosuch"),
        (
            ["iris", "-o", "nosuch/m.json"],
            "The directory of nosuch/m.json does not exist; create it first",
        ),
        (["-", "--target", "b", "--validation", "-"], "Standard input can be read only once"),
    ],
)
def test_bad_input_is_one_line(capsys, tmp_path, monkeypatch, options, reason):
    monkeypatch.chdir(tmp_path)
    files = {
        "t.csv": "a,b\n1,x\n,y\n,x\n4,y\n",
        "one.csv": "a,b\n1,x\n2,x\n",
        "empty.csv": "",
        "header.csv": "a,b\n",
        "twice.csv": "a,a,b\n1,2,x\n",
        "day.csv": "a,b\n2024-02-01,x\n2024-02-02,y\n",
        "t.xlsx": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    pl.DataFrame({"a": [[1], [2]], "b": ["x", "y"]}).write_parquet("list.parquet")
    assert reason in error_line(capsys, "fit", *options)


@pytest.mark.parametrize(
    "options",
    [
        ["t.csv"],
        ["iris", "--max-bins", "few"],
        ["iris", "--feature-cost", "4"],
        ["iris", "--nu", "x"],
    ],
)
def test_wrong_usage(capsys, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b\n1,x\n")
    code, out, err = run(capsys, "fit", *options)
    assert (code, out) == (2, "")
    assert "Usage: directboost fit" in err


def test_log_loss_of_the_holdout_equals_that_of_scikit_learn(capsys, tmp_path):
    out = tmp_path / "m.json"
    facts = run_json(capsys, "fit", "wine", "--holdout", 0.25, "--random-state", 4, "-o", out)
    loaded, frame = directboost.load(out), _frame("wine")
    from sklearn.model_selection import train_test_split

    apart = train_test_split(
        np.arange(frame.height), test_size=0.25, stratify=frame["target"].to_numpy(), random_state=4
    )[1]
    rows = frame[np.sort(apart)]
    P = loaded.predict_proba(rows.drop("target"))
    assert facts["holdout"]["log_loss"] == pytest.approx(log_loss(rows["target"].to_list(), P))


def _frame(name):
    data = directboost.datasets.load(name)
    columns = dict(zip(data.feature_names, data.X.T, strict=True))
    return pl.DataFrame(columns | {"target": data.classes[data.y]})


def _iris():
    frame = _frame("iris")
    return frame.drop("target"), frame["target"].to_numpy()


def test_booleans_and_rare_levels_of_a_table(capsys, tmp_path):
    """True and False in any case are booleans; text with very many values is joined."""
    rng = np.random.default_rng(0)
    member = rng.random(400) < 0.5
    shop = np.where(rng.random(400) < 0.3, rng.integers(0, 300, 400) + 10, rng.integers(0, 3, 400))
    frame = pl.DataFrame({
        "member": [str(value) for value in member],
        "shop": [f"s{number}" for number in shop],
        "Art": (2 * (shop > 9) + member).astype(int),
    })  # fmt: skip
    frame.write_csv(tmp_path / "t.csv")
    path = tmp_path / "m.json"
    options = ("--target", "Art", "--nu", 0.05, "--max-bins", 8, "-o", path)
    code, printed, err = run(capsys, "fit", tmp_path / "t.csv", *options)
    assert code == 0
    assert "column 'shop' of X has" in err
    assert "above max_bins=8: the 8 most frequent ones are kept" in err
    assert "member is True" in printed
    assert "shop is rare or missing" in printed
    assert "rare levels joined" in printed
    code, _, _ = run(capsys, "predict", path, tmp_path / "t.csv", "-o", tmp_path / "p.csv")
    assert code == 0
    predicted = pl.read_csv(tmp_path / "p.csv")["prediction"].to_numpy()
    assert np.mean(predicted.astype(str) == frame["Art"].to_numpy().astype(str)) > 0.95
