"""A headless Chromium that tests click through pages with: WebDriver over HTTP, nothing else.

Import the fixture ``browser`` into a test file; its tests skip where no browser is found.
"""

from __future__ import annotations

import base64
import http.client
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key that WebDriver prescribes
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}
KEYS |= {"Tab": "\ue004", "Backspace": "\ue003"}
READY = "return document.readyState === 'complete' && document.hasFocus()"


class Browser:
    """One window. Elements are named by CSS selectors; a selector must name at least one."""

    def __init__(self, port: int, binary: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        options = {"args": [*arguments, "--hide-scrollbars"], "binary": binary}
        logs = {"browser": "ALL", "performance": "ALL"}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": logs}
        self._path = ""
        found = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._path = f"/session/{found['sessionId']}"

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        text = None if method != "POST" else json.dumps(body or {})
        self._connection.request(method, self._path + path, text)
        value = json.loads(self._connection.getresponse().read())["value"]
        if isinstance(value, dict) and "error" in value:
            raise AssertionError(f"{value['error']}: {value['message'].splitlines()[0]}")
        return value

    def open(self, page: Path, *, width: int = 1280, height: int = 800, dark: bool = False) -> None:
        """Open a file from the disk in a window of this size, without a network."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])
        self._call("POST", "/url", {"url": "about:blank"})  # a new hash alone would not load anew
        self.errors()
        self.requests()
        self._call("POST", "/url", {"url": page.resolve().as_uri()})
        self.wait(lambda: bool(self.run(READY)))  # keys that are pressed earlier are lost

    def devtools(self, command: str, **parameters: Any) -> Any:
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def run(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript, return what it returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def _find(self, selector: str) -> str:
        found = self._call("POST", "/element", {"using": "css selector", "value": selector})
        return f"/element/{found[ELEMENT]}"

    def click(self, selector: str) -> None:
        """Click with the mouse where the element is; one that is covered is an error."""
        self._call("POST", f"{self._find(selector)}/click")

    def hover(self, selector: str) -> None:
        """Move the mouse onto the element."""
        place = {ELEMENT: self._find(selector).removeprefix("/element/")}
        move = {"type": "pointerMove", "duration": 0, "origin": place, "x": 0, "y": 0}
        self._act({"type": "pointer", "id": "mouse", "actions": [move]})

    def type(self, text: str) -> None:
        """Press the keys of a text, or one named in ``KEYS``, wherever the focus is."""
        keys = [KEYS[text]] if text in KEYS else list(text)
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keys", "actions": strokes})

    def _act(self, source: dict[str, Any]) -> None:
        self._call("POST", "/actions", {"actions": [source]})

    def text(self, selector: str) -> str:
        """Return what is read there."""
        return str(self._call("GET", f"{self._find(selector)}/text"))

    def count(self, selector: str) -> int:
        return int(self.run("return document.querySelectorAll(arguments[0]).length", selector))

    def wait(self, holds: Callable[[], bool], seconds: float = 5.0) -> None:
        until = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < until, "it did not happen in time"
            time.sleep(0.02)

    def errors(self) -> list[str]:
        """Return what the console has complained of since the last call."""
        return [entry["message"] for entry in self._log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that the page has asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        sent = [event for event in events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def _log(self, kind: str) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = self._call("POST", "/se/log", {"type": kind})
        return entries

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._call("GET", "/screenshot")))

    def quit(self) -> None:
        self._call("DELETE", "")
        self._connection.close()


@contextmanager
def opened_browser() -> Iterator[Browser]:
    """Start a browser; in the end it quits."""
    driver, binary = _programs()
    if not driver or not binary:
        raise ValueError(MISSING)
    with subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        started = (re.search(r"on port (\d+)\.", line) for line in process.stdout)
        port = int(next(match[1] for match in started if match))
        window = Browser(port, binary)
        try:
            yield window
        finally:
            window.quit()
            process.terminate()


def _programs() -> tuple[str | None, str | None]:
    return shutil.which("chromedriver"), shutil.which("chromium") or shutil.which("google-chrome")


MISSING = "needs chromium and chromedriver (Debian: chromium, chromium-driver)"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not all(_programs()):
        pytest.skip(MISSING)
    with opened_browser() as window:
        yield window
