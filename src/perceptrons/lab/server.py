"""The page and its runs on this machine: ``perceptrons lab``.

The server listens on the loopback address and answers requests that name it as their host, come from its own
page, and carry the token of the URL that was printed. Runs are made in a few threads, each for a limited
time; what cannot be run is one sentence.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any, NoReturn, TypeVar

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

T = TypeVar("T")

FIRST_PORT, PORTS = 8765, 20
MOST_BYTES = 2 * 2**20  #: of a request
SECONDS = 10.0  #: that a run, or the body of a request, may take
LONGEST = 180.0  #: that a run may take where loops are compiled for it
THREADS, WAITING = 2, 8

_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "map": "application/json",
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Refusal(Exception):
    """A request that is not served: its status, and a sentence."""

    def __init__(self, status: int, sentence: str):
        super().__init__(sentence)
        self.status = status


# ---------------------------------------------------------------------------------------------- threads


class Preparing:
    """How long the library has been imported and its loops compiled: time that is not counted as a run's.

    Loops are compiled once on a machine, some seconds each, and kept on disk.
    """

    def __init__(self) -> None:
        self._lock, self._nested, self._since, self._total = threading.Lock(), 0, 0.0, 0.0

    def begins(self) -> None:
        with self._lock:
            if self._nested == 0:
                self._since = time.monotonic()
            self._nested += 1

    def ends(self) -> None:
        with self._lock:
            self._nested -= 1
            if self._nested == 0:
                self._total += time.monotonic() - self._since

    def seconds(self) -> float:
        """All of it so far."""
        with self._lock:
            return self._total + (time.monotonic() - self._since if self._nested else 0.0)

    def watch_the_compiler(self) -> None:
        """From now on compiling counts."""
        from numba.core import event

        compiler: Any = event  # it has no types
        told = {"on_start": lambda _, event: self.begins(), "on_end": lambda _, event: self.ends()}
        compiler.register("numba:compile", type("Listener", (compiler.Listener,), told)())


PREPARING = Preparing()


class Workers:
    """Runs work in a few threads; what takes too long is given up, and ends by itself.

    A thread that nobody waits for any more keeps its place until it ends, so that there are never more of
    them. Threads do not keep the process from ending.
    """

    def __init__(self, threads: int = THREADS, waiting: int = WAITING, seconds: float = SECONDS):
        self.waiting, self.seconds = waiting, seconds
        self._free = asyncio.Semaphore(threads)
        self._queue = 0

    async def do(self, work: Callable[[], T]) -> T:
        """What the work returns, or raises; Refusal where there is no room or no time."""
        if self._queue >= self.waiting:
            raise Refusal(429, "The lab is busy with other runs; try again in a moment.")
        self._queue += 1
        began, prepared = time.monotonic(), PREPARING.seconds()
        task = asyncio.ensure_future(self._done(work))
        try:
            while True:
                used = time.monotonic() - began
                left = min(self.seconds + PREPARING.seconds() - prepared, LONGEST) - used
                if left <= 0.0:
                    raise Refusal(
                        429, f"This takes longer than {self.seconds:g} seconds; take fewer points or steps."
                    )
                done, _ = await asyncio.wait([task], timeout=left)
                if done:
                    return task.result()
        finally:
            task.cancel()
            self._queue -= 1

    async def _done(self, work: Callable[[], T]) -> T:
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._start(loop, work, answer)
        return await asyncio.shield(answer)

    def _start(
        self, loop: asyncio.AbstractEventLoop, work: Callable[[], T], answer: asyncio.Future[T]
    ) -> None:
        def finish(result: Any, error: BaseException | None) -> None:
            self._free.release()
            if answer.done():
                return
            if error is None:
                answer.set_result(result)
            else:
                answer.set_exception(error)
                answer.exception()  # it may be that nobody waits for it any more

        def job() -> None:
            result, error = None, None
            try:
                result = work()
            except BaseException as raised:
                error = raised
            try:
                loop.call_soon_threadsafe(finish, result, error)
            except RuntimeError:  # the server has ended
                return

        threading.Thread(target=job, daemon=True, name="lab").start()


# ---------------------------------------------------------------------------------------------- requests


class Guard:
    """Refuses requests for another host or from another page, and adds headers to every answer."""

    def __init__(self, app: ASGIApp, port: int):
        self.app = app
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode().lower(), value.encode()) for name, value in _HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *own]
            await send(message)

        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        served: ASGIApp = self.app
        if headers.getlist("host") == [] or not set(headers.getlist("host")) <= self.hosts:
            served = _refused(403, "The lab answers requests to 127.0.0.1 and localhost only.")
        elif not set(headers.getlist("origin")) <= self.origins:
            served = _refused(403, "The lab answers its own page only.")
        await served(scope, receive, send_with_headers)


def _refused(status: int, sentence: str) -> JSONResponse:
    return JSONResponse({"error": sentence}, status)


async def _body(request: Request) -> bytes:
    """The body of a request, of a limited size, in limited time."""
    parts, size = [], 0
    try:
        async with asyncio.timeout(SECONDS):
            async for part in request.stream():
                parts.append(part)
                size += len(part)
                if size > MOST_BYTES:
                    raise Refusal(413, f"The request has more than {MOST_BYTES // 2**20} MiB.")
    except TimeoutError:
        raise Refusal(408, "The request did not arrive in time.") from None
    return b"".join(parts)


def _json(body: bytes) -> Any:
    def refuse(name: str) -> NoReturn:
        raise ValueError(f"{name} is no number of JSON")

    try:
        return json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"The request is no JSON: {str(error)[:120]}.") from error


Endpoint = Callable[[Request], Awaitable[Response]]


class Lab:
    """The endpoints."""

    def __init__(self, token: str):
        self.token = token
        self.workers = Workers()

    def routes(self) -> list[Route]:
        return [
            Route("/", self.page),
            Route("/static/{name}", self.file),
            Route("/api/catalog", self._guarded(self.catalog)),
            Route("/api/run", self._guarded(self.run), methods=["POST"]),
            Route("/api/table", self._guarded(self.table), methods=["POST"]),
            Route("/{name}", self.file),
        ]

    def _has_token(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def _guarded(self, endpoint: Endpoint) -> Endpoint:
        """An endpoint that needs the token, and whose errors are a sentence."""

        async def answer(request: Request) -> Response:
            try:
                if not self._has_token(request.headers.get("x-lab-token")):
                    raise Refusal(403, "The token is missing or wrong; open the address that was printed.")
                return await endpoint(request)
            except Refusal as refusal:
                return _refused(refusal.status, str(refusal))
            except (ValueError, TypeError, ArithmeticError, NotImplementedError) as error:
                return _refused(422, _sentence(error))
            except Exception as error:
                return _refused(500, f"The run failed: {type(error).__name__}: {_sentence(error)}")

        return answer

    async def page(self, request: Request) -> Response:
        return _static("index.html")

    async def file(self, request: Request) -> Response:
        return _static(request.path_params["name"])

    async def catalog(self, request: Request) -> Response:
        return _as_json(await self.workers.do(_catalog))

    async def run(self, request: Request) -> Response:
        scene = _json(await _body(request))
        return _as_json(await self.workers.do(lambda: _run(scene)))

    async def table(self, request: Request) -> Response:
        asked = _json(await _body(request))
        return _as_json(await self.workers.do(lambda: _table(asked)))


# The library is imported by the first request that needs it, or by `warm`: the page is there before.


def _catalog() -> bytes:
    from . import catalog

    return _text(catalog.catalog())


def _run(scene: Any) -> bytes:
    from . import runs

    return _text(runs.run(scene))


def _table(asked: Any) -> bytes:
    from . import scenes

    if not isinstance(asked, dict) or not set(asked) <= {"text", "columns"}:
        raise ValueError("A table is asked for by its text and, if given, the names of two columns.")
    return _text(scenes.table(asked.get("text"), asked.get("columns")))


def warm() -> None:
    """Make a small run, so that the first one that somebody waits for finds its loops compiled."""
    PREPARING.begins()
    points = {"X": [[0.0, 1.0], [1.0, 0.0]], "y": [0, 1]}
    try:
        PREPARING.watch_the_compiler()
        _run(points | {"learner": {"name": "Perceptron"}, "max_iter": 2})
    except Exception:  # the first request will say what is wrong
        return
    finally:
        PREPARING.ends()


def _text(found: dict[str, Any]) -> bytes:
    return json.dumps(found, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def _as_json(text: bytes) -> Response:
    return Response(text, media_type="application/json")


def _sentence(error: BaseException) -> str:
    """The message of an error in one line."""
    line = " ".join(str(error).split())[:400] or type(error).__name__
    return line if line.endswith((".", "!", "?")) else f"{line}."


def _static(name: str) -> Response:
    """A file of the page; its names are known, so that no path is built from a request."""
    folder = resources.files("perceptrons.lab") / "static"
    known = {file.name: file for file in folder.iterdir() if file.is_file()} if folder.is_dir() else {}
    kind = _TYPES.get(name.rpartition(".")[2])
    if name not in known or kind is None:
        return PlainTextResponse("There is no such page.\n", 404)
    return Response(known[name].read_bytes(), headers={"Content-Type": kind})


def application(token: str, port: int) -> ASGIApp:
    """The lab as an application of ASGI, for a server at this port of the loopback address."""
    served = Starlette(routes=Lab(token).routes())
    served.router.redirect_slashes = False
    return Guard(served, port)


# ----------------------------------------------------------------------------------------------- serving


def listening(port: int | None) -> socket.socket:
    """A socket on the loopback address at a port, 0 for any; None: the first free one from 8765 on."""
    ports = [port] if port is not None else [*range(FIRST_PORT, FIRST_PORT + PORTS), 0]
    for at in ports:
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if sys.platform != "win32":  # there it would take the port from another program
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind(("127.0.0.1", at))
            return made
        except OSError as error:
            made.close()
            if port is not None:
                raise OSError(f"Port {port} cannot be used: {error.strerror}.") from error
    raise OSError("No port of the loopback address is free.")


def serve(at: socket.socket, token: str, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; ``ready`` is called with the URL as soon as the page can be opened."""
    port = int(at.getsockname()[1])
    config = uvicorn.Config(
        application(token, port),
        log_level="critical",
        access_log=False,
        http="h11",
        ws="none",
        lifespan="off",
        loop="asyncio",
        server_header=False,
        limit_concurrency=200,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=1,
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            threading.Thread(target=warm, daemon=True, name="lab").start()
            ready(f"http://127.0.0.1:{port}/?token={token}")

    asyncio.run(Server(config).serve(sockets=[at]))
