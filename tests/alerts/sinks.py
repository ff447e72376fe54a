"""Real servers on this machine that take what is sent: HTTP and SMTP."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Posts:
    """What came, and what is answered: each of `answers` once, the last for ever."""

    port: int = 0
    answers: list[int] = field(default_factory=lambda: [200])
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?token=hush"


@contextmanager
def http_sink() -> Iterator[Posts]:
    posts = Posts()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posts.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            posts.headers.append(dict(self.headers))
            self.send_response(posts.answers.pop(0) if len(posts.answers) > 1 else posts.answers[0])
            self.send_header("Location", posts.url)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            pass

    with _serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as port:
        posts.port = port
        yield posts


@dataclass
class Mails:
    """Envelopes and texts that came. A recipient that begins with `refused` is refused; `answers` to a text are given
    once each, the last for ever, and an empty one hangs up."""

    port: int = 0
    answers: list[str] = field(default_factory=lambda: ["250 taken"])
    to: list[list[str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


@contextmanager
def smtp_sink() -> Iterator[Mails]:
    mails = Mails()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 sink")
            to: list[str] = []
            while line := self.rfile.readline().decode().strip():
                word = line.split(" ")[0].upper()
                if word == "RCPT":
                    refused = "<refused" in line
                    to += [] if refused else [line.partition("<")[2].partition(">")[0]]
                    self._say("550 nobody here" if refused else "250 ok")
                elif word == "DATA":
                    self._say("354 go on")
                    text = "".join(iter(lambda: self.rfile.readline().decode(), ".\r\n"))
                    answer = mails.answers.pop(0) if len(mails.answers) > 1 else mails.answers[0]
                    if not answer:
                        return
                    if answer.startswith("250"):
                        mails.texts.append(text)
                        mails.to.append(to)
                    to = []
                    self._say(answer)
                elif word == "QUIT":
                    self._say("221 bye")
                    return
                else:
                    self._say("250 ok")

        def _say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

    with _serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)) as port:
        mails.port = port
        yield mails


@contextmanager
def _serving(server: socketserver.TCPServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
