"""`directboost fit`."""

import inspect

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import log_loss

import directboost
from directboost import DirectBoostClassifier
from directboost.cli.fit import fit
from tests.cli.running import answer, leave, refusal

#: Parameters that no word of a command line can hold, or that other options stand for.
_NOT_PLAIN = {"monotonic_cst", "verbose", "warm_start", "callbacks", "categorical_features"}


def test_the_model_is_the_one_python_fits(capsys, csv, tmp_path, model, table):
    out = tmp_path / "m.json"
    words = ("--target", "Art", "--drop", "id", "--nu", "0.02", "-o", out)
    code, printed, err = leave(capsys, "fit", csv, *words)
    assert code == 0
    assert printed == model.summary() + "\n"
    assert "read as categories, since they hold words: town (2 values)" in err
    assert f"wrote {out}" in err
    X = table.select("height", "town", "noise")
    np.testing.assert_array_equal(directboost.load(out).predict_proba(X), model.predict_proba(X))


def test_parquet_gives_the_same_model(capsys, csv, table, tmp_path):
    """Booleans, enums and integers are read as they are."""
    path = tmp_path / "t.parquet"
    table.with_columns(pl.col("town").cast(pl.Enum(["東京, Süd", "Köln"]))).write_parquet(path)
    found = [answer(capsys, "fit", p, "--target", "Art", "--drop", "id") for p in (csv, path)]
    for facts in found:
        del facts["seconds"]
    assert found[0] == found[1]


def test_every_plain_parameter_is_an_option_with_the_same_default():
    options = {
        name: parameter.default for name, parameter in inspect.signature(fit).parameters.items()
    }
    defaults = DirectBoostClassifier().get_params()
    assert defaults.keys() - options.keys() == _NOT_PLAIN
    assert options.pop("max_bins") == str(defaults.pop("max_bins"))
    shared = defaults.keys() & options.keys()
    assert {name: options[name] for name in shared} == {name: defaults[name] for name in shared}


def test_options_reach_the_estimator(capsys, tmp_path):
    out = tmp_path / "m.json"
    words = "--loss hinge --penalty 3 --nu 0.1 --tol 0.05 --max-bins none --class-weight balanced"
    costs = ("--feature-cost", "petal width (cm)=4", "--n-jobs", 1, "--random-state", 3)
    facts = answer(capsys, "fit", "iris", *words.split(), *costs, "-o", out)
    X, y = _iris()
    twin = DirectBoostClassifier(
        loss="hinge", penalty=3.0, nu=0.1, tol=0.05, max_bins=None, class_weight="balanced",
        feature_costs={"petal width (cm)": 4.0},
    ).fit(X, y)  # fmt: skip
    assert facts["certificate"]["primal"] == twin.certificate_.primal
    assert facts["cost"] == twin.cost_
    np.testing.assert_array_equal(directboost.load(out).coef_, twin.coef_)


def test_costs_of_a_file(capsys, tmp_path):
    """JSON and CSV say the same; a pair on the line goes before the file."""
    (tmp_path / "c.json").write_text('{"petal width (cm)": 9, "petal length (cm)": 5}')
    (tmp_path / "c.csv").write_text("feature,cost\npetal width (cm),9\npetal length (cm),2\n")
    known = {"petal width (cm)": 9.0, "petal length (cm)": 5.0}
    X, y = _iris()
    twin = DirectBoostClassifier(nu=0.1, feature_costs=known).fit(X, y)
    for words in (["c.json"], ["c.csv", "--feature-cost", "petal length (cm)=5"]):
        path = tmp_path / words[0]
        facts = answer(capsys, "fit", "iris", "--nu", 0.1, "--feature-costs", path, *words[1:])
        assert facts["certificate"]["primal"] == twin.certificate_.primal
    (tmp_path / "bad.csv").write_text("name,price\na,1\n")
    assert "the costs of features" in refusal(
        capsys, "fit", "iris", "--feature-costs", tmp_path / "bad.csv"
    )


def test_weights_are_those_of_the_column(capsys, table, tmp_path):
    weight = np.arange(120) % 4
    table.with_columns(pl.Series("w", weight)).write_csv(tmp_path / "w.csv")
    words = ("--target", "Art", "--drop", "id", "--sample-weight", "w", "--nu", 0.02)
    facts = answer(capsys, "fit", tmp_path / "w.csv", *words)
    X = table.select("height", pl.col("town").cast(pl.Categorical), "noise")
    twin = DirectBoostClassifier(nu=0.02).fit(X, table["Art"].to_numpy(), weight)
    assert facts["certificate"]["primal"] == twin.certificate_.primal


def test_validation_walks_down_nu(capsys, csv):
    words = ("--target", "Art", "--drop", "id", "--validation", csv, "--n-iter-no-change", 2)
    facts = answer(capsys, "fit", csv, *words)
    assert facts["nu"] < facts["nu_max"]
    assert facts["certificate"]["converged"]


def test_rows_kept_apart_judge_the_model(capsys, tmp_path):
    out = tmp_path / "m.json"
    facts = answer(capsys, "fit", "iris", "--holdout", 0.2, "-o", out)
    assert (facts["rows"], facts["holdout"]["rows"]) == (120, 30)
    assert [entry["rows"] for entry in facts["holdout"]["classes"]] == [10, 10, 10]
    code, printed, _ = leave(capsys, "fit", "iris", "--holdout", 0.2)
    assert code == 0
    assert "on the rows kept apart:" in printed


def test_the_report_is_written(capsys, csv, tmp_path):
    page = tmp_path / "r.html"
    words = ("--target", "Art", "--drop", "id", "--holdout", 0.25, "--report", page)
    facts = answer(capsys, "fit", csv, *words)
    assert facts["report"] == str(page)
    assert "<html" in page.read_text(encoding="utf-8")


def test_a_time_limit_keeps_the_best_model(capsys, tmp_path):
    words = ("--time-limit", 0, "--tol", 1e-9, "-o", tmp_path / "m.json")
    code, out, err = leave(capsys, "fit", "digits", *words, "--json")
    assert code == 0
    assert '"status": "time_limit"' in out
    assert "directboost: warning: " in err
    assert (tmp_path / "m.json").exists()


def test_quiet_says_nothing_but_the_summary(capsys):
    assert leave(capsys, "fit", "iris", "--quiet")[::2] == (0, "")


def test_a_number_column_of_categories(capsys, table, tmp_path):
    """The model takes the values of the column one by one."""
    table.write_csv(tmp_path / "t.csv")
    words = ("--target", "Art", "--drop", "id", "--categorical", "noise", "-o", tmp_path / "m.json")
    answer(capsys, "fit", tmp_path / "t.csv", *words)
    levels = directboost.load(tmp_path / "m.json").categories_
    assert levels[2].tolist() == list(range(9))
    assert levels[0] is None


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["nosuch.csv", "--target", "y"], "nosuch.csv is no file; embedded data sets are digits"),
        (["t.csv", "--target", "y"], "t.csv has no column 'y'; it has 'a', 'b'"),
        (["t.csv", "--target", "b", "--drop", "c"], "has no column 'c'"),
        (["t.csv", "--target", "a"], "the target 'a' of t.csv is missing in 2 rows"),
        (["one.csv", "--target", "b"], "one class"),
        (["empty.csv", "--target", "b"], "empty.csv is empty"),
        (["header.csv", "--target", "b"], "header.csv has column names but no rows"),
        (["twice.csv", "--target", "b"], "twice.csv has several columns of the name 'a'"),
        (["day.csv", "--target", "b"], "column 'a' of day.csv holds Date, neither numbers nor"),
        (["list.parquet", "--target", "b"], "column 'a' of list.parquet holds List"),
        (["t.xlsx", "--target", "b"], "neither CSV nor Parquet by its name"),
        (["iris", "--loss", "nosuch"], "loss='nosuch'"),
        (["iris", "--feature-cost", "nosuch=2"], "nosuch"),
        (["iris", "-o", "nosuch/m.json"], "the folder of nosuch/m.json is not there"),
        (["-", "--target", "b"], "a fit needs a file"),
    ],
)
def test_bad_input_is_one_line(capsys, tmp_path, monkeypatch, words, reason):
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
    assert reason in refusal(capsys, "fit", *words)


@pytest.mark.parametrize(
    "words",
    [
        ["t.csv"],
        ["iris", "--max-bins", "few"],
        ["iris", "--feature-cost", "4"],
        ["iris", "--nu", "x"],
    ],
)
def test_wrong_usage(capsys, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b\n1,x\n")
    code, out, err = leave(capsys, "fit", *words)
    assert (code, out) == (2, "")
    assert "Usage: directboost fit" in err


def test_the_log_loss_of_the_holdout_is_that_of_scikit_learn(capsys, tmp_path):
    out = tmp_path / "m.json"
    facts = answer(capsys, "fit", "wine", "--holdout", 0.25, "--random-state", 4, "-o", out)
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
