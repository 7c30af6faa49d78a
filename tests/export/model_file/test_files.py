"""Files: written as a whole, where the user says, readable by a person."""

import json
import os

import pytest

import directboost
from directboost.export.model_file import documents as writing
from tests.export.model_file.models import fitted


def test_save_takes_texts_and_paths_and_returns_the_path(tmp_path):
    for path in (tmp_path / "a.json", str(tmp_path / "b.json")):
        found = fitted("stumps").save(path)
        assert str(found) == str(path)
        assert directboost.load(path).n_learners_ == fitted("stumps").n_learners_
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "b.json"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_text("old", encoding="utf-8")

    def fail(descriptor):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="full"):
        fitted("stumps").save(path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.json").write_text("old", encoding="utf-8")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    fitted("stumps").save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert directboost.load(tmp_path / "real.json").n_learners_ > 0


def test_a_missing_folder_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        fitted("stumps").save(tmp_path / "nowhere" / "model.json")
    with pytest.raises(FileNotFoundError):
        directboost.load(tmp_path / "model.json")


def test_lists_stand_on_one_line(tmp_path):
    text = fitted("stumps").save(tmp_path / "model.json").read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines()]
    document = json.loads(text)
    assert f'"threshold": {json.dumps(document["learners"]["stump"]["threshold"])},' in lines
    assert lines[1] == '"format": "directboost model",'
    assert lines[-2].startswith('"checksum": "sha256:')


def test_what_the_reader_would_refuse_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "document_of", lambda model: {"format": "something else"})
    with pytest.raises(directboost.ModelFileError, match="the model cannot be saved: format"):
        fitted("stumps").save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_an_estimator_without_a_fit_has_nothing_to_save(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        directboost.DirectBoostClassifier().save(tmp_path / "model.json")
