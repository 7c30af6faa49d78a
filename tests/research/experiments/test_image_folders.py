"""Images that a user supplies."""

import os

import numpy as np
import pytest
from skimage.io import imsave

from directboost.research.experiments.images import (
    draw_files,
    enough,
    image_files,
    ink,
    lacking,
    mark_of,
    read_images,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DIRECTBOOST_DATA", str(tmp_path))
    for label, count in (("b", 3), ("a", 2)):
        (tmp_path / "set" / label).mkdir(parents=True)
        for n in range(count):
            image = np.full((20, 10, 3), 40 * n + 1, dtype=np.uint8)
            imsave(tmp_path / "set" / label / f"{n}.png", image, check_contrast=False)
    (tmp_path / "set" / "a" / "notes.txt").write_text("no image")
    (tmp_path / "set" / "empty").mkdir()
    return tmp_path / "set"


@pytest.mark.usefixtures("folder")
def test_files_by_class():
    found = image_files("set")
    assert {label: len(files) for label, files in found.items()} == {"a": 2, "b": 3}
    assert list(found) == ["a", "b"]


def test_missing_images_are_reported(folder, monkeypatch):
    assert lacking("set", 2, 2) is None
    reason = lacking("set", 2, 3)
    assert f"the directory {folder}: one subdirectory per class" in reason
    assert "2 of them with at least 3 images (found: 1)" in reason
    assert "(found: 0)" in lacking("other", 1, 1)
    monkeypatch.delenv("DIRECTBOOST_DATA")
    assert "the directory set below DIRECTBOOST_DATA, which is not set" in lacking("set", 2, 2)


def test_classes_with_too_few_images_are_left_out(folder):
    assert list(enough("set", 3)) == ["b"]


def test_a_mark_changes_with_the_images(folder):
    before = mark_of("set")
    assert mark_of("set") == before
    image = next(iter(image_files("set")["a"]))
    content = image.read_bytes()
    image.write_bytes(content + b" ")
    assert mark_of("set") != before
    image.write_bytes(content)
    os.utime(image, ns=(0, 0))
    assert mark_of("set") != before
    with_another = mark_of("set")
    image.rename(image.with_name("z.png"))
    assert mark_of("set") != with_another


def test_an_image_that_cannot_be_read_is_named(folder):
    image = next(iter(image_files("set")["a"]))
    image.write_bytes(b"no image")
    with pytest.raises(ValueError, match=rf"{image.name} cannot be read as an image: "):
        read_images([image], 8)


def test_drawn_files(folder):
    files, codes = draw_files(image_files("set"), 2, np.random.default_rng(0))
    assert [path.parent.name for path in files] == ["a", "a", "b", "b"]
    np.testing.assert_array_equal(codes, [0, 0, 1, 1])
    assert len(set(files)) == 4


def test_all_kinds_of_images_are_read(folder):
    grey = np.full((9, 9), 51, dtype=np.uint8)
    clear = np.zeros((9, 9, 4), dtype=np.uint8)  # nothing drawn: white as on paper
    for name, image in (("grey", grey), ("clear", clear)):
        imsave(folder / f"{name}.png", image, check_contrast=False)
    images = read_images([folder / "grey.png", folder / "clear.png", folder / "b" / "1.png"], 6)
    assert images.shape == (3, 6, 6, 3)
    np.testing.assert_allclose(images[0], 0.2)
    np.testing.assert_allclose(images[1], 1.0)
    np.testing.assert_allclose(images[2], 41 / 255)


def test_ink_is_bright():
    stroke = np.zeros((10, 10, 3))
    stroke[3:7, 4:6] = 1.0
    found = ink(np.stack([stroke, 1.0 - stroke]))
    np.testing.assert_allclose(found[0], stroke[..., 0])
    np.testing.assert_allclose(found[1], stroke[..., 0])
