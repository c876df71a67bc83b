"""Firefox ESR with the extension, driven by WebDriver BiDi without another program between."""

import base64
import itertools
import json
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.extension.browsers import DESK
from tests.extension.patience import PATIENCE_S, wait_until
from tests.extension.websocket import WebSocket

FIREFOX: Final = "/usr/bin/firefox-esr"
_MOST_RELOADS: Final = 5
_PREFERENCES: Final = {
    # X has its certificate pinned and its encryption required in every new profile.
    "network.stricttransportsecurity.preloadlist": False,
    "security.cert_pinning.enforcement_level": 0,
    # The extension is not signed.
    "xpinstall.signatures.required": False,
    "extensions.autoDisableScopes": 0,
    # A question in a window of the browser itself cannot be answered without a screen.
    "extensions.webextOptionalPermissionPrompts": False,
    # Otherwise a restart would lose what the extension stored, because it is not installed
    # for good.
    "extensions.webextensions.keepStorageOnUninstall": True,
    "extensions.webextensions.keepUuidOnUninstall": True,
    # Fewer processes.
    "dom.ipc.processCount": 1,
    "dom.ipc.processPrelaunch.enabled": False,
    "fission.webContentIsolationStrategy": 0,
    "browser.startup.page": 0,
    "browser.newtabpage.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.disabledForTesting": True,
    "services.settings.server": "data:,",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}


class BidiError(Exception):
    """The browser refused a command."""


class Bidi:
    def __init__(self, port: int) -> None:
        self._socket = WebSocket(port, "/session", PATIENCE_S)
        self._numbers = itertools.count(1)

    def send(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.receive())
            if message.get("id") != number:
                continue
            if message["type"] == "error":
                raise BidiError(f"{method}: {message['error']}: {message['message']}")
            return message["result"]

    def close(self) -> None:
        self._socket.close()


_MIDDLE: Final = """((found) => {
  if (!found?.checkVisibility()) return null;
  found.scrollIntoView({ block: "nearest" });
  const box = found.getBoundingClientRect();
  return { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) };
})"""


# A page of the browser itself, whose scripts may do everything.
_PRIVILEGED: Final = "about:about"
# Also while a listener works, for which Firefox would wait once. An event in between cancels it.
_TERMINATE: Final = """async (id) => {
  const { extension } = WebExtensionPolicy.getByID(id);
  let isEnded = false;
  const note = () => { isEnded = true; };
  extension.once("shutdown-background-script", note);
  await extension.terminateBackground({ disableResetIdleForTest: true });
  extension.off("shutdown-background-script", note);
  return isEnded;
}"""


class FirefoxTab:
    def __init__(self, bidi: Bidi, context: str) -> None:
        self._bidi = bidi
        self._context = context

    def go(self, url: str) -> None:
        self._bidi.send("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def evaluate(self, function: str, argument: Any = None) -> Any:
        # As a text, because BiDi wraps every value of an object in its type.
        wrapped = f"async (text) => JSON.stringify(await ({function})(JSON.parse(text)) ?? null)"
        for _ in range(_MOST_RELOADS):
            try:
                result = self._call(wrapped, json.dumps(argument))
            except BidiError as error:
                # The page was loaded again in between.
                if "destroyed before query" not in str(error):
                    raise
            else:
                assert result["type"] == "success", result["exceptionDetails"]["text"]
                return json.loads(result["result"]["value"])
        raise AssertionError("the page is loaded again and again")

    def _call(self, function: str, text: str, *others: dict[str, Any]) -> Any:
        return self._bidi.send(
            "script.callFunction",
            functionDeclaration=function,
            arguments=[{"type": "string", "value": text}, *others],
            target={"context": self._context},
            awaitPromise=True,
            userActivation=True,
        )

    def click(self, selector: str) -> None:
        self._press(self._middle_of(selector))

    def text_in(self, part: str) -> str:
        shown: str = self._in(part, "(root) => root.querySelector('.box')?.innerText ?? ''") or ""
        return shown

    def click_in(self, part: str, selector: str) -> None:
        look = f"(root) => {_MIDDLE}(root.querySelector({json.dumps(selector)}))"
        self._press(wait_until(lambda: self._in(part, look)))

    def type_in(self, part: str, selector: str, text: str) -> None:
        fill = "(root) => { root.querySelector(%s).value = %s; }"
        self._in(part, fill % (json.dumps(selector), json.dumps(text)))

    def _in(self, part: str, function: str) -> Any:
        """Calls a function with the closed root of a part, which only the browser hands out."""
        wrapped = f"(text, root) => JSON.stringify(({function})(root) ?? null)"
        try:
            found = self._call("(id) => document.getElementById(id)", f"bowerbird-{part}")
            if found["result"]["type"] != "node":
                return None
            root = {"sharedId": found["result"]["value"]["shadowRoot"]["sharedId"]}
            answer = self._call(wrapped, "", root)
        except BidiError as error:
            # The page was loaded again in between, or the part is new.
            if "destroyed before query" not in str(error) and "no such node" not in str(error):
                raise
            return None
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return json.loads(answer["result"]["value"])

    def _press(self, place: dict[str, int]) -> None:
        pointer = {
            "type": "pointer",
            "id": "mouse",
            "actions": [
                {"type": "pointerMove", "x": place["x"], "y": place["y"]},
                {"type": "pointerDown", "button": 0},
                {"type": "pointerUp", "button": 0},
            ],
        }
        self._bidi.send("input.performActions", context=self._context, actions=[pointer])

    def type(self, selector: str, text: str) -> None:
        fill = """([selector, text]) => {
          const field = document.querySelector(selector);
          field.focus();
          field.value = text;
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
        self.evaluate(fill, [selector, text])

    def screenshot(self) -> bytes:
        shot = self._bidi.send("browsingContext.captureScreenshot", context=self._context)
        return base64.b64decode(shot["data"])

    def close(self) -> None:
        self._bidi.send("browsingContext.close", context=self._context)

    def _middle_of(self, selector: str) -> dict[str, int]:
        look = f"(selector) => {_MIDDLE}(document.querySelector(selector))"
        place: dict[str, int] = wait_until(lambda: self.evaluate(look, selector))
        return place


class Firefox:
    def __init__(self, extension: Path, proxy_port: int, profile: Path) -> None:
        self._extension = extension
        self._profile = profile
        manifest = json.loads((extension / "manifest.json").read_text(encoding="utf-8"))
        self._id = manifest["browser_specific_settings"]["gecko"]["id"]
        self._uuid = str(uuid.uuid4())
        self._privileged: FirefoxTab | None = None
        profile.mkdir(exist_ok=True)
        preferences = {
            **_PREFERENCES,
            "extensions.webextensions.uuids": json.dumps({self._id: self._uuid}),
            # Every other host is refused by the proxy.
            "network.proxy.type": 1,
            "network.proxy.http": "127.0.0.1",
            "network.proxy.http_port": proxy_port,
            "network.proxy.ssl": "127.0.0.1",
            "network.proxy.ssl_port": proxy_port,
        }
        lines = (
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in preferences.items()
        )
        (profile / "user.js").write_text("".join(lines), encoding="utf-8")
        self._start()

    @property
    def extension_url(self) -> str:
        return f"moz-extension://{self._uuid}"

    def open(self, url: str) -> FirefoxTab:
        return self._open(url, "tab")

    def open_window(self, url: str) -> FirefoxTab:
        return self._open(url, "window")

    def desk(self) -> FirefoxTab:
        first, *_ = self._bidi.send("browsingContext.getTree", maxDepth=0)["contexts"]
        tab = FirefoxTab(self._bidi, first["context"])
        if not first["url"].endswith(DESK):
            tab.go(self.extension_url + DESK)
        return tab

    def _open(self, url: str, kind: str) -> FirefoxTab:
        context = self._bidi.send("browsingContext.create", type=kind)["context"]
        tab = FirefoxTab(self._bidi, context)
        tab.go(url)
        return tab

    def kill_worker(self) -> None:
        # A window, because a tab would hide the one that a test watches.
        tab = self._privileged or self._open(_PRIVILEGED, "window")
        self._privileged = tab
        wait_until(lambda: tab.evaluate(_TERMINATE, self._id))

    def restart(self) -> None:
        self.close()
        self._start()

    def close(self) -> None:
        self._bidi.send("browser.close")
        self._bidi.close()
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise

    def close_tabs(self) -> None:
        _, *others = self._bidi.send("browsingContext.getTree", maxDepth=0)["contexts"]
        for tab in others:
            self._bidi.send("browsingContext.close", context=tab["context"])
        self._privileged = None

    def _start(self) -> None:
        self._privileged = None
        where = self._profile / "WebDriverBiDiServer.json"
        where.unlink(missing_ok=True)
        arguments = (
            *("--headless", "--no-remote", "--profile", str(self._profile)),
            *("--remote-debugging-port", "0"),
            # Firefox 153 refuses to navigate to pages of an extension without it.
            "--remote-allow-system-access",
        )
        with (self._profile / "output").open("wb") as output:
            self._process = subprocess.Popen(
                [FIREFOX, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            port = wait_until(lambda: self._port(where))
            self._bidi = Bidi(port)
            self._bidi.send(
                "session.new", capabilities={"alwaysMatch": {"acceptInsecureCerts": True}}
            )
            self._bidi.send(
                "webExtension.install",
                extensionData={"type": "path", "path": str(self._extension)},
            )
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise

    def _port(self, where: Path) -> int:
        assert self._process.poll() is None, (self._profile / "output").read_text()
        try:
            port: int = json.loads(where.read_text())["ws_port"]
        except (FileNotFoundError, ValueError):
            return 0
        return port


@contextmanager
def firefox(extension: Path, proxy_port: int, profile: Path) -> Iterator[Firefox]:
    browser = Firefox(extension, proxy_port, profile)
    try:
        yield browser
    finally:
        browser.close()
