"""Data sets by name: shapes, splits, files, errors."""

import hashlib
import re
import warnings

import numpy as np
import pytest

from directboost import datasets
from directboost.datasets.files import SUMS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty directory that the loader uses."""
    monkeypatch.setenv("DIRECTBOOST_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def arrays(rng):
    """Return the arrays of a small file: two features, three classes of four rows."""
    return {
        "X": rng.integers(0, 9, (12, 2)).astype(np.uint8),
        "y": np.arange(12, dtype=np.uint8) % 3,
        "classes": np.array(["a", "b", "c"]),
    }


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    """Ignore the directory of the environment in which the tests run."""
    monkeypatch.delenv("DIRECTBOOST_DATA", raising=False)


@pytest.mark.parametrize(
    ("name", "shape", "k"),
    [
        ("digits", (1797, 64), 10),
        ("iris", (150, 4), 3),
        ("wine", (178, 13), 3),
        ("breast_cancer", (569, 30), 2),
        ("additive", (20_000, 20), 5),
        ("clusters", (2_200, 2), 4),
        ("rings", (2_100, 2), 6),
    ],
)
def test_data_sets_without_files(name, shape, k):
    data = datasets.load(name)
    assert data.X.shape == shape
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert data.y.shape == shape[:1]
    assert sorted(set(data.y)) == list(range(k))
    assert len(data.classes) == k
    assert len(data.feature_names) == shape[1]
    assert all(type(feature) is str for feature in data.feature_names)


def test_split_is_fixed_stratified_and_complete():
    data = datasets.load("wine")
    (X, y), (X_test, y_test) = data.train, datasets.load("wine").test
    assert y.size == 133
    assert y_test.size == 45
    shares = np.bincount(y_test) / np.bincount(data.y)
    np.testing.assert_allclose(shares, 0.25, atol=0.02)
    both = np.vstack([X, X_test])
    np.testing.assert_array_equal(np.sort(both, axis=0), np.sort(data.X, axis=0))
    np.testing.assert_array_equal(X, data.train[0])


def test_split_with_a_class_of_one_row():
    data = datasets.Dataset("x", np.zeros((9, 1)), np.array([0] * 8 + [1]), ["a", "b"], ("x0",))
    assert data.train[1].size + data.test[1].size == 9


def test_available(folder, arrays):
    own = ["digits", "iris", "wine", "breast_cancer", "additive", "clusters", "rings"]
    assert datasets.available() == own
    for name in ("zoo", "iris", "ant"):
        np.savez(folder / f"{name}.npz", **arrays)
    assert datasets.available() == [*own, "ant", "zoo"]


def test_file(folder, arrays):
    names = np.array(["left", "right"])
    np.savez(folder / "small.npz", **arrays, X_scale=0.5, feature_names=names)
    data = datasets.load("small")
    np.testing.assert_array_equal(data.X, arrays["X"] * 0.5)
    np.testing.assert_array_equal(data.y, arrays["y"])
    assert data.X.flags.c_contiguous
    assert data.X.dtype == np.float64
    assert list(data.classes) == ["a", "b", "c"]
    assert data.feature_names == ("left", "right")
    assert data.split is None
    assert data.categorical_features == ()
    assert data.extra == {}


def test_other_arrays_of_a_file(folder, arrays):
    np.savez(folder / "small.npz", **arrays, hue=np.arange(12), categorical_features=np.array([1]))
    data = datasets.load("small")
    assert data.categorical_features == (1,)
    assert list(data.extra) == ["hue"]
    np.testing.assert_array_equal(data.extra["hue"], np.arange(12))


def test_stored_split_leaves_other_rows_out(folder, arrays):
    split = np.array([0, 0, 0, 1, 1, 2] * 2)
    np.savez(folder / "small.npz", **arrays, split=split)
    data = datasets.load("small")
    np.testing.assert_array_equal(data.train[0], arrays["X"][split == 0])
    np.testing.assert_array_equal(data.test[1], arrays["y"][split == 1])


def test_cover_type_is_split_by_quarters(folder, arrays):
    np.savez(folder / "covtype.npz", **arrays, split=np.arange(12))
    with pytest.warns(UserWarning, match="it is not the file"):
        data = datasets.load("covtype")
    assert data.train[1].size == 9
    assert data.test[1].size == 3


def test_several_labels(folder, arrays):
    arrays["y"] = np.eye(3, dtype=np.uint8)[arrays["y"]]
    np.savez(folder / "many.npz", **arrays)
    data = datasets.load("many")
    assert data.y.shape == (12, 3)
    assert data.train[1].shape == (9, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classes": None}, "no array 'classes'; it has X, y"),
        ({"X": np.zeros(12)}, r"X has the shape \(12,\)"),
        ({"y": np.zeros(11, dtype=int)}, r"y has the shape \(11,\), not \(12,\) or \(12, 3\)"),
        ({"y": np.full(12, 3)}, "y must contain integers from 0 to 2"),
        ({"y": np.full((12, 3), 2)}, "y must contain integers from 0 to 1"),
        ({"y": np.zeros(12)}, "y must contain integers"),
        ({"split": np.zeros(3)}, r"split has the shape \(3,\), not \(12,\)"),
        ({"feature_names": np.array(["a"])}, "feature_names has the shape"),
    ],
)
def test_invalid_files(folder, arrays, change, message):
    stored = {key: value for key, value in (arrays | change).items() if value is not None}
    np.savez(folder / "bad.npz", **stored)
    with pytest.raises(ValueError, match=message):
        datasets.load("bad")


def test_arrays_of_objects_are_rejected(folder, arrays):
    np.savez(folder / "bad.npz", **arrays | {"classes": np.array([{}, {}, {}], dtype=object)})
    with pytest.raises(ValueError, match=r"bad\.npz cannot be read"):
        datasets.load("bad")


def test_a_file_that_is_not_an_archive(folder):
    (folder / "bad.npz").write_text("nothing")
    with pytest.raises(ValueError, match=r"bad\.npz cannot be read"):
        datasets.load("bad")


def test_unknown_names_are_rejected_with_a_list(folder):
    with pytest.raises(
        ValueError, match="name='nosuch' is not a data set; available data sets: digits, iris"
    ):
        datasets.load("nosuch")


def test_data_sets_of_openml_are_suggested_but_not_downloaded():
    message = "set DIRECTBOOST_DATA to a directory with more; 'openml:letter' loads it from OpenML"
    with pytest.raises(ValueError, match=message):
        datasets.load("letter")


def sum_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("form", ["{total}  small.npz", "{total} *./small.npz"])
def test_listed_checksum(folder, arrays, form):
    path = folder / "small.npz"
    np.savez(path, **arrays)
    lines = ["0" * 64 + "  other.npz", form.format(total=sum_of(path)), ""]
    (folder / "SHA256SUMS").write_text("\n".join(lines))
    assert datasets.load("small").X.shape == (12, 2)
    path.write_bytes(path.read_bytes() + b"x")
    message = rf"small\.npz has the SHA-256 checksum {sum_of(path)}, expected .*SHA256SUMS\)"
    with pytest.raises(ValueError, match=message):
        datasets.load("small")


def test_a_file_that_is_not_listed_is_read(folder, arrays):
    np.savez(folder / "small.npz", **arrays)
    (folder / "SHA256SUMS").write_text("0" * 64 + "  other.npz\n")
    assert datasets.load("small").X.shape == (12, 2)


def test_a_file_that_differs_from_the_experiments_gives_a_warning(folder, arrays):
    path = folder / "vowel.npz"
    np.savez(path, **arrays)
    message = f"{sum_of(path)}, expected {SUMS['vowel']}: it is not the file"
    with pytest.warns(UserWarning, match=message) as found:
        assert datasets.load("vowel").X.shape == (12, 2)
    assert found[0].filename == __file__
    (folder / "SHA256SUMS").write_text(f"{sum_of(path)}  vowel.npz\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        datasets.load("vowel")


def test_the_checksum_of_a_data_set(folder, arrays):
    np.savez(folder / "small.npz", **arrays)
    assert datasets.checksum("small") == sum_of(folder / "small.npz")
    np.savez(folder / "iris.npz", **arrays)
    for name in ("iris", "rings", "nothing"):  # embedded, generated, unknown
        assert datasets.checksum(name) is None


def test_known_checksums_belong_to_data_sets_from_files():
    assert all(re.fullmatch("[0-9a-f]{64}", total) for total in SUMS.values())
    assert not SUMS.keys() & set(datasets.available())


def test_missing_directory(monkeypatch, tmp_path):
    monkeypatch.setenv("DIRECTBOOST_DATA", str(tmp_path / "gone"))
    with pytest.raises(ValueError, match=r"DIRECTBOOST_DATA='.*gone' is not a directory"):
        datasets.load("letter")


def test_additive_data_depend_on_ten_features():
    """Labels depend on the informative features, but not on the noise features."""
    data = datasets.additive(m=20_000, d=12, k=3, seed=1)
    bins = [np.bincount((data.X[:, f] * 8).astype(int), data.y == 0, 8) for f in range(12)]
    spread = np.array([b.std() / b.mean() for b in bins])
    assert spread[10:].max() < 0.08
    assert np.sort(spread[:10])[3:].min() > 0.08
    assert np.bincount(data.y).min() > 2_000


def test_additive_depends_on_its_seed_only():
    first, again = datasets.additive(50, 3, 2, seed=1), datasets.additive(50, 3, 2, seed=1)
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.X, datasets.additive(50, 3, 2, seed=2).X)


@pytest.mark.parametrize("bad", [{"m": 0}, {"d": 0}, {"k": 1}])
def test_additive_rejects_invalid_sizes(bad):
    ((name, value),) = bad.items()
    with pytest.raises(ValueError, match=f"{name}={value} is invalid"):
        datasets.additive(**bad)


def test_rings_lie_between_their_radii():
    data = datasets.rings(seed=3)
    radius = np.hypot(*data.X.T)
    assert ((data.y <= radius) & (radius < data.y + 1)).all()
    for _, y in (data.train, data.test):
        assert np.bincount(y).tolist() == [50, 100, 150, 200, 250, 300]
    assert not np.array_equal(data.X, datasets.rings(seed=4).X)


def test_clusters_lie_around_their_centres():
    data = datasets.clusters(seed=3)
    assert np.bincount(data.train[1]).tolist() == [50] * 4
    assert np.bincount(data.test[1]).tolist() == [500] * 4
    centres = np.array([data.X[data.y == c].mean(axis=0) for c in range(4)])
    np.testing.assert_allclose(centres, [[-2, 1.5], [1.5, 2], [-1, -2], [2, -1.5]], atol=0.2)
    assert not np.array_equal(data.X, datasets.clusters(seed=4).X)
