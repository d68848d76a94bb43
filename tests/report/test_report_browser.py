"""The page in a real browser: one headless Chromium for all tests of this file."""

import json
import shutil

import pytest

from paramhs.core.costs import Runtime
from paramhs.core.runs import Status
from paramhs.core.space import Space
from paramhs.report.files import write_report
from paramhs.report.page import PageOptions
from tests.support.pages import HEADINGS, HOSTILE, made, plain

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM or not DRIVER:
        pytest.skip("Chromium and its driver are not installed (Debian: chromium, chromium-driver)")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    except Exception as error:  # whatever a machine may lack for a browser
        pytest.skip(f"Chromium does not start here: {error}")
    try:
        yield driver
    finally:
        driver.quit()


def shown(browser, path, width=1200, mode="light"):
    """Open a page; what it has asked for besides itself."""
    features = [{"name": "prefers-color-scheme", "value": mode}]
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(path.as_uri())
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"
    ]
    return [url for url in asked if url != path.as_uri()]


def ask(browser, script):
    return browser.execute_script(f"return {script}")


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    """A page on which everything has a name that wants to be more than a name."""
    long = HOSTILE[2]
    space = Space(
        {
            HOSTILE[0]: (0.0, 1.0),
            HOSTILE[1]: (1, 9),
            HOSTILE[3]: [*HOSTILE],
            long: ["a", long + "2"],
        }
    )

    def answer(config, pair, rng):
        if rng.random() < 0.1:
            return Status.TIMEOUT, 5.0, None
        if config[long] != "a" and rng.random() < 0.9:
            return Status.CRASHED, 0.1, None
        return Status.OK, plain(config, pair, rng)[2], None

    result = made(
        answer,
        space=space,
        instances=HOSTILE,
        metric=Runtime(),
        cutoff=5.0,
        target={"command": "<script>alert(1)</script> <img>", "style": "Style()"},
    )
    return write_report(
        result, tmp_path_factory.mktemp("page") / "runs.html", PageOptions(name=HOSTILE[0])
    )[0]


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("mode", ["light", "dark"])
class TestHostile:
    def test_nothing_runs_loads_or_breaks(self, browser, hostile_page, width, mode):
        assert shown(browser, hostile_page, width, mode) == []
        assert browser.get_log("browser") == []
        assert ask(browser, "document.scripts.length + document.images.length") == 0
        assert "<script>" in browser.title
        headings = "[...document.querySelectorAll('h2')].map(h => h.textContent)"
        assert ask(browser, headings) == HEADINGS

    def test_nothing_is_wider_than_the_window(self, browser, hostile_page, width, mode):
        shown(browser, hostile_page, width, mode)
        assert ask(browser, "document.documentElement.scrollWidth") <= width
        outside = """[...document.querySelectorAll('svg')]
            .filter(s => s.getBoundingClientRect().right > innerWidth + 1).length"""
        assert ask(browser, outside) == 0

    def test_texts_of_pictures_do_not_leave_them(self, browser, hostile_page, width, mode):
        shown(browser, hostile_page, width, mode)
        cut = """[...document.querySelectorAll('svg text')].filter(t => {
            const own = t.getBoundingClientRect(), all = t.ownerSVGElement.getBoundingClientRect();
            return own.left < all.left - 1 || own.right > all.right + 1;
        }).map(t => t.textContent)"""
        assert ask(browser, cut) == []

    def test_texts_can_be_read(self, browser, hostile_page, width, mode):
        """A contrast of at least 4.5 to 1, as the WCAG ask for."""
        shown(browser, hostile_page, width, mode)
        low = """(() => {
            const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
                .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
            const paper = light(getComputedStyle(document.body).backgroundColor);
            const apart = c => { const l = light(c);
                return (Math.max(l, paper) + 0.05) / (Math.min(l, paper) + 0.05); };
            const texts = [...document.querySelectorAll('svg text, p, td, th, h2, a, figcaption')];
            return texts.filter(t => { const s = getComputedStyle(t);
                return apart(t instanceof SVGElement ? s.fill : s.color) < 4.5; })
                .map(t => t.textContent);
        })()"""
        assert ask(browser, low) == []


def test_what_is_copied_is_the_command(browser, hostile_page):
    shown(browser, hostile_page)
    copied = """(() => { const found = getSelection();
        found.selectAllChildren(document.querySelector('pre')); return found.toString(); })()"""
    assert ask(browser, copied) == "'<script>alert(1)</script>' '<img>'"
