"""`directboost predict`."""

import gzip
import io
import sys
from itertools import product

import numpy as np
import polars as pl
import pytest

from directboost import DirectBoostClassifier, DirectBoostMultiLabelClassifier
from directboost.cli import inputs
from directboost.cli.tables import read_batches
from tests.cli.running import error_line, run, run_json


def expected(model, table):
    X = table.select("height", "town", "noise")
    P = model.predict_proba(X)
    columns = {f"proba_{name}": P[:, r] for r, name in enumerate(model.classes_)}
    return pl.DataFrame({"prediction": model.predict(X).tolist(), **columns})


@pytest.mark.parametrize("forms", list(product(["csv", "parquet"], repeat=2)), ids=" to ".join)
def test_predictions_equal_those_of_the_model(capsys, table, model, model_file, tmp_path, forms):
    """The columns are in another order, with others in between."""
    source, suffix = forms
    data, out = tmp_path / f"d.{source}", tmp_path / f"out.{suffix}"
    mixed = table.select("noise", "Art", "town", "id", "height")
    mixed.write_csv(data) if source == "csv" else mixed.write_parquet(data)
    facts = run_json(capsys, "predict", model_file, data, "-o", out, "--proba")
    assert facts == {"rows": 120, "out": str(out)}
    found = pl.read_csv(out) if suffix == "csv" else pl.read_parquet(out)
    assert found.equals(expected(model, table))


@pytest.fixture
def small_batches(monkeypatch):
    """Read a few records at a time, and predict even fewer."""
    monkeypatch.setattr(inputs, "_BATCH_NUMBERS", 100)
    monkeypatch.setattr("directboost.cli.inputs.read_batches", _few_bytes)


@pytest.mark.usefixtures("small_batches")
def test_predictions_do_not_depend_on_batches(capsys, table, csv, model, model_file, tmp_path):
    for suffix, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        out = tmp_path / f"out.{suffix}"
        assert run(capsys, "predict", model_file, csv, "-o", out, "--proba", "--keep", "id")[0] == 0
        found = read(out)
        assert found.drop("id").equals(expected(model, table))
        assert found["id"].cast(pl.Int64).to_list() == list(range(120))


def _few_bytes(path, types, table_format, keep):
    return read_batches(path, types, table_format, keep, size=200)


def test_pipes(capsysbinary, table, csv, model, model_file, monkeypatch):
    """CSV is read from standard input and written to standard output."""
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(csv.read_bytes())))
    )
    code, out, err = run(capsysbinary, "predict", model_file, "-", "-o", "-", "--quiet")
    assert (code, err) == (0, b"")
    assert (
        pl.read_csv(out)["prediction"].to_list() == expected(model, table)["prediction"].to_list()
    )


def test_an_integer_column_may_contain_fractions_later(capsys, table, model, model_file, tmp_path):
    """Column types come from the model, not from the first rows."""
    late = pl.concat(
        [*[table] * 20, table.with_columns(pl.col("noise") + 0.5)], how="vertical_relaxed"
    )
    late.with_columns(pl.col("noise").cast(pl.String).str.strip_suffix(".0")).write_csv(
        tmp_path / "late.csv"
    )
    run_json(
        capsys, "predict", model_file, tmp_path / "late.csv", "-o", tmp_path / "o.csv", "--proba"
    )
    assert pl.read_csv(tmp_path / "o.csv").equals(expected(model, late))


def test_text_among_numbers_is_reported_with_its_row(capsys, table, model_file, tmp_path):
    texts = table.with_columns(pl.col("noise").cast(pl.String))
    texts[77, "noise"] = "n/a"
    texts.write_csv(tmp_path / "w.csv")
    call = ("predict", model_file, tmp_path / "w.csv", "-o", tmp_path / "o.csv")
    reason = error_line(capsys, *call)
    assert "Column 'noise'" in reason
    assert "contains 'n/a' in row 78 " in reason
    assert list(tmp_path.glob("*o.csv*")) == []  # no partial file is left
    assert run(capsys, *call, "--missing", "n/a")[0] == 0


def test_an_unseen_category_is_missing(capsys, table, model, model_file, tmp_path):
    other = table.with_columns(town=pl.lit("Ulm"))
    other.write_csv(tmp_path / "u.csv")
    run_json(capsys, "predict", model_file, tmp_path / "u.csv", "-o", tmp_path / "o.csv", "--proba")
    assert pl.read_csv(tmp_path / "o.csv").equals(expected(model, other))


def test_booleans_are_numbers(capsys, tmp_path):
    """They are 1 and 0 in fit and predict, as text and as a type."""
    truth = np.arange(60) % 2 == 0
    frame = pl.DataFrame({"wet": truth, "x": np.arange(60) % 7, "y": np.where(truth, "a", "b")})
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    run_json(capsys, "fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m.json")
    for name in ("t.csv", "t.parquet"):
        run_json(capsys, "predict", tmp_path / "m.json", tmp_path / name, "-o", tmp_path / "o.csv")
        assert pl.read_csv(tmp_path / "o.csv")["prediction"].to_list() == frame["y"].to_list()


def test_a_model_without_names_reads_x0_and_so_on(capsys, tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = DirectBoostClassifier().fit(X, X[:, 1] > 0)
    model.save(tmp_path / "m.json")
    pl.DataFrame({"x1": X[:, 1], "x0": X[:, 0]}).write_csv(tmp_path / "d.csv")
    run_json(capsys, "predict", tmp_path / "m.json", tmp_path / "d.csv", "-o", tmp_path / "o.csv")
    assert pl.read_csv(tmp_path / "o.csv")["prediction"].to_list() == model.predict(X).tolist()


def test_errors(capsys, table, csv, model_file, tmp_path):
    out = ("-o", tmp_path / "o.csv")
    table.drop("town", "noise").write_csv(tmp_path / "less.csv")
    reason = error_line(capsys, "predict", model_file, tmp_path / "less.csv", *out)
    assert "has no columns 'town', 'noise'; it has 'id', 'height', 'Art'" in reason
    assert "no column 'x'" in error_line(capsys, "predict", model_file, csv, *out, "--keep", "x")
    assert "neither CSV nor" in error_line(
        capsys, "predict", model_file, csv, "-o", tmp_path / "o.x"
    )
    assert "no.json does not exist" in error_line(
        capsys, "predict", tmp_path / "no.json", csv, *out
    )
    table.with_columns(town=pl.lit(3)).write_parquet(tmp_path / "t.parquet")
    reason = error_line(capsys, "predict", model_file, tmp_path / "t.parquet", *out)
    assert "Column 'town'" in reason
    assert "fitted to text" in reason
    taken = table.rename({"id": "prediction"})
    taken.write_csv(tmp_path / "p.csv")
    options = ("--keep", "prediction")
    assert "--keep 'prediction'" in error_line(
        capsys, "predict", model_file, tmp_path / "p.csv", *out, *options
    )


@pytest.mark.parametrize("command", ["predict", "evaluate", "fit"])
@pytest.mark.parametrize(
    "case",
    [
        ("t.csv", b"height,town,noise,Art\n1,\xff\xfe,2,Erle\n", "cannot be read: invalid utf-8"),
        ("t.csv", b"height,\xff,noise,Art\n1,2,3,Erle\n", "cannot be read: invalid utf-8"),
        ("t.csv", b"height;town;noise;Art\n1;a;2;Erle\n", "check the separator"),
        ("t.csv", b'height;town;noise;Art\n1;"a\nb";2;Erle\n' * 9, "check the separator"),
        ("t.parquet", b"height,town,noise,Art\n", "cannot be read: parquet"),
        ("t.parquet", b"PAR1" + bytes(range(40)) + b"PAR1", "cannot be read: "),
    ],
)
def test_an_unreadable_file_is_named(capsys, model_file, tmp_path, command, case):
    name, content, reason = case
    path = tmp_path / name
    path.write_bytes(content)
    arguments = {
        "predict": (model_file, path, "-o", tmp_path / "o.csv"),
        "evaluate": (model_file, path, "--target", "Art"),
        "fit": (path, "--target", "Art"),
    }
    found = error_line(capsys, command, *arguments[command])
    assert found.startswith(f"directboost: {path} ")
    assert reason in found


def test_a_separator_that_the_file_does_not_have(capsys, csv, model_file, tmp_path):
    call = ("predict", model_file, csv, "-o", tmp_path / "o.csv", "--separator")
    reason = error_line(capsys, *call, ";")
    assert f"{csv} has no columns 'height', 'town', 'noise'" in reason
    assert reason.endswith("'id,height,town,noise,Art'; check the separator\n")
    assert "separator='\\\\x' is invalid: expected one ASCII" in error_line(capsys, *call, r"\x")


def test_blank_lines_are_rows_except_at_the_end(capsys, model, model_file, tmp_path):
    """The predictions are thereby on the lines of their rows."""
    (tmp_path / "b.csv").write_text("height,town,noise\n1,Köln,2\n\n3,Köln,4\n\n\n", "utf-8")
    call = ("predict", model_file, tmp_path / "b.csv", "-o", tmp_path / "o.csv")
    assert run_json(capsys, *call)["rows"] == 3
    blank = pl.DataFrame(
        {"height": [1.0, None, 3.0], "town": ["Köln", None, "Köln"], "noise": [2.0, None, 4.0]}
    )
    found = pl.read_csv(tmp_path / "o.csv")["prediction"]
    assert found.to_list() == model.predict(blank).tolist()


def test_compressed_files(capsys, csv, table, model, model_file, tmp_path):
    """The same table gives the same compressed file."""
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(csv.read_bytes()))
    outs = [tmp_path / "one.csv.gz", tmp_path / "two.csv.gz"]
    for out in outs:
        options = ("-o", out, "--proba", "--keep", "noise")
        assert run(capsys, "predict", model_file, tmp_path / "d.csv.gz", *options)[0] == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()
    found = pl.read_csv(gzip.decompress(outs[0].read_bytes()))
    assert found.drop("noise").equals(expected(model, table))
    scores = [
        run_json(capsys, "evaluate", model_file, path, "--target", "Art")
        for path in (csv, tmp_path / "d.csv.gz")
    ]
    assert scores[0] == scores[1]
    assert "neither CSV nor" in error_line(
        capsys, "predict", model_file, csv, "-o", tmp_path / "o.parquet.gz"
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_kept_features_are_unchanged(capsys, tmp_path, suffix):
    """Numbers and truth values are not converted, as text or as values."""
    frame = pl.DataFrame({"n": [3000, 5] * 20, "b": [False, True] * 20, "y": ["p", "q"] * 20})
    data, out = tmp_path / f"d.{suffix}", tmp_path / f"o.{suffix}"
    if suffix == "csv":
        data.write_text("n,b,y\n" + "3000,False,p\n5,TRUE,q\n" * 20)
    else:
        frame.write_parquet(data)
    run_json(capsys, "fit", data, "--target", "y", "-o", tmp_path / "m.json")
    options = ("--keep", "n", "--keep", "b", "-o", out)
    assert run(capsys, "predict", tmp_path / "m.json", data, *options)[0] == 0
    if suffix == "csv":
        assert out.read_text().startswith("n,b,prediction\n3000,False,p\n5,TRUE,q\n")
    else:
        assert pl.read_parquet(out).select("n", "b").equals(frame.select("n", "b"))


def test_dates(capsys, tmp_path):
    """The options of fit and predict agree."""
    lines = "".join(f"2024-0{1 + i % 6}-10,{'ab'[i % 6 > 2]}\n" for i in range(60))
    (tmp_path / "t.csv").write_text(f"day,y\n{lines}")
    options = ("--date", "day", "--target", "y")
    run_json(capsys, "fit", tmp_path / "t.csv", *options, "-o", tmp_path / "m.json")
    scores = run_json(capsys, "evaluate", tmp_path / "m.json", tmp_path / "t.csv", *options)
    assert scores["error"] == 0.0
    out = ("-o", tmp_path / "o.csv")
    reason = error_line(capsys, "predict", tmp_path / "m.json", tmp_path / "t.csv", *out)
    assert "add --date 'day'" in reason
    more = ("--date", "day", "--keep", "day")
    assert run(capsys, "predict", tmp_path / "m.json", tmp_path / "t.csv", *out, *more)[0] == 0
    assert (tmp_path / "o.csv").read_text().startswith("day,prediction\n2024-01-10,a\n")


def test_one_row(capsys, table, model_file, tmp_path):
    table.head(1).write_csv(tmp_path / "one.csv")
    out = tmp_path / "o.csv"
    _, _, err = run(capsys, "predict", model_file, tmp_path / "one.csv", "-o", out)
    assert err == f"Predicted 1 row and wrote {out}\n"


def test_json_and_predictions_on_standard_output_are_wrong_usage(capsys, csv, model_file):
    assert run(capsys, "predict", model_file, csv, "-o", "-", "--json")[:2] == (2, "")


def test_multi_label_models_are_rejected(capsys, csv, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    DirectBoostMultiLabelClassifier().fit(X, (X > 0).astype(int)).save(tmp_path / "m.json")
    for command, more in (("predict", ("-o", "-")), ("evaluate", ("--target", "Art"))):
        assert "is a multi-label model" in error_line(
            capsys, command, tmp_path / "m.json", csv, *more
        )
