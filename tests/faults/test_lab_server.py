"""The lab's server: what it refuses, and that every answer is a sentence, in time, without a traceback."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("starlette")
httpx = pytest.importorskip("httpx")

from lab_scenes import scene_of  # noqa: E402  # starlette is asked for first

from perceptrons import cli, datasets  # noqa: E402  # for the same reason
from perceptrons.lab import server  # noqa: E402  # for the same reason

pytestmark = pytest.mark.uncompiled
TOKEN = "the token of a test"
PORT = 8765
OWN = f"127.0.0.1:{PORT}"
FOUR = scene_of(datasets.four_points(), max_iter=3)


def asked(method="GET", path="/api/catalog", *, body=None, headers=None, token=TOKEN, host=OWN):
    """The answer of a fresh server to one request."""
    return answers([(method, path, body, headers, token, host)])[0]


def answers(requests, lab=None):
    """The answers to several requests at the same time."""

    async def ask():
        app = server.application(TOKEN, PORT) if lab is None else lab
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{OWN}") as client:
            return await asyncio.gather(*(_one(client, *request) for request in requests))

    return asyncio.run(ask())


async def _one(client, method, path, body, headers, token, host):
    given = {"Host": host} | (headers or {}) | ({"X-Lab-Token": token} if token is not None else {})
    content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    return await client.request(method, path, content=content, headers=given)


def refused(answer, status):
    """The answer is one sentence of JSON, with this status and nothing of the machine in it."""
    assert answer.status_code == status, answer.text
    sentence = answer.json()["error"]
    assert list(answer.json()) == ["error"]
    assert sentence.endswith((".", "!", "?")) and "\n" not in sentence and "Traceback" not in sentence
    assert "/perceptrons/" not in sentence and len(sentence) < 600
    return sentence


# ------------------------------------------------------------------------------------------ who may ask


@pytest.mark.parametrize("host", [OWN, f"localhost:{PORT}", f"[::1]:{PORT}"])
def test_names_of_this_machine_are_served(host):
    assert asked(host=host).json()["format"] == "perceptrons lab catalog"
    assert asked(host=host, headers={"Origin": f"http://{host}"}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"{OWN}.evil.example", ""]
)
@pytest.mark.parametrize("path", ["/", "/api/catalog", "/static/lab.js"])
def test_another_host_is_refused(host, path):
    refused(asked(path=path, host=host), 403)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", f"https://{OWN}", "http://127.0.0.1", f"http://{OWN}.evil"]
)
def test_another_origin_is_refused(origin):
    refused(asked("POST", "/api/run", body=FOUR, headers={"Origin": origin}), 403)


@pytest.mark.parametrize("token", [None, "", "x", TOKEN[:-1], TOKEN + "x", "é"])
@pytest.mark.parametrize("path", ["/api/catalog", "/api/run", "/api/table"])
def test_the_token_is_asked_for(token, path):
    given = None if token is None else token.encode()
    method = "GET" if path == "/api/catalog" else "POST"
    assert "token" in refused(asked(method, path, body=FOUR, token=given), 403)


def test_a_token_in_the_address_is_no_token_of_the_interface():
    refused(asked(path=f"/api/catalog?token={TOKEN}", token=None), 403)


def test_the_page_carries_no_secret_and_asks_nobody_else():
    answer = asked(path="/", token=None)
    assert answer.status_code == 200 and TOKEN not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "'unsafe" not in policy and "http" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    for path in re.findall(r'(?:src|href)="([^"]+)"', answer.text):
        assert path.startswith("data:") or asked(path=f"/{path}", token=None).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/static/..%2f__init__.py",
        "/static/%2e%2e/server.py",
        "/..%2f..%2fcli%2f__init__.py",
        "/static//etc/passwd",
        "/static/nothing.js",
        "/static/",
        "/__init__.py",
        "/static/lab.js%00.css",
    ],
)
def test_no_other_file_is_served(path):
    answer = asked(path=path)
    assert answer.status_code == 404 and len(answer.content) < 100


def test_other_methods_are_refused():
    assert asked("GET", "/api/run").status_code == 405
    assert asked("DELETE", "/api/catalog").status_code == 405
    assert asked("OPTIONS", "/api/run", headers={"Origin": "http://evil.example"}).status_code == 403


# -------------------------------------------------------------------------------------------- what is asked


def test_a_run_is_served():
    answer = asked("POST", "/api/run", body=FOUR)
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
    assert answer.json()["runs"][0]["reason"] == "clean pass"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"X": NaN}',
        b'{"X": [[Infinity, 0]]}',
        b'{"X": ' + b"9" * 10_000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
    ],
    ids=["empty", "open", "no text", "NaN", "Infinity", "digits", "lists", "objects", "closed lists"],
)
@pytest.mark.parametrize("path", ["/api/run", "/api/table"])
def test_what_is_no_json_is_refused(body, path):
    assert "no JSON" in refused(asked("POST", path, body=body), 400)


def test_a_large_body_is_refused():
    size = server.MOST_BYTES
    assert "MiB" in refused(asked("POST", "/api/run", body=b" " * (size + 1)), 413)
    fits = b'{"X": "' + b"x" * (size - 20) + b'"}'
    refused(asked("POST", "/api/run", body=fits), 422)


SCENES = {
    "10,000 points": ({"X": [[0.5, 1.0]] * 10_000, "y": [0] * 10_000}, "at most 1000"),
    "a huge number": ({"X": [[1e300, 1.0]] * 4}, "coordinate 0 of point 0"),
    "a number beyond all floats": ({"X": [[10**400, 1.0]] * 4}, "coordinate 0 of point 0"),
    "lists in lists": ({"X": [[[[[[1.0]]]]]] * 4}, "Point 0"),
    "an unknown learner": ({"learner": {"name": "os.system", "params": {}}}, "There is no learner"),
    "a learner that is no text": ({"learner": {"name": 7}}, "learner.name"),
    "a parameter of another type": ({"learner": {"name": "MIRA", "params": {"p": "x"}}}, "MIRA.p"),
    "a parameter that is an object": ({"learner": {"name": "MIRA", "params": {"p": {}}}}, "MIRA.p"),
    "a parameter out of its range": ({"learner": {"name": "MIRA", "params": {"p": 2.0}}}, "p must be"),
    "a parameter of no learner": ({"learner": {"name": "MIRA", "params": {"__class__": 1}}}, "no parameter"),
    "a kernel that is none": ({"learner": {"name": "KernelPerceptron", "params": {"kernel": []}}}, "kernel"),
    "one class": ({"y": [0, 0, 0, 0]}, "at least two classes"),
    "too many steps": ({"max_steps": 10**9}, "max_steps"),
    "a list": ([1, 2], "The scene must be an object"),
    "a text": ("scene", "The scene must be an object"),
    "nothing": (None, "The scene must be an object"),
}


@pytest.mark.parametrize("name", SCENES)
def test_scenes_that_cannot_be_run_are_refused(name):
    changes, message = SCENES[name]
    body = FOUR | changes if isinstance(changes, dict) else changes
    content = json.dumps(body).encode()  # json= of None would be no body
    assert message in refused(asked("POST", "/api/run", body=content), 422)


@pytest.mark.parametrize("scale", [1e9, 1e-9, 1e-300, 5e-324, 0.0])
@pytest.mark.parametrize("learner", ["Perceptron", "AROW", "KernelPerceptron", "ROMMA", "BalancedWinnow"])
def test_long_and_short_rows_are_served_or_refused(learner, scale):
    X = [[scale * a, scale * b] for a, b in FOUR["X"]]
    body = FOUR | {"X": X, "learner": {"name": learner, "params": {}}}
    answer = asked("POST", "/api/run", body=body)
    if answer.status_code != 200:
        refused(answer, 422)


def test_tables_are_read_or_refused():
    good = asked("POST", "/api/table", body={"text": "1,2,a\n3,4,b", "columns": None})
    assert good.json()["X"] == [[1, 2], [3, 4]]
    for body in (
        {"text": "1,2"},
        {"text": 7},
        {},
        [],
        {"text": "1,2,a\n3,4,b", "columns": [1]},
        {"path": "x"},
    ):
        refused(asked("POST", "/api/table", body=body), 422)


# --------------------------------------------------------------------------------------- time and threads


def lab_of(monkeypatch, work, **settings):
    """A server whose runs are this work."""
    monkeypatch.setattr(server, "_run", work)
    made = server.Workers
    monkeypatch.setattr(server, "Workers", lambda: made(**settings))
    return server.application(TOKEN, PORT)


RUN = ("POST", "/api/run", FOUR, None, TOKEN, OWN)


def test_a_run_that_takes_too_long_is_given_up(monkeypatch):
    end = threading.Event()
    lab = lab_of(monkeypatch, lambda scene: b"{}" if end.wait(60) else b"", seconds=0.05)
    try:
        assert "longer than 0.05 seconds" in refused(answers([RUN], lab)[0], 429)
    finally:
        end.set()


def test_the_time_of_compiling_is_not_that_of_a_run(monkeypatch):
    preparing = server.Preparing()
    monkeypatch.setattr(server, "PREPARING", preparing)
    late = threading.Event()

    def work(scene):
        preparing.begins()
        late.wait(0.5)  # ten times what a run may take
        preparing.ends()
        return b"{}"

    lab = lab_of(monkeypatch, work, seconds=0.05)
    assert answers([RUN], lab)[0].status_code == 200
    assert preparing.seconds() >= 0.4
    assert preparing.seconds() == preparing.seconds()  # nothing is prepared any more


def test_compiling_is_noticed():
    preparing = server.Preparing()
    preparing.watch_the_compiler()
    from numba.core import event

    with event.trigger_event("numba:compile", data={}), event.trigger_event("numba:compile", data={}):
        assert preparing._nested == 2
    assert preparing._nested == 0 and preparing.seconds() > 0.0


def test_no_more_threads_than_places_and_no_more_waiting_than_allowed(monkeypatch):
    end, running, most = threading.Event(), [], []

    def work(scene):
        running.append(1)
        most.append(len(running))
        end.wait(60)
        running.pop()
        return b"{}"

    lab = lab_of(monkeypatch, work, threads=2, waiting=4, seconds=60.0)

    async def ask():
        transport = httpx.ASGITransport(app=lab)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{OWN}") as client:
            tasks = [asyncio.create_task(_one(client, *RUN)) for _ in range(10)]
            early, late = [], set(tasks)
            while len(early) < 6:
                done, late = await asyncio.wait(late, return_when=asyncio.FIRST_COMPLETED)
                early += done
            end.set()
            return [task.result() for task in early], await asyncio.gather(*late)

    early, late = asyncio.run(ask())
    assert all("busy" in refused(answer, 429) for answer in early)
    assert [answer.status_code for answer in late] == [200] * 4
    assert max(most) == 2


def test_a_place_is_free_again_after_a_run_that_was_given_up(monkeypatch):
    slow = iter([True, False])
    end = threading.Event()

    def work(scene):
        if next(slow):
            end.wait(60)
        return b"{}"

    monkeypatch.setattr(server, "_run", work)

    async def ask():
        workers = server.Workers(threads=1, seconds=0.05)
        with pytest.raises(server.Refusal, match="longer than"):
            await workers.do(lambda: server._run(None))
        end.set()
        workers.seconds = 30.0
        return await workers.do(lambda: server._run(None))

    assert asyncio.run(ask()) == b"{}"


def test_an_error_of_the_library_is_a_sentence(monkeypatch):
    def work(scene):
        raise AssertionError("a claim\ndoes not hold")

    lab = lab_of(monkeypatch, work)
    assert refused(answers([RUN], lab)[0], 500) == "The run failed: AssertionError: a claim does not hold."


def test_runs_at_the_same_time_are_those_of_one_after_the_other():
    scenes = [FOUR | {"seed": seed, "noise": 0.25} for seed in range(6)]
    alone = [asked("POST", "/api/run", body=scene).json() for scene in scenes]
    together = answers([("POST", "/api/run", scene, None, TOKEN, OWN) for scene in scenes])
    assert [answer.json() for answer in together] == alone


# ------------------------------------------------------------------------------------------- the command


def started(*options):
    """``perceptrons lab`` in a process of its own, and its address."""
    code = "import sys; from perceptrons.cli import main; sys.exit(main())"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", code, "lab", "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    line = process.stdout.readline()
    return process, re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line)


def ended(process, signum=signal.SIGINT):
    process.send_signal(signum)
    try:
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    return process.returncode, out, err


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_the_command_serves_and_ends():
    process, found = started("--port", "0")
    port, token = int(found[1]), found[2]
    own = f"http://127.0.0.1:{port}"
    try:
        assert httpx.get(f"{own}/").status_code == 200
        assert httpx.get(f"{own}/api/catalog", headers={"X-Lab-Token": "x"}).status_code == 403
        answer = httpx.get(f"{own}/api/catalog", headers={"X-Lab-Token": token}, timeout=60)
        assert answer.json()["format"] == "perceptrons lab catalog" and "server" not in answer.headers
        with (
            socket.create_connection(("127.0.0.1", port)) as idle,
            socket.create_connection(("127.0.0.1", port)) as half,
        ):
            half.sendall(b"POST /api/run HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            time.sleep(0.1)
            assert ended(process) == (0, "", "")  # connections that wait do not keep it
            assert idle.fileno() > 0
    finally:
        process.kill()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{own}/")


def test_a_port_that_is_taken(capfd):
    taken = server.listening(0)
    try:
        taken.listen()
        port = taken.getsockname()[1]
        assert cli.main(["lab", "--no-browser", "--port", str(port)]) == 1
        assert re.match(rf"perceptrons lab: Port {port} cannot be used: .*\.\n", capfd.readouterr().err)
    finally:
        taken.close()


def test_the_next_port_where_the_first_is_taken(monkeypatch):
    taken = server.listening(0)
    monkeypatch.setattr(server, "FIRST_PORT", taken.getsockname()[1])
    try:
        taken.listen()
        other = server.listening(None)
        assert other.getsockname()[0] == "127.0.0.1"
        assert other.getsockname()[1] != taken.getsockname()[1]
        other.close()
    finally:
        taken.close()


def test_without_the_extra_the_command_says_what_to_install(monkeypatch, capfd):
    for name in [name for name in sys.modules if name == "starlette" or name.startswith("starlette.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "perceptrons.lab.server")
    monkeypatch.delattr("perceptrons.lab.server")
    monkeypatch.setitem(sys.modules, "starlette", None)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    assert cli.main(["lab", "--no-browser"]) == 1
    assert "pip install 'perceptrons[lab]'" in capfd.readouterr().err


def test_export_and_port_exclude_each_other(capfd, tmp_path):
    assert cli.main(["lab", "--export", str(tmp_path / "x"), "--port", "1"]) == 2
    assert "drop --port" in capfd.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_thread_at_work_does_not_keep_or_break_the_end_of_the_command():
    """The interpreter would end it inside of the compiler, which aborts the process."""
    code = (
        "import atexit, sys, threading, time; from perceptrons.cli import main;"
        "atexit.register(print, 'late');"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True, name='lab').start(); sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "--version"], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 0 and done.stdout.startswith("perceptrons") and "late" not in done.stdout
