#!/usr/bin/env python3
"""Reports in a browser: nothing on the console, no request but that for the file, no page that is wider than its window,
on the screen (light and dark) and in print. Skipped (77) where Chromium is not installed.

usage: chromium_test.py LEHR, from the root of the repository
"""
import base64
import os
import sys
import tempfile

from browser import CHROMIUM, Browser
from made import make

LOOKS = [(1280, "screen", "light"), (400, "screen", "light"), (400, "screen", "dark"), (700, "print", "light")]


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
            reports = make(directory)
            for path in reports.values():
                look(browser, path, pictures)
        finally:
            browser.close()
    print(f"{len(reports)} reports, {len(LOOKS)} looks at each")


if __name__ == "__main__":
    main()
