"""`directboost inspect` and `directboost export`."""

import numpy as np
import polars as pl
import pytest

from directboost.baselines import AdaBoostMH
from tests.cli.running import answer, leave, refusal


def test_the_words_are_the_summary_and_the_rounds(capsys, model, model_file):
    code, out, err = leave(capsys, "inspect", model_file, "--rules", 2)
    assert (code, err) == (0, "")
    assert out.startswith(model.summary(2) + "\n")
    last = model.history_[-1]
    assert out.splitlines()[-1].split()[:2] == [str(last.round), str(last.columns)]


def test_the_facts_are_those_of_the_model(capsys, model, model_file):
    facts = answer(capsys, "inspect", model_file, "--rules", 3)
    assert facts["certificate"]["relative_gap"] == model.certificate_.relative_gap
    assert facts["classes"] == ["Birke", "Erle", "Żywiec"]
    assert facts["n_learners"] == model.n_learners_
    assert len(facts["rules"]) == 3
    strongest = model.coef_[np.argmax(model.coef_.sum(axis=1))]
    assert list(facts["rules"][0]["votes"].values()) == strongest[strongest > 0].tolist()
    assert [record["round"] for record in facts["history"]] == [r.round for r in model.history_]


def test_a_baseline_has_words_too(capsys, table, tmp_path):
    X = table.select(pl.col("height").fill_null(0.0), "noise")
    AdaBoostMH(n_rounds=5).fit(X, table["Art"].to_numpy()).save(tmp_path / "b.json")
    code, out, _ = leave(capsys, "inspect", tmp_path / "b.json")
    assert code == 0
    assert out.startswith("AdaBoostMH: 5 weak classifiers on ")
    assert answer(capsys, "inspect", tmp_path / "b.json")["kind"] == "AdaBoostMH"


def test_c_code_is_that_of_the_model(capsys, model, model_file, tmp_path):
    out = tmp_path / "tree_kinds.h"
    words = ("--to", "c", "-o", out, "--dtype", "float64", "--name", "trees")
    assert answer(capsys, "export", model_file, *words)["bytes"] == out.stat().st_size
    model.to_c(tmp_path / "twin.h", dtype="float64", name="trees")
    assert out.read_text("utf-8") == (tmp_path / "twin.h").read_text("utf-8")


def test_onnx_is_that_of_the_model(capsys, tmp_path):
    onnx = pytest.importorskip("onnx")
    answer(capsys, "fit", "iris", "-o", tmp_path / "m.json")
    code, out, err = leave(
        capsys, "export", tmp_path / "m.json", "--to", "onnx", "-o", tmp_path / "m.onnx"
    )
    assert (code, out) == (0, "")
    assert "wrote" in err
    onnx.checker.check_model(onnx.load(tmp_path / "m.onnx"))


def test_wrong_usage(capsys, model_file, tmp_path):
    words = ("--to", "onnx", "-o", tmp_path / "m.onnx", "--name", "x")
    assert leave(capsys, "export", model_file, *words)[0] == 2
    assert leave(capsys, "export", model_file, "--to", "cobol", "-o", tmp_path / "m")[0] == 2
    assert "folder" in refusal(
        capsys, "export", model_file, "--to", "c", "-o", tmp_path / "a" / "b.h"
    )


def test_a_file_that_is_no_model(capsys, tmp_path):
    (tmp_path / "m.json").write_text("{}")
    refusal(capsys, "inspect", tmp_path / "m.json")
    assert "no model file" in refusal(capsys, "inspect", tmp_path / "n.json")
