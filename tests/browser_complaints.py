"""What a browser complains about while a test uses it: errors of scripts, and errors and warnings of its console."""

from playwright.sync_api import BrowserContext, expect

expect.set_options(timeout=30_000)  # drawing shares its processors with everything else

# Other programs that change the machine's network interfaces end the requests of a browser with this.
_NOT_OURS = "ERR_NETWORK_CHANGED"


class Complaints(list[str]):
    """Of all pages of the contexts that are listened to. A test that provokes some takes them out with `expected`."""

    def listen(self, context: BrowserContext) -> None:
        context.on("weberror", lambda found: self._add(str(found.error)))
        context.on("console", lambda line: self._add(line.text) if line.type in ("error", "warning") else None)

    def expected(self, part: str) -> None:
        """At least one has `part` in it; those that have are as they should be."""
        rest = [text for text in self if part not in text]
        assert len(rest) < len(self), f"the browser did not complain about: {part}"
        self[:] = rest

    def _add(self, text: str) -> None:
        if _NOT_OURS not in text:
            self.append(text)
