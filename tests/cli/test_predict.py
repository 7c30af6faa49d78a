"""`directboost predict`."""

import io
import sys
from itertools import product

import numpy as np
import polars as pl
import pytest

from directboost import DirectBoostClassifier, DirectBoostMultiLabelClassifier
from directboost.cli import inputs as answering
from directboost.cli.tables import batches
from tests.cli.running import answer, leave, refusal


def expected(model, table):
    X = table.select("height", "town", "noise")
    P = model.predict_proba(X)
    columns = {f"proba_{name}": P[:, r] for r, name in enumerate(model.classes_)}
    return pl.DataFrame({"prediction": model.predict(X).tolist(), **columns})


@pytest.mark.parametrize("forms", list(product(["csv", "parquet"], repeat=2)), ids=" to ".join)
def test_the_answers_are_those_of_the_model(capsys, table, model, model_file, tmp_path, forms):
    """Columns stand in another order, with others between them."""
    source, suffix = forms
    data, out = tmp_path / f"d.{source}", tmp_path / f"out.{suffix}"
    mixed = table.select("noise", "Art", "town", "id", "height")
    mixed.write_csv(data) if source == "csv" else mixed.write_parquet(data)
    facts = answer(capsys, "predict", model_file, data, "-o", out, "--proba")
    assert facts == {"rows": 120, "out": str(out)}
    found = pl.read_csv(out) if suffix == "csv" else pl.read_parquet(out)
    assert found.equals(expected(model, table))


@pytest.fixture
def small_batches(monkeypatch):
    """Read a few records at a time, and predict still fewer."""
    monkeypatch.setattr(answering, "_NUMBERS", 100)
    monkeypatch.setattr("directboost.cli.inputs.batches", _few_bytes)


@pytest.mark.usefixtures("small_batches")
def test_batches_change_nothing(capsys, table, csv, model, model_file, tmp_path):
    for suffix, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        out = tmp_path / f"out.{suffix}"
        assert (
            leave(capsys, "predict", model_file, csv, "-o", out, "--proba", "--keep", "id")[0] == 0
        )
        found = read(out)
        assert found.drop("id").equals(expected(model, table))
        assert found["id"].cast(pl.Int64).to_list() == list(range(120))


def _few_bytes(path, types, reading, keep):
    return batches(path, types, reading, keep, size=200)


def test_pipes(capsysbinary, table, csv, model, model_file, monkeypatch):
    """CSV comes in on standard input and leaves on standard output."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(csv.read_bytes())))
    code, out, err = leave(capsysbinary, "predict", model_file, "-", "-o", "-", "--quiet")
    assert (code, err) == (0, b"")
    assert (
        pl.read_csv(out)["prediction"].to_list() == expected(model, table)["prediction"].to_list()
    )


def test_an_integer_column_may_turn_to_fractions_late(capsys, table, model, model_file, tmp_path):
    """The type of a column is that of the model, not of its first rows."""
    late = pl.concat(
        [*[table] * 20, table.with_columns(pl.col("noise") + 0.5)], how="vertical_relaxed"
    )
    late.with_columns(pl.col("noise").cast(pl.String).str.strip_suffix(".0")).write_csv(
        tmp_path / "late.csv"
    )
    answer(
        capsys, "predict", model_file, tmp_path / "late.csv", "-o", tmp_path / "o.csv", "--proba"
    )
    assert pl.read_csv(tmp_path / "o.csv").equals(expected(model, late))


def test_a_word_among_numbers_is_named_with_its_row(capsys, table, model_file, tmp_path):
    words = table.with_columns(pl.col("noise").cast(pl.String))
    words[77, "noise"] = "n/a"
    words.write_csv(tmp_path / "w.csv")
    call = ("predict", model_file, tmp_path / "w.csv", "-o", tmp_path / "o.csv")
    reason = refusal(capsys, *call)
    assert "column 'noise'" in reason
    assert "holds 'n/a' in row 78 " in reason
    assert list(tmp_path.glob("*o.csv*")) == []  # nothing half done is left
    assert leave(capsys, *call, "--missing", "n/a")[0] == 0


def test_a_level_that_training_did_not_see_is_missing(capsys, table, model, model_file, tmp_path):
    other = table.with_columns(town=pl.lit("Ulm"))
    other.write_csv(tmp_path / "u.csv")
    answer(capsys, "predict", model_file, tmp_path / "u.csv", "-o", tmp_path / "o.csv", "--proba")
    assert pl.read_csv(tmp_path / "o.csv").equals(expected(model, other))


def test_true_and_false_are_numbers(capsys, tmp_path):
    """They are 1 and 0 in the fit and in the prediction, as words and as a type."""
    truth = np.arange(60) % 2 == 0
    frame = pl.DataFrame({"wet": truth, "x": np.arange(60) % 7, "y": np.where(truth, "a", "b")})
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    answer(capsys, "fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m.json")
    for name in ("t.csv", "t.parquet"):
        answer(capsys, "predict", tmp_path / "m.json", tmp_path / name, "-o", tmp_path / "o.csv")
        assert pl.read_csv(tmp_path / "o.csv")["prediction"].to_list() == frame["y"].to_list()


def test_a_model_without_names_reads_x0_and_so_on(capsys, tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = DirectBoostClassifier().fit(X, X[:, 1] > 0)
    model.save(tmp_path / "m.json")
    pl.DataFrame({"x1": X[:, 1], "x0": X[:, 0]}).write_csv(tmp_path / "d.csv")
    answer(capsys, "predict", tmp_path / "m.json", tmp_path / "d.csv", "-o", tmp_path / "o.csv")
    assert pl.read_csv(tmp_path / "o.csv")["prediction"].to_list() == model.predict(X).tolist()


def test_refusals(capsys, table, csv, model_file, tmp_path):
    out = ("-o", tmp_path / "o.csv")
    table.drop("town", "noise").write_csv(tmp_path / "less.csv")
    reason = refusal(capsys, "predict", model_file, tmp_path / "less.csv", *out)
    assert "has no columns 'town', 'noise'; it has 'id', 'height', 'Art'" in reason
    assert "no column 'x'" in refusal(capsys, "predict", model_file, csv, *out, "--keep", "x")
    assert "neither CSV nor" in refusal(capsys, "predict", model_file, csv, "-o", tmp_path / "o.x")
    assert "there is no file" in refusal(capsys, "predict", tmp_path / "no.json", csv, *out)
    table.with_columns(town=pl.lit(3)).write_parquet(tmp_path / "t.parquet")
    reason = refusal(capsys, "predict", model_file, tmp_path / "t.parquet", *out)
    assert "column 'town'" in reason
    assert "fitted to words" in reason
    taken = table.rename({"id": "prediction"})
    taken.write_csv(tmp_path / "p.csv")
    words = ("--keep", "prediction")
    assert "--keep 'prediction'" in refusal(
        capsys, "predict", model_file, tmp_path / "p.csv", *out, *words
    )


@pytest.mark.parametrize("command", ["predict", "evaluate", "fit"])
@pytest.mark.parametrize(
    "case",
    [
        ("t.csv", b"height,town,noise,Art\n1,\xff\xfe,2,Erle\n", "cannot be read: invalid utf-8"),
        ("t.csv", b"height,\xff,noise,Art\n1,2,3,Erle\n", "cannot be read: invalid utf-8"),
        ("t.csv", b"height;town;noise;Art\n1;a;2;Erle\n", "is the separator right?"),
        ("t.csv", b'height;town;noise;Art\n1;"a\nb";2;Erle\n' * 9, "is the separator right?"),
        ("t.parquet", b"height,town,noise,Art\n", "cannot be read: parquet"),
        ("t.parquet", b"PAR1" + bytes(range(40)) + b"PAR1", "cannot be read: "),
    ],
)
def test_a_file_that_cannot_be_read_is_named(capsys, model_file, tmp_path, command, case):
    name, content, reason = case
    path = tmp_path / name
    path.write_bytes(content)
    words = {
        "predict": (model_file, path, "-o", tmp_path / "o.csv"),
        "evaluate": (model_file, path, "--target", "Art"),
        "fit": (path, "--target", "Art"),
    }
    found = refusal(capsys, command, *words[command])
    assert found.startswith(f"directboost: {path} ")
    assert reason in found


def test_a_separator_that_the_file_does_not_have(capsys, csv, model_file, tmp_path):
    call = ("predict", model_file, csv, "-o", tmp_path / "o.csv", "--separator")
    reason = refusal(capsys, *call, ";")
    assert f"{csv} has no columns 'height', 'town', 'noise'" in reason
    assert reason.endswith("'id,height,town,noise,Art': is the separator right?\n")
    assert "separator='\\\\x' does not fit: it is one ASCII" in refusal(capsys, *call, r"\x")


def test_blank_lines_between_rows_are_rows_and_those_at_the_end_are_not(
    capsys, model, model_file, tmp_path
):
    """So the answers stand in the lines of their rows."""
    (tmp_path / "b.csv").write_text("height,town,noise\n1,Köln,2\n\n3,Köln,4\n\n\n", "utf-8")
    call = ("predict", model_file, tmp_path / "b.csv", "-o", tmp_path / "o.csv")
    assert answer(capsys, *call)["rows"] == 3
    blank = pl.DataFrame(
        {"height": [1.0, None, 3.0], "town": ["Köln", None, "Köln"], "noise": [2.0, None, 4.0]}
    )
    found = pl.read_csv(tmp_path / "o.csv")["prediction"]
    assert found.to_list() == model.predict(blank).tolist()


def test_one_row_is_a_row(capsys, table, model_file, tmp_path):
    table.head(1).write_csv(tmp_path / "one.csv")
    out = tmp_path / "o.csv"
    _, _, err = leave(capsys, "predict", model_file, tmp_path / "one.csv", "-o", out)
    assert err == f"predicted 1 row: {out}\n"


def test_two_things_on_standard_output_are_wrong_usage(capsys, csv, model_file):
    assert leave(capsys, "predict", model_file, csv, "-o", "-", "--json")[:2] == (2, "")


def test_several_labels_are_refused(capsys, csv, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    DirectBoostMultiLabelClassifier().fit(X, (X > 0).astype(int)).save(tmp_path / "m.json")
    for command, more in (("predict", ("-o", "-")), ("evaluate", ("--target", "Art"))):
        assert "several labels" in refusal(capsys, command, tmp_path / "m.json", csv, *more)
