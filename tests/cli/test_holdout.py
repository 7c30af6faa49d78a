"""Rows on which `fit` and `cv` evaluate a model, and what the report says about them."""

import io
import sys

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import train_test_split

import directboost
from directboost import DirectBoostClassifier, Status
from tests.cli.running import error_line, run, run_json
from tests.export.report.reading import read_page

_OPTIONS = ("--target", "Art", "--drop", "id", "--nu", 0.02)


def _split(table):
    """Return the indices of the rows that a report holds out, and of the others."""
    y = table["Art"].to_numpy()
    train, test = train_test_split(np.arange(120), test_size=0.2, stratify=y, random_state=0)
    return np.sort(train), np.sort(test)


def test_the_report_is_about_the_saved_model_and_its_quality_is_held_out(
    capsys, csv, table, model, tmp_path
):
    """The model is that of all rows; a second one predicts a fifth of them."""
    files = ("-o", tmp_path / "m.json", "--report", tmp_path / "r.html")
    facts = run_json(capsys, "fit", csv, *_OPTIONS, *files)
    loaded = directboost.load(tmp_path / "m.json")
    X, y = table.select("height", "town", "noise"), table["Art"].to_numpy()
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    train, test = _split(table)
    X = X.with_columns(pl.col("town").cast(pl.Categorical))
    second = clone(model).fit(X[train], y[train])
    error = float(np.mean(second.predict(X[test]) != y[test]))
    assert facts["rows"] == 120
    assert facts["holdout"]["fitted_rows"] == 96
    assert facts["holdout"]["error"] == pytest.approx(error)
    data = read_page(tmp_path / "r.html").data
    assert data["learners"] == loaded.n_learners_
    assert data["certificate"]["primal"] == loaded.certificate_.primal
    quality = data["quality"]
    assert (quality["rows"], quality["wrong"]) == (24, round(24 * error))
    assert quality["noun"] == ["held-out row", "held-out rows"]
    assert "fitted in the same way to the other 96 rows" in quality["note"]
    assert (data["rows"]["total"], data["rows"]["noun"][1]) == (120, "training rows")
    assert data["title"] == "Model report: quality on held-out rows"


def test_the_output_says_which_model_was_evaluated(capsys, tmp_path):
    report = ("--report", tmp_path / "r.html")
    second = "held-out rows:\nThey are predicted by a second model, fitted in the same way to the"
    assert second in run(capsys, "fit", "iris", *report)[1]
    out = run(capsys, "fit", "iris", *report, "--holdout", 0.4)[1]
    assert "held-out rows:\nThe model was not fitted to them.\n" in out
    assert "They are those of iris." in run(capsys, "fit", "iris", "--test-data", "iris")[1]


def test_rows_of_holdout_are_those_of_the_page(capsys, csv, tmp_path):
    page = tmp_path / "r.html"
    facts = run_json(capsys, "fit", csv, *_OPTIONS, "--holdout", 0.25, "--report", page)
    assert (facts["rows"], facts["holdout"]["rows"], facts["holdout"]["fitted_rows"]) == (
        90,
        30,
        90,
    )
    data = read_page(page).data
    assert data["quality"]["wrong"] == round(30 * facts["holdout"]["error"])
    assert data["rows"]["total"] == 30
    assert data["quality"]["note"] == "The model was not fitted to them."


def test_without_held_out_rows_the_page_says_that_it_shows_training_rows(capsys, csv, tmp_path):
    page = tmp_path / "r.html"
    code, out, err = run(capsys, "fit", csv, *_OPTIONS, "--holdout", 0, "--report", page)
    assert (code, "held-out" in out) == (0, False)
    assert "its error is that on the training rows" in err
    data = read_page(page).data
    assert data["title"] == "Model report: quality on training rows"
    assert data["quality"]["noun"] == ["training row", "training rows"]
    assert data["quality"]["rows"] == 120
    assert "probably higher" in data["quality"]["note"]


def test_a_class_with_one_row_cannot_be_held_out(capsys, tmp_path):
    """The report is written all the same; the note gives the reason."""
    lines = "".join(f"{i},{'a' if i % 2 else 'b'}\n" for i in range(40))
    (tmp_path / "t.csv").write_text(f"x,y\n{lines}99,c\n")
    page = tmp_path / "r.html"
    code, _, err = run(capsys, "fit", tmp_path / "t.csv", "--target", "y", "--report", page)
    assert code == 0
    assert "No rows can be held out for the report: " in err
    assert read_page(page).data["quality"]["noun"][1] == "training rows"


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_test_data_from_a_file(capsys, csv, table, model, tmp_path, suffix):
    """Its columns have the types of the training data, even if its cells look different."""
    rows = table.head(30).select("Art", "noise", "town", "height")
    rows = rows.with_columns(noise=pl.lit(None, pl.Int64), town=pl.lit(7).cast(pl.String))
    path = tmp_path / f"test.{suffix}"
    rows.write_csv(path) if suffix == "csv" else rows.write_parquet(path)
    page = tmp_path / "r.html"
    facts = run_json(capsys, "fit", csv, *_OPTIONS, "--test-data", path, "--report", page)
    X, y = rows.select("height", "town", "noise"), rows["Art"].to_numpy()
    assert facts["holdout"]["error"] == np.mean(model.predict(X) != y)
    assert (facts["rows"], facts["holdout"]["rows"]) == (120, 30)
    quality = read_page(page).data["quality"]
    assert quality["noun"][1] == "test rows"
    assert quality["wrong"] == round(30 * facts["holdout"]["error"])


def test_errors(capsys, csv, tmp_path):
    both = ("--holdout", 0.2, "--test-data", csv)
    code, out, err = run(capsys, "fit", csv, *_OPTIONS, *both)
    assert (code, out) == (2, "")
    assert "'--holdout': cannot be combined with --test-data" in err
    missing = ("--test-data", tmp_path / "no.csv")
    assert "no.csv does not exist" in error_line(capsys, "fit", csv, *_OPTIONS, *missing)


def test_an_interrupt_of_the_second_fit_keeps_the_first_model(
    capsys, csv, model, monkeypatch, tmp_path
):
    """The page then shows the training rows."""
    fit, fits = DirectBoostClassifier.fit, []

    def interrupted(self, *arguments, **named):
        fit(self, *arguments, **named)
        fits.append(self)
        if len(fits) == 2:
            self.status_ = Status.INTERRUPTED
        return self

    monkeypatch.setattr(DirectBoostClassifier, "fit", interrupted)
    files = ("-o", tmp_path / "m.json", "--report", tmp_path / "r.html")
    assert run(capsys, "fit", csv, *_OPTIONS, *files)[0] == 130
    assert len(fits) == 2
    assert directboost.load(tmp_path / "m.json").certificate_ == model.certificate_
    assert read_page(tmp_path / "r.html").data["quality"]["noun"][1] == "training rows"


def test_the_report_of_cv(capsys, tmp_path):
    """The whole search is repeated on four fifths of the rows."""
    options = ("cv", "iris", "--nus", 4, "--folds", 2)
    page = tmp_path / "r.html"
    alone = run_json(capsys, *options)
    facts = run_json(capsys, *options, "--report", page)
    assert alone["holdout"] is None
    assert facts["path"] == alone["path"]
    assert (facts["holdout"]["rows"], facts["holdout"]["fitted_rows"]) == (30, 120)
    data = read_page(page).data
    assert data["quality"]["rows"] == 30
    assert data["certificate"]["primal"] == alone["model"]["certificate"]["primal"]


def test_a_table_that_is_too_small_to_search_a_part_of_it(capsys, tmp_path):
    """Five rows of a class are enough for five folds, but four are not."""
    lines = "".join(f"{i},{'ab'[i % 2]}\n" for i in range(10))
    (tmp_path / "t.csv").write_text(f"x,y\n{lines}")
    page = tmp_path / "r.html"
    options = ("--target", "y", "--nus", 3, "--report", page)
    code, _, err = run(capsys, "cv", tmp_path / "t.csv", *options)
    assert code == 0
    assert "No rows can be held out for the report: " in err
    assert read_page(page).data["quality"]["noun"][1] == "training rows"


def test_training_rows_from_standard_input(capsys, csv, model, monkeypatch, tmp_path):
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(csv.read_bytes())))
    monkeypatch.setattr(sys, "stdin", stdin)
    facts = run_json(capsys, "fit", "-", *_OPTIONS, "-o", tmp_path / "m.json")
    assert facts["certificate"]["primal"] == model.certificate_.primal
