"""The page in a real browser."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from tests.bridge.serve.serving import Running, serving, tensor

pytestmark = pytest.mark.slow

OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1280,1400",
    ),
)
EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    driver = shutil.which("chromedriver")
    assert driver, "chromedriver is missing (Debian: apt-get install chromium chromium-driver)"
    os.environ["SE_OFFLINE"] = "true"
    profile = tempfile.mkdtemp()
    options = webdriver.ChromeOptions()
    for one in (*OPTIONS, f"--user-data-dir={profile}"):
        options.add_argument(one)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options, webdriver.ChromeService(driver))
    try:
        yield chrome
    finally:
        chrome.quit()
        shutil.rmtree(profile, ignore_errors=True)


class Page:
    """What a person does on the page."""

    def __init__(self, browser: webdriver.Chrome, url: str) -> None:
        self.browser = browser
        browser.get("about:blank")
        browser.get_log("browser")  # what a page before this one left
        browser.get(url)

    def wait(self, for_what: Callable[[], Any]) -> Any:
        return WebDriverWait(self.browser, 20).until(lambda _: for_what())

    def find(self, selector: str) -> WebElement:
        return self.wait(lambda: next(iter(self.browser.find_elements(By.CSS_SELECTOR, selector)), None))

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def open(self, model: str, way: str) -> None:
        item = f"//li[.//strong[text()='{model}']]//button[starts-with(., '{way}')]"
        self.wait(lambda: self.browser.find_elements(By.XPATH, item))[0].click()
        self.wait(lambda: model in self.find("#work").text)

    def send(self) -> str:
        self.browser.execute_script("document.querySelector('.answer').replaceChildren()")
        self.find("#work button.main").click()
        self.wait(lambda: self.find(".answer").text)
        return self.find(".answer").text

    def raw(self) -> Any:
        return json.loads(self.find(".answer pre.raw").get_attribute("textContent") or "")

    def errors(self) -> list[str]:
        return [one["message"] for one in self.browser.get_log("browser") if one["level"] == "SEVERE"]


@pytest.fixture
def page(browser: webdriver.Chrome, server: Running) -> Iterator[Page]:
    page = Page(browser, server.url)
    yield page
    assert page.errors() == []


def test_models_and_functions_are_listed(page: Page) -> None:
    page.open("digits", "inference")
    assert [one.text for one in page.all("#models strong")] == ["digits", "functions"]
    buttons = [one.text for one in page.all("#models button")]
    assert buttons[0] == "inference"
    assert "greet(name, n)" in buttons


def test_inference_gives_what_a_request_gives(page: Page, server: Running) -> None:
    page.open("digits", "inference")
    page.browser.find_element(By.XPATH, "//button[text()='Random']").click()
    x = json.loads(page.find("#work textarea").get_property("value"))
    assert "answered in" in page.send()
    there = server.post("/v2/models/digits/infer", {"inputs": [tensor("input", "FP32", [1, 64], x[0])]}).json
    assert np.allclose(page.raw()["outputs"][0]["data"], there["outputs"][0]["data"], atol=1e-6)
    most = int(np.argmax(there["outputs"][0]["data"]))
    assert f"the largest at {most}" in (page.find(".answer svg").get_attribute("aria-label") or "")
    assert len(page.all(".answer svg rect")) == 10


def test_a_picture_is_shown_and_sent(page: Page, tmp_path: Path) -> None:
    page.open("digits", "inference")
    gray = np.zeros((80, 80), np.uint8)
    gray[:, 40:] = 255
    Image.fromarray(gray).save(tmp_path / "half.png")
    page.find("#work input[type=file]").send_keys(str(tmp_path / "half.png"))
    page.wait(lambda: "half.png" in page.find("#work .field").text)
    x = np.reshape(json.loads(page.find("#work textarea").get_property("value")), (8, 8))
    assert x[:, :3].max() < 0.1
    assert x[:, 5:].min() > 0.9
    shown = page.browser.execute_script(
        "const c = document.querySelector('canvas'); return [...c.getContext('2d').getImageData(0, 0, 8, 8).data]"
    )
    assert np.allclose(np.reshape(shown, (8, 8, 4))[..., 0] / 255, x, atol=0.01)
    assert "answered in" in page.send()


@pytest.mark.parametrize("name", ["x.npy", "x.csv", "x.json"])
def test_files_of_numbers(page: Page, tmp_path: Path, name: str) -> None:
    page.open("digits", "inference")
    x = np.arange(128, dtype=np.float64).reshape(2, 64) / 8
    match name:
        case "x.npy":
            np.save(tmp_path / name, x)
        case "x.csv":
            np.savetxt(tmp_path / name, x, delimiter=",")
        case "x.json":
            (tmp_path / name).write_text(json.dumps(x.tolist()))
    page.find("#work input[type=file]").send_keys(str(tmp_path / name))
    page.wait(lambda: name in page.find("#work .field").text)
    assert np.array_equal(json.loads(page.find("#work textarea").get_property("value")), x)
    page.send()
    assert page.raw()["outputs"][0]["shape"] == [2, 10]


def test_functions_take_numbers_texts_and_json(page: Page) -> None:
    page.open("functions", "greet")
    name, times = page.all("#work textarea")
    name.send_keys("bob")
    times.send_keys("2", Keys.CONTROL, Keys.ENTER)
    page.wait(lambda: "hi bob hi bob" in page.find(".answer").text)
    page.open("functions", "first")
    one, other = page.all("#work textarea")
    Select(page.all("#work select")[0]).select_by_visible_text("JSON")
    Select(page.all("#work select")[1]).select_by_visible_text("text")
    one.send_keys('["a", "b"]')
    other.send_keys("7")
    page.send()
    assert page.raw() == {"result": ["a", "7"]}


def test_errors_are_told(page: Page) -> None:
    page.open("functions", "fail")
    page.find("#work textarea").send_keys("no such luck")
    assert page.send().startswith("422: ")
    assert "no such luck" in page.find(".answer .bad").text
    page.open("functions", "double")
    Select(page.find("#work select")).select_by_visible_text("number")
    page.find("#work textarea").send_keys("many")
    assert page.send() == "x: many is no number"
    assert any("422" in one for one in page.errors())  # the browser tells of the refusal, and of nothing else


def test_charts_of_nothing_go_from_0_to_1(page: Page) -> None:
    page.open("functions", "greet")
    page.wait(lambda: page.all("#live path.one"))
    queue = page.all("#live .chart svg")[3]
    assert [one.text for one in queue.find_elements(By.CSS_SELECTOR, "text")][:3] == ["0", "0.5", "1"]


def test_without_a_picture_numbers_begin_where_the_buttons_do(page: Page) -> None:
    page.open("digits", "inference")
    page.browser.execute_script(
        "const rows = document.querySelector('#work input.size'); rows.value = 2;"
        "for (const kind of ['input', 'change']) rows.dispatchEvent(new Event(kind, {bubbles: true}));"
    )
    page.wait(lambda: not page.all("#work canvas"))
    button = page.browser.find_element(By.XPATH, "//button[text()='Zeros']")
    assert page.find("#work textarea").rect["x"] == button.rect["x"]


@pytest.mark.long
def test_charts_go_on_while_requests_run(page: Page, server: Running) -> None:
    page.open("functions", "double")
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            server.post("/call/double", [2])

    thread = threading.Thread(target=work)
    thread.start()
    try:
        page.wait(lambda: len(page.all("#live .chart")) == 4)
        # Lines are drawn anew each second: what was found may be gone before it is asked.
        line = "return document.querySelector('#live path.one')?.getAttribute('d') ?? ''"
        page.wait(lambda: "L" in page.browser.execute_script(line))
        rate = page.find("#live .chart .now").text
        assert float(rate) > 0
    finally:
        done.set()
        thread.join(20)


def test_what_models_say_is_text(browser: webdriver.Chrome, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / f"{EVIL.replace('/', '')}.lua").write_text(
        f"function say(x) return {{['{EVIL}'] = '{EVIL}'}} end function fail(x) error('{EVIL}') end"
    )
    with serving(tmp_path, tmp_path / "models") as server:
        page = Page(browser, server.url)
        page.open(EVIL, "say")
        assert EVIL in page.send()
        page.open(EVIL, "fail")
        assert EVIL in page.send()
        assert page.all("#work img, #models img, .answer img") == []
        assert [one for one in page.errors() if "422" not in one] == []


@pytest.mark.long
def test_a_token_is_asked_for_once(browser: webdriver.Chrome, models: Path, tmp_path: Path) -> None:
    with serving(tmp_path, models / "functions.lua", environment={"MOONTIDE_TOKEN": "word"}) as server:
        page = Page(browser, server.url)
        page.wait(lambda: page.find("#token").is_displayed())
        page.find("#token").send_keys("word", Keys.ENTER)
        page.open("functions", "double")
        page.find("#work textarea").send_keys("21")
        page.send()
        assert page.raw() == {"result": 42}
        assert "Authorization: Bearer TOKEN" in (
            page.find(".answer > details pre").get_attribute("textContent") or ""
        )
        page.browser.get(server.url)
        page.open("functions", "double")
        assert not page.find("#token").is_displayed()
        page.errors()


def test_every_route_is_on_the_other_page(browser: webdriver.Chrome, server: Running) -> None:
    page = Page(browser, f"{server.url}/docs")
    document = server.get("/openapi.json").json
    wanted = sorted(path for path, methods in document["paths"].items() for _ in methods)
    page.wait(lambda: len(page.all("details.route")) == len(wanted))
    assert sorted(one.text for one in page.all("details.route summary code")) == wanted
    infer = next(one for one in page.all("details.route") if "/versions/{version}/infer" in one.text)
    infer.click()
    told = [one.text for one in infer.find_elements(By.CSS_SELECTOR, "tr")]
    assert told[:2] == ["model for example digits", "version for example 1"]
    assert any(one.startswith("504 ") for one in told)
    assert page.errors() == []


def test_nothing_is_fetched_from_elsewhere(server: Running) -> None:
    for path in (
        "/",
        "/docs",
        *(f"/page/{name}" for name in ("page.js", "style.css", "form.js", "moon.svg")),
    ):
        answer = server.get(path)
        assert answer.status == 200
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert b"http://" not in answer.body.replace(b"http://www.w3.org/2000/svg", b"")
        assert b"https://" not in answer.body
    assert server.get("/page/none.js").status == 404
    assert server.get("/page/..%2fguard.py").status == 404
