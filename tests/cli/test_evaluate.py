"""`directboost evaluate`."""

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import confusion_matrix, log_loss, precision_score, recall_score

from directboost import DirectBoostClassifier
from directboost.cli.evaluate import class_codes, compute_scores
from directboost.cli.tables import Batch
from tests.cli.running import error_line, run, run_json


def test_scores_equal_those_of_scikit_learn(capsys, table, csv, model, model_file):
    facts = run_json(capsys, "evaluate", model_file, csv, "--target", "Art")
    X, y = table.select("height", "town", "noise"), table["Art"].to_list()
    found, P = model.predict(X), model.predict_proba(X)
    assert facts["rows"] == 120
    assert facts["error"] == pytest.approx(np.mean(found != np.array(y)))
    assert facts["accuracy"] == pytest.approx(1.0 - facts["error"])
    assert facts["log_loss"] == pytest.approx(log_loss(y, P))
    assert facts["confusion"] == confusion_matrix(y, found).tolist()
    names = [entry["class"] for entry in facts["classes"]]
    assert names == model.classes_.tolist()
    for measure, score in (("precision", precision_score), ("recall", recall_score)):
        by_class = [entry[measure] for entry in facts["classes"]]
        assert by_class == pytest.approx(score(y, found, average=None))


def test_the_tables_show_classes_and_mistakes(capsys, csv, model_file, table, model):
    code, out, err = run(capsys, "evaluate", model_file, csv, "--target", "Art")
    assert (code, err) == (0, "")
    assert out.startswith("error ")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}
    found = model.predict(table.select("height", "town", "noise"))
    counts = confusion_matrix(table["Art"].to_list(), found)
    assert rows["Żywiec"] == [str(count) if count else "·" for count in counts[2]]
    assert "most often confused with" in out


@pytest.mark.parametrize("labels", [[3, 1, 2], [True, False], [0.5, 1.5]])
def test_labels_that_are_not_text(capsys, tmp_path, labels):
    """Numbers and booleans are read from CSV and from Parquet."""
    rng = np.random.default_rng(1)
    y = np.array(labels)[np.arange(60) % len(labels)]
    frame = pl.DataFrame({"x": np.arange(60) % len(labels) + 0.1 * rng.normal(size=60), "y": y})
    DirectBoostClassifier().fit(
        frame.select("x"), (y * 2).astype(int) if 0.5 in labels else y
    ).save(tmp_path / "m.json")
    if 0.5 in labels:
        frame = frame.with_columns((pl.col("y") * 2).cast(pl.Int8))
    frame.write_csv(tmp_path / "d.csv")
    frame.write_parquet(tmp_path / "d.parquet")
    for name in ("d.csv", "d.parquet"):
        facts = run_json(capsys, "evaluate", tmp_path / "m.json", tmp_path / name, "--target", "y")
        assert facts["error"] == 0.0
        assert len(facts["classes"]) == len(labels)


@pytest.mark.parametrize("low", [2**53, -(2**53) - 1, 2**63 - 2])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_large_integer_labels_are_exact(capsys, tmp_path, low, form):
    """Neighbouring integers that float64 rounds to the same number."""
    assert float(low) == float(low + 1)
    x = np.arange(40) % 2
    frame = pl.DataFrame({"x": x, "y": low + x})
    path, model = tmp_path / f"d.{form}", tmp_path / "m.json"
    frame.write_csv(path) if form == "csv" else frame.write_parquet(path)
    fit = run_json(capsys, "fit", path, "--target", "y", "-o", model, "--holdout", 0.25)
    facts = run_json(capsys, "evaluate", model, path, "--target", "y")
    assert facts["confusion"] == [[20, 0], [0, 20]]
    assert fit["holdout"]["confusion"] == [[5, 0], [0, 5]]
    assert [entry["class"] for entry in facts["classes"]] == [low, low + 1]


@pytest.mark.parametrize(
    ("classes", "texts"),
    [
        ([1, 2], ["1.0", " 2 "]),
        ([0, 1], ["False", "true"]),
        ([False, True], ["0", "TRUE"]),
        ([2**53, 2**53 + 1], [f"{2**53}.0", f"{2**53 + 1}.0"]),
        ([1.0, 2.0**60], ["1", str(2**60 + 1)]),
    ],
)
def test_spellings_of_a_class(classes, texts):
    labels = pl.Series("y", [texts[1], texts[0], texts[1]])
    assert class_codes(labels, np.array(classes), 0).tolist() == [1, 0, 1]


def test_a_number_that_is_not_a_class():
    labels = pl.Series("y", [str(2**53), str(2**53 + 1)])
    with pytest.raises(
        ValueError, match=r"contains '9007199254740993' in row 12 .* 5, 90071992547409"
    ):
        class_codes(labels, np.array([5, 2**53]), 10)


class Backwards:
    """A model whose classes are not sorted."""

    classes_ = np.array(["c", "a", "b"])
    n_features_in_ = 1
    feature_names_in_ = np.array(["x"], dtype=object)

    def predict_proba(self, X):
        return np.eye(3)[X["x"].to_numpy().astype(int)]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_the_order_of_the_classes_does_not_matter():
    frame = pl.DataFrame({"x": [0.0, 1.0, 2.0, 0.0], "y": ["c", "a", "b", "a"]})
    scores = compute_scores(Backwards(), [Batch(frame, frame)], "y")
    assert scores.counts.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert scores.error == 0.25


def test_a_class_without_rows_has_no_recall(capsys, table, model_file, tmp_path):
    table.filter(pl.col("Art") != "Erle").write_csv(tmp_path / "d.csv")
    facts = run_json(capsys, "evaluate", model_file, tmp_path / "d.csv", "--target", "Art")
    assert facts["classes"][1] == {"class": "Erle", "rows": 0, "precision": 0.0, "recall": None}


def test_errors(capsys, table, csv, model_file, tmp_path):
    assert "no column 'kind'" in error_line(capsys, "evaluate", model_file, csv, "--target", "kind")
    other = table.with_columns(
        Art=pl.when(pl.col("id") == 40).then(pl.lit("Ulme")).otherwise("Art")
    )
    other.write_csv(tmp_path / "o.csv")
    reason = error_line(capsys, "evaluate", model_file, tmp_path / "o.csv", "--target", "Art")
    assert "'Ulme' in row 41 " in reason
    assert "Birke, Erle, Żywiec" in reason
    table.with_columns(Art=pl.lit(None, pl.String)).write_parquet(tmp_path / "n.parquet")
    reason = error_line(capsys, "evaluate", model_file, tmp_path / "n.parquet", "--target", "Art")
    assert "no label in row 1 " in reason
    assert run(capsys, "evaluate", model_file, csv)[0] == 2


def test_an_embedded_data_set_needs_no_target(capsys, tmp_path):
    run_json(capsys, "fit", "wine", "-o", tmp_path / "m.json", "--nu", 0.0001)
    assert run_json(capsys, "evaluate", tmp_path / "m.json", "wine")["error"] == 0.0
