"""`directboost inspect` and `directboost export`."""

import copy
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from directboost.baselines import AdaBoostMH
from tests.cli.running import error_line, run, run_json


def test_inspect_prints_the_summary_and_the_rounds(capsys, model, model_file):
    code, out, err = run(capsys, "inspect", model_file, "--rules", 2)
    assert (code, err) == (0, "")
    assert out.startswith(model.summary(2) + "\n")
    last = model.history_[-1]
    assert last.primal != model.certificate_.primal
    *_, round_line, closing = out.splitlines()
    assert round_line.split()[:2] == [str(last.round), str(last.learners)]
    assert closing.startswith("After the last round, the model was reduced within tol")


def test_no_note_if_the_model_is_that_of_the_last_round(capsys, model, tmp_path):
    """The certificate then belongs to the last line."""
    twin = copy.deepcopy(model)
    twin.history_[-1] = replace(twin.history_[-1], primal=twin.certificate_.primal)
    twin.save(tmp_path / "twin.json")
    _, out, _ = run(capsys, "inspect", tmp_path / "twin.json")
    assert out.splitlines()[-1].split()[0] == str(model.history_[-1].round)


def test_json_contains_the_figures_of_the_model(capsys, model, model_file):
    facts = run_json(capsys, "inspect", model_file, "--rules", 3)
    assert facts["certificate"]["relative_gap"] == model.certificate_.relative_gap
    assert facts["classes"] == ["Birke", "Erle", "Żywiec"]
    assert facts["n_learners"] == model.n_learners_
    assert len(facts["rules"]) == 3
    strongest = model.weights_[np.argmax(model.weights_.sum(axis=1))]
    assert list(facts["rules"][0]["votes"].values()) == strongest[strongest > 0].tolist()
    assert [record["round"] for record in facts["history"]] == [r.round for r in model.history_]


def test_inspect_a_baseline(capsys, table, tmp_path):
    X = table.select(pl.col("height").fill_null(0.0), "noise")
    AdaBoostMH(n_rounds=5).fit(X, table["Art"].to_numpy()).save(tmp_path / "b.json")
    code, out, _ = run(capsys, "inspect", tmp_path / "b.json")
    assert code == 0
    assert out.startswith("AdaBoostMH: 5 weak classifiers on ")
    assert run_json(capsys, "inspect", tmp_path / "b.json")["kind"] == "AdaBoostMH"


def test_c_code_equals_that_of_the_model(capsys, model, model_file, tmp_path):
    out = tmp_path / "tree_kinds.h"
    options = ("--to", "c", "-o", out, "--dtype", "float64", "--name", "trees")
    assert run_json(capsys, "export", model_file, *options)["bytes"] == out.stat().st_size
    model.to_c(tmp_path / "twin.h", dtype="float64", name="trees")
    assert out.read_text("utf-8") == (tmp_path / "twin.h").read_text("utf-8")


def test_onnx_export_is_valid(capsys, tmp_path):
    onnx = pytest.importorskip("onnx")
    run_json(capsys, "fit", "iris", "-o", tmp_path / "m.json")
    code, out, err = run(
        capsys, "export", tmp_path / "m.json", "--to", "onnx", "-o", tmp_path / "m.onnx"
    )
    assert (code, out) == (0, "")
    assert "Wrote" in err
    onnx.checker.check_model(onnx.load(tmp_path / "m.onnx"))


def test_a_failed_onnx_export_leaves_the_old_file(capsys, tmp_path, monkeypatch):
    """The disk is full half way: the old file stays, and no temporary file is left."""
    pytest.importorskip("onnx")
    run_json(capsys, "fit", "iris", "-o", tmp_path / "m.json")
    (tmp_path / "m.onnx").write_text("before")

    def write_half(path, data):
        with path.open("wb") as stream:
            stream.write(data[: len(data) // 2])
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_bytes", write_half)
    options = ("--to", "onnx", "-o", tmp_path / "m.onnx")
    assert "no space left" in error_line(capsys, "export", tmp_path / "m.json", *options)
    assert (tmp_path / "m.onnx").read_text() == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"m.json", "m.onnx"}


def test_onnx_export_to_a_pipe(capsys, tmp_path):
    """A file that is not regular is written to, not replaced."""
    onnx = pytest.importorskip("onnx")
    run_json(capsys, "fit", "iris", "-o", tmp_path / "m.json")
    os.mkfifo(tmp_path / "p")
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit((tmp_path / "p").read_bytes)
        run(capsys, "export", tmp_path / "m.json", "--to", "onnx", "-o", tmp_path / "p")
        onnx.checker.check_model(onnx.load_from_string(read.result(timeout=30)))
    assert (tmp_path / "p").is_fifo()


def test_wrong_usage(capsys, model_file, tmp_path):
    options = ("--to", "onnx", "-o", tmp_path / "m.onnx", "--name", "x")
    assert run(capsys, "export", model_file, *options)[0] == 2
    assert run(capsys, "export", model_file, "--to", "cobol", "-o", tmp_path / "m")[0] == 2
    assert "The directory of" in error_line(
        capsys, "export", model_file, "--to", "c", "-o", tmp_path / "a" / "b.h"
    )


def test_a_file_that_is_not_a_model(capsys, tmp_path):
    (tmp_path / "m.json").write_text("{}")
    error_line(capsys, "inspect", tmp_path / "m.json")
    reason = error_line(capsys, "inspect", tmp_path / "n.json")
    assert f"{tmp_path / 'n.json'} does not exist; directboost fit -o writes a model file" in reason
