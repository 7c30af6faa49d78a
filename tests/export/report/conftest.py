"""Fitted models, and a browser that opens their pages."""

import shutil
from types import SimpleNamespace

import pytest

from directboost import DirectBoostClassifier
from directboost.export.report import write_report
from tests.export.report.models import DIGITS, EVIL, WINE, WINE_NAMES, colours

_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="session")
def wine():
    return DirectBoostClassifier(nu=0.01).fit(WINE.data, WINE_NAMES)


@pytest.fixture(scope="session")
def digits():
    """Fit on half of the digits; the others are for the page."""
    return DirectBoostClassifier(nu=0.01).fit(DIGITS.data[::2], DIGITS.target[::2])


@pytest.fixture(scope="session")
def coloured():
    X, y = colours()
    return DirectBoostClassifier(nu=0.01).fit(X, y), X, y


@pytest.fixture(scope="session")
def paired():
    """Pairs of numbers, of a category, and of a feature with missing values."""
    X, y = colours(600)
    return DirectBoostClassifier(learner="pair", nu=0.005).fit(X, y), X, y


@pytest.fixture(scope="session")
def evil():
    """Classes and features whose names are HTML."""
    X = WINE.data.iloc[:, :4].set_axis(EVIL, axis=1)
    y = WINE.target.map(dict(enumerate(EVIL)))
    return DirectBoostClassifier(nu=0.01).fit(X, y), X, y


@pytest.fixture(scope="session")
def browser():
    """Return a running Chromium, or skip."""
    names = ("chromium", "chromium-browser", "google-chrome")
    binary = next(filter(None, map(shutil.which, names)), None)
    if binary is None:
        pytest.skip("no Chromium: run scripts/install-chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=binary, args=_FLAGS)
        yield running
        running.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Write and open the page of a model; errors, dialogs and requests fail the test.

    `visit.complaints` are the messages of the browser; a test that expects some removes them.
    """
    requests, complaints = [], []

    def go(model, X, y, *, width=1180, scheme="light", **texts):
        path = tmp_path / f"page{len(list(tmp_path.iterdir()))}.html"
        write_report(model, path, X, y, **texts)
        page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("#steps svg, #scores .score")
        return page

    wrapped = SimpleNamespace(complaints=complaints, page=go)
    yield wrapped
    for context in browser.contexts:
        context.close()
    assert complaints == []
    assert all(url.startswith("file:") for url in requests)
