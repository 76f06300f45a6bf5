"""A headless Chromium over the DevTools protocol that loads, reads and clicks pages as a user does."""

from __future__ import annotations

import base64
import json
import os
import queue
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.programs import need

_OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
_NAVIGATED = (
    "Inspected target navigated",
    "Execution context was destroyed",
    "Cannot find context",
    "Promise was coll",
)


class NavigatedError(Exception):
    """The page was left while an expression was evaluated."""


class Page:
    """One tab.

    Attributes:
        requests: requested addresses.
        complaints: errors on its console, and exceptions.
    """

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        self.requests: list[str] = []
        self.complaints: list[str] = []

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        return self._browser.call(method, parameters, self._session)

    def open(self, address: str) -> None:
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")

    def value(self, expression: str) -> Any:
        """Return the value of an expression, or the result of a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until an expression is true. While a page is loading, it may refer to what is not there yet."""

        def holds() -> bool:
            try:
                return bool(
                    self.value(f"(() => {{ try {{ return Boolean({expression}) }} catch {{ return false }} }})()")
                )
            except NavigatedError:
                return False

        wait_for(holds, what=expression)

    def resize(self, width: int, height: int) -> None:
        """Set the size of the window, or with 0 that of the browser, and wait for its effect."""
        before = self.value("innerWidth")
        if width:
            self.call(
                "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
            )
            self.until(f"innerWidth === {width}")
        else:
            self.call("Emulation.clearDeviceMetricsOverride")
            self.until(f"innerWidth !== {before}")

    def text(self) -> str:
        return str(self.value("document.body.innerText"))

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **({"text": key} if len(key) == 1 else {}))

    def picture(self, path: Path, *, width: int = 1200, height: int = 900) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def network(self, *, on: bool) -> None:
        """Disconnect the page from the network, or connect it again."""
        rates = dict.fromkeys(("downloadThroughput", "uploadThroughput"), -1 if on else 0)
        self.call("Network.emulateNetworkConditions", offline=not on, latency=0, **rates)

    def on_event(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            self.complaints.append(json.dumps(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.complaints.append(parameters["entry"]["text"])


class Browser:
    """The browser's process; it ends with the block."""

    def __init__(self, folder: Path) -> None:
        program = need("chromium")
        read, self._write = os.pipe()
        self._read, write = os.pipe()
        command = [program, *_OPTIONS, f"--user-data-dir={folder}", "about:blank"]
        wrapped = ["bash", "-c", f'exec "$@" 3<&{read} 4>&{write}', "bash", *command]
        self._process = subprocess.Popen(wrapped, pass_fds=(read, write), stderr=subprocess.DEVNULL)
        os.close(read)
        os.close(write)
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._pages: dict[str, Page] = {}
        self._number = 0
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._process.terminate()
        try:
            self._process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        self._reader.join(DEADLINE_S)
        os.close(self._read)

    def page(self) -> Page:
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self._pages[session] = Page(self, session)
        for part in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{part}.enable")
        return page

    def call(self, method: str, parameters: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        content = json.dumps(message).encode() + b"\0"
        while content:
            content = content[os.write(self._write, content) :]
        while True:
            answer = self._answers.get(timeout=DEADLINE_S)
            if answer.get("id") == self._number:
                if answer.get("error", {}).get("message", "").startswith(_NAVIGATED):
                    raise NavigatedError(answer["error"]["message"])
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])

    def _listen(self) -> None:
        left = b""
        while piece := os.read(self._read, 1 << 16):
            *whole, left = (left + piece).split(b"\0")
            for message in map(json.loads, whole):
                if "id" in message:
                    self._answers.put(message)
                elif (page := self._pages.get(message.get("sessionId", ""))) is not None:
                    page.on_event(message["method"], message["params"])


@contextmanager
def open_browser(folder: Path) -> Iterator[Page]:
    """Yield a page of a browser that stores its files in a folder."""
    with Browser(folder) as browser:
        yield browser.page()
