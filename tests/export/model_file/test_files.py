"""`save` replaces files atomically and writes readable text."""

import json
import os

import pytest

import directboost
from directboost.export.model_file import documents
from tests.export.model_file.models import fitted


def test_save_accepts_strings_and_paths_and_returns_the_path(tmp_path):
    for path in (tmp_path / "a.json", str(tmp_path / "b.json")):
        found = fitted("stumps").save(path)
        assert str(found) == str(path)
        assert directboost.load(path).n_learners_ == fitted("stumps").n_learners_
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "b.json"]


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_text("old", encoding="utf-8")

    def fail(descriptor):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="full"):
        fitted("stumps").save(path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]


def test_links_are_preserved(tmp_path):
    (tmp_path / "real.json").write_text("old", encoding="utf-8")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    fitted("stumps").save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert directboost.load(tmp_path / "real.json").n_learners_ > 0


def test_a_missing_directory_raises_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the directory .*nowhere' does not exist"):
        fitted("stumps").save(tmp_path / "nowhere" / "model.json")
    with pytest.raises(FileNotFoundError):
        directboost.load(tmp_path / "model.json")


def test_each_list_has_one_line(tmp_path):
    text = fitted("stumps").save(tmp_path / "model.json").read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines()]
    document = json.loads(text)
    assert f'"threshold": {json.dumps(document["learners"]["stump"]["threshold"])},' in lines
    assert lines[1] == '"format": "directboost model",'
    assert lines[-2].startswith('"checksum": "sha256:')


def test_invalid_documents_are_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "make_document", lambda model: {"format": "something else"})
    with pytest.raises(directboost.ModelFileError, match="the model cannot be saved: format"):
        fitted("stumps").save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_unfitted_estimators_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        directboost.DirectBoostClassifier().save(tmp_path / "model.json")
