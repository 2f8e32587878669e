#!/usr/bin/env python3
"""Reports in a browser: nothing on the console, no request but that for the file, no page that is wider than its window,
on the screen (light and dark) and in print. Skipped (77) where Chromium is not installed.

usage: chromium_test.py LEHR, from the root of the repository
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

from made import make

LEHR = os.path.abspath(sys.argv[1])
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
LOOKS = [(1280, "screen", "light"), (400, "screen", "light"), (400, "screen", "dark"), (700, "print", "light")]


class Browser:
    """Chromium by its DevTools protocol, over two pipes that it has as files 3 and 4."""

    def __init__(self, directory):
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
                   f"--user-data-dir={directory}/profile", "--disable-background-networking", "--no-first-run"]
        shell = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(["bash", "-c", shell, "bash", *command], pass_fds=(theirs_in, theirs_out),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.rest, self.last, self.events, self.session = b"", 0, [], None
        page = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.rest:
            part = os.read(self.into, 1 << 16)
            assert part, "the browser has gone"
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while (answer := self.read()).get("id") != self.last:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def show(self, url):
        """What happened until the page was there."""
        self.events = []
        self.ask("Page.navigate", url=url)
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.events.append(self.read())
        return self.events

    def value(self, expression):
        return self.ask("Runtime.evaluate", expression=expression)["result"]["value"]

    def close(self):
        self.process.kill()
        self.process.wait()


def look(browser, path, pictures):
    url = "file://" + os.path.abspath(path)
    for width, media, scheme in LOOKS:
        browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        browser.ask("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])
        events = browser.show(url)
        said = [e for e in events if e["method"] in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")]
        assert not said, f"{path}: {said}"
        asked = {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}
        assert all(a == url or a.startswith("data:") for a in asked), f"{path}: {asked}"
        wide = browser.value("document.documentElement.scrollWidth")
        assert wide <= width, f"{path}: {wide} pixels wide in a window of {width}"
        unseen = browser.value("[...document.querySelectorAll('svg, math')].filter(e => e.getBoundingClientRect().height == 0).length")
        assert unseen == 0, f"{path}: {unseen} pictures or formulas have no height"
        if pictures:
            image = browser.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
            name = f"{os.path.basename(os.path.dirname(path))}-{width}-{scheme}.png"
            with open(os.path.join(pictures, name), "wb") as file:
                file.write(base64.b64decode(image))


def main():
    if not CHROMIUM:
        print("skipped: chromium is not installed")
        sys.exit(77)
    pictures = os.environ.get("LEHR_PICTURES")  # a directory for what was seen
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        browser = Browser(directory)
        try:
            reports = make(LEHR, directory)
            for path in reports.values():
                look(browser, path, pictures)
        finally:
            browser.close()
    print(f"{len(reports)} reports, {len(LOOKS)} looks at each")


if __name__ == "__main__":
    main()
