"""A real browser, and visitors in it who note everything that must never happen."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, sync_playwright

from spanwise_server.domain.identifiers import ExecutionId

CHROMIUM = "/usr/bin/chromium"

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-smooth-scrolling",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nothing leaves this machine
)

TIME_ZONE = "Asia/Kolkata"
"""Of visitors: half an hour off, so that their time is taken for no other."""

PATIENCE_MS = 30_000
"""Time after which a wait gives up. A machine that is busy with other things needs much of it."""

_PROBE = Path(__file__).with_name("probe.js")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Chromium with a new profile for the time of a block."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """Somebody who looks at pages of one server, with cookies and caches of their own.

    Attributes:
        page: Their tab.
        troubles: What they met that nobody may ever meet: requests to other servers, errors,
            violations of the policy of content, dialogs.
    """

    def __init__(self, browser: Browser, server_page: str, **options: Any) -> None:
        """Open a tab.

        Args:
            browser: Where.
            server_page: Address of the page of the server.
            options: As of `Browser.new_context`.
        """
        usual = {"viewport": {"width": 1280, "height": 800}, "timezone_id": TIME_ZONE}
        self._context = browser.new_context(**(usual | options))
        self._context.set_default_timeout(PATIENCE_MS)
        self._context.add_init_script(path=_PROBE)
        self._server_page = server_page
        self.troubles: list[str] = []
        self.page = self._context.new_page()
        self._context.on("request", self._note_request)
        self._context.on("console", self._note_message)
        self._context.on("weberror", lambda error: self.troubles.append(f"thrown: {error.error}"))
        self._context.on("dialog", self._note_dialog)

    def goto(self, address: str) -> Page:
        """Open an address of the server: what stands after its name."""
        self.page.goto(self._server_page + address)
        return self.page

    def close(self) -> None:
        """Close the tab, and forget all that it stored."""
        self._context.close()

    def forgive(self, part: str) -> None:
        """Forget troubles that hold a text: those that a test brought about."""
        self.troubles = [each for each in self.troubles if part not in each]

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith((self._server_page, "data:", "blob:")):
            self.troubles.append(f"request: {request.url}")

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning", "assert"}:
            self.troubles.append(f"{message.type}: {message.text}")

    def _note_dialog(self, dialog: Dialog) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def address_of(execution_id: ExecutionId, **state: object) -> str:
    """Give the address of an execution, as `Visitor.goto` takes it, for a page under test."""
    path = "/".join(quote(part, safe="") for part in execution_id)
    return f"?test=1#/e/{path}?{urlencode(state)}"
