"""Chromium without a window, for tests of pages."""
import json
import os
import shutil
import subprocess

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


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
