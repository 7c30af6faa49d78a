"""Data sets from OpenML, with the responses that scikit-learn recorded for its tests."""

import io
import re
from http.client import IncompleteRead
from pathlib import Path
from urllib.error import HTTPError, URLError

import numpy as np
import pytest
import sklearn.datasets

from directboost import datasets
from directboost.datasets import openml

RECORDS = Path(sklearn.datasets.__file__).parent / "tests" / "data" / "openml"
#: Addresses, and the names that scikit-learn has for the answers.
FORMS = [
    (r"/api/v1/json/data/(\d+)", r"api-v1-jd-\1"),
    (r"/api/v1/json/data/(features|qualities)/(\d+)", r"api-v1-jd\1-\2"),
    (r"/data/v1/download/(\d+)/.*", r"data-v1-dl-\1"),
]


class Answer(io.BytesIO):
    """A response of `urlopen`: a stream with headers."""

    def info(self):
        return {"Content-Encoding": "gzip"}


def record(address):
    """Return the recorded response for an address."""
    path = "/" + address.split("/", 3)[3]
    form, name = next((form, name) for form, name in FORMS if re.fullmatch(form, path))
    stem = re.sub(form, name, path).replace("features", "f").replace("qualities", "q")
    (file,) = RECORDS.glob(f"*/{stem}.*")
    return file.read_bytes()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DIRECTBOOST_CACHE", str(tmp_path))
    monkeypatch.delenv("DIRECTBOOST_DATA", raising=False)
    return tmp_path / "openml"


@pytest.fixture
def asked(monkeypatch):
    """Use the recorded responses; return the list of requested addresses."""
    addresses = []

    def urlopen(request, *args, **kwargs):
        addresses.append(request.full_url)
        return Answer(record(request.full_url))

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", urlopen)
    return addresses


def cut(monkeypatch, error):
    """Make every request fail with an error."""

    def urlopen(request, *args, **kwargs):
        raise error

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", urlopen)
    monkeypatch.setattr("sklearn.datasets._openml.time.sleep", lambda seconds: None)


def test_iris(asked):
    """The rows are those of scikit-learn, except for the two that it corrected."""
    data, own = datasets.load("openml:iris"), datasets.load("iris")
    assert data.name == "openml:iris"
    assert (data.X != own.X).any(axis=1).sum() <= 2
    np.testing.assert_array_equal(data.y, own.y)
    assert data.classes.tolist() == ["Iris-setosa", "Iris-versicolor", "Iris-virginica"]
    assert data.feature_names == ("sepallength", "sepalwidth", "petallength", "petalwidth")
    assert data.categorical_features == ()
    assert data.split is None


def test_downloaded_data_are_cached(asked, cache):
    first = datasets.load("openml:iris")
    count = len(asked)
    assert [path.name for path in cache.iterdir()] == ["61.npz"]
    again = datasets.load("openml:61")
    assert len(asked) == count > 0
    np.testing.assert_array_equal(again.X, first.X)
    assert again.name == "openml:61"


def test_categories_are_codes_of_their_levels(asked):
    """Set 2 has 11 recorded rows; ? is a missing value, classes are 1, 2, 3, 4, 5 and U."""
    data = datasets.load("openml:2")
    assert data.X.dtype == np.float64
    assert data.X.shape == (11, 38)
    place = data.feature_names.index("steel")
    assert place in data.categorical_features
    # The last rows have A, R, A and R of the levels R, A, U, K, M, S, W, V.
    levels = ["R", "A", "U", "K", "M", "S", "W", "V"]
    assert data.X[-4:, place].tolist() == [levels.index(level) for level in "ARAR"]
    assert np.isnan(data.X[:, data.feature_names.index("family")]).all()
    assert data.feature_names.index("thick") not in data.categorical_features
    assert data.X[-4:, data.feature_names.index("thick")].tolist() == [3.3, 0.699, 1.0, 1.2]
    assert set(data.classes[data.y]) <= set("12345U")


def test_several_targets(asked):
    data = datasets.load("openml:40589")
    assert data.y.shape == (13, 6)
    assert data.y[-1].tolist() == [1, 0, 0, 0, 0, 0]
    assert data.classes[0] == "amazed.suprised"
    assert data.X.shape == (13, 72)


def test_numeric_labels_are_sorted_as_numbers():
    class Bunch:
        target = np.array([10.0, 9.0, 2.0, 10.0])

    y, classes = openml._labels("x", Bunch)
    assert classes.tolist() == ["2.0", "9.0", "10.0"]
    assert y.tolist() == [2, 1, 0, 2]


def test_several_targets_must_be_binary():
    class Bunch:
        target = np.array([["red", "1"], ["blue", "0"]])

    with pytest.raises(ValueError, match="openml:x: 'red' of several targets is not yes or no"):
        openml._labels("x", Bunch)


def test_without_a_network(monkeypatch, cache):
    cut(monkeypatch, URLError("no route"))
    with pytest.warns(UserWarning, match="network error"), pytest.raises(ConnectionError) as found:
        datasets.load("openml:letter")
    text = str(found.value)
    assert "\n" not in text
    assert text.startswith(f"openml:letter (data_id 6) is not in the cache {cache} and OpenML")
    assert "OpenML cannot be reached (<urlopen error no route>)" in text
    assert "set DIRECTBOOST_CACHE to another cache" in text
    assert "DIRECTBOOST_DATA" in text
    assert not cache.exists()


def test_an_incomplete_response(monkeypatch, cache):
    cut(monkeypatch, IncompleteRead(b"half"))
    with (
        pytest.warns(RuntimeWarning, match="corrupted"),
        pytest.raises(ConnectionError, match=r"cannot be reached \(IncompleteRead\(4 bytes read"),
    ):
        datasets.load("openml:letter")
    assert not cache.exists()


def test_an_error_response(monkeypatch):
    cut(monkeypatch, HTTPError("https://x", 503, "busy", {}, io.BytesIO()))
    with (
        pytest.warns(UserWarning, match="network error"),
        pytest.raises(ConnectionError, match="OpenML responds with HTTP Error 503: busy"),
    ):
        datasets.load("openml:letter")


def test_unknown_numbers(monkeypatch):
    cut(monkeypatch, HTTPError("https://x", 412, "none", {}, io.BytesIO()))
    with pytest.raises(ValueError, match=r"openml:7 \(data_id 7\) cannot be read: .*not found"):
        datasets.load("openml:7")


@pytest.mark.parametrize("name", ["nosuch", "", "-1"])
def test_unknown_names(name):
    message = f"name='openml:{name}' is invalid: .* a number of OpenML .* one of covtype, dna"
    with pytest.raises(ValueError, match=message):
        datasets.load(f"openml:{name}")


def test_the_default_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("DIRECTBOOST_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert openml.cache_folder() == tmp_path / "directboost" / "openml"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert openml.cache_folder() == tmp_path / ".cache" / "directboost" / "openml"


def test_a_truncated_file_of_the_cache_is_named(asked, cache):
    datasets.load("openml:iris")
    path = cache / "61.npz"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(
        ValueError, match=r"61\.npz cannot be read .*; delete the file to download it"
    ):
        datasets.load("openml:iris")


def test_a_truncated_file_of_the_directory_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("DIRECTBOOST_DATA", str(tmp_path))
    np.savez(tmp_path / "own.npz", X=np.zeros((9, 2)), y=np.zeros(9, int), classes=np.array(["a"]))
    whole = (tmp_path / "own.npz").read_bytes()
    (tmp_path / "own.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"own\.npz cannot be read as a data set: File is not"):
        datasets.load("own")


def test_centres_and_deviations_of_the_clusters():
    """The standardised rows of every cluster have mean 0 and standard deviation 1."""
    data = datasets.clusters(seed=5)
    unit = (data.X - data.extra["centres"][data.y]) / data.extra["deviations"][data.y, None]
    for c in range(4):
        np.testing.assert_allclose(unit[data.y == c].mean(axis=0), 0.0, atol=0.15)
        np.testing.assert_allclose(unit[data.y == c].std(axis=0), 1.0, atol=0.1)
