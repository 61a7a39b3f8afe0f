"""Parameter mixing on a cluster of separate processes: what goes wrong costs time, and changes nothing."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time

import clusters
import faulty
import mixed
import numpy as np
import pytest

from perceptrons import AveragedPerceptron, ParameterMixing, Perceptron, load
from perceptrons.cli import main
from perceptrons.engine.spaces import LearnerState
from perceptrons.io import FormatError

pytest.importorskip("distributed", reason="distributed is not installed")
import dask.array as da
from distributed import Client

from perceptrons.mixing import cluster as backend
from perceptrons.mixing.cluster import ClusterError

N_SHARDS, N_ROUNDS = 5, 4


def rows(n=200, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0.1, "yes", "no")


def learner(**more):
    return AveragedPerceptron(random_state=7, max_iter=N_ROUNDS, **more)


def in_blocks(X, y, n_shards=N_SHARDS):
    size = len(X) // n_shards
    return da.from_array(X, chunks=(size, X.shape[1])), da.from_array(y, chunks=size)


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with clusters.cluster(tmp_path_factory.mktemp("cluster")) as (_, client):
        yield client


@pytest.fixture(scope="module", params=["threads", pytest.param("processes", marks=pytest.mark.exhaustive)])
def anywhere(request):
    """A client; its workers are threads of this process, which start at once, or processes."""
    if request.param == "processes":
        yield request.getfixturevalue("running")
        return
    with clusters.in_this_process() as client:
        yield client


@pytest.fixture(scope="module")
def data():
    return rows()


@pytest.fixture(scope="module")
def expected(data):
    """The model of a simulation in one process, one shard after the other."""
    return ParameterMixing(learner(), n_shards=N_SHARDS, backend="serial").fit(*data)


def same(model, expected):
    assert np.array_equal(model.coef_, expected.coef_)
    assert np.array_equal(model.intercept_, expected.intercept_)
    assert model.history_ == expected.history_ and model.stop_reason_ == expected.stop_reason_


# ----------------------------------------------------------------------------------------- the same bits


def test_every_worker_gets_its_share_of_the_shards(anywhere, data, monkeypatch):
    """The scheduler may give short tasks, such as reading a slice, to one worker alone."""
    found = []

    def opened(self, job, shards=()):
        opening(self, job, shards)
        found.extend(workers[0] for workers in anywhere.who_has(self._shards).values())

    opening = backend.Cluster.open
    monkeypatch.setattr(backend.Cluster, "open", opened)
    n = 2 * len(anywhere.nthreads())
    ParameterMixing(learner(), n_shards=n, backend=anywhere).fit(*data)
    ParameterMixing(learner(), n_shards=n, backend=anywhere).fit(*in_blocks(*data, n))
    assert len(found) == 2 * n
    for some in (found[:n], found[n:]):
        assert sorted(some.count(worker) for worker in anywhere.nthreads()) == [2] * (n // 2)


def test_workers_have_turns_by_their_threads():
    class Client:
        asynchronous, scheduler = False, None

        def nthreads(self):
            return {"tcp://b": 1, "tcp://a": 3}

    turns = backend.Cluster(Client())._in_turn()
    assert turns == ["tcp://a", "tcp://b", "tcp://a", "tcp://a"]


def test_rows_in_memory(anywhere, data, expected):
    model = ParameterMixing(learner(), n_shards=N_SHARDS, backend=anywhere).fit(*data)
    same(model, expected)
    assert model.margin_bounds_ == expected.margin_bounds_


def test_arrays_of_dask_and_the_last_client(anywhere, data, expected):
    model = ParameterMixing(learner(), backend="dask").fit(*in_blocks(*data))
    same(model, expected)
    assert model.margin_bounds_ == expected.margin_bounds_


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", mixed.LEARNERS)
def test_every_learner(running, name, classes):
    for how, n_shards in (("uniform", 5), ("uniform", 2), ("mistakes", 5)):
        if how == "mistakes" and name in ("arow", "scw"):
            continue  # they have no weights of shards
        given = mixed.learner(name, max_iter=3, random_state=2)
        near, far = (
            ParameterMixing(given, n_shards=n_shards, mixing=how, backend=backend).fit(
                mixed.X, mixed.Y[classes]
            )
            for backend in ("serial", running)
        )
        same(far, near)
        assert far.margin_bounds_ == near.margin_bounds_


def test_files(anywhere, data, tmp_path):
    X, y = data
    paths = []
    for s, part in enumerate(np.array_split(np.arange(len(X)), N_SHARDS)):
        paths.append(str(tmp_path / f"{s}.csv"))
        lines = [f"{y[i]},{','.join(map(repr, X[i].tolist()))}\n" for i in part]
        (tmp_path / f"{s}.csv").write_text("".join(lines))
    near = ParameterMixing(learner(), shards=paths).fit()
    same(ParameterMixing(learner(), shards=paths, backend=anywhere).fit(), near)


@pytest.mark.compiled_later
def test_the_command_line(anywhere, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = rows(90)
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{v:.3f}" for j, v in enumerate(x)) for x, label in zip(X, y == "yes")
    ]
    (tmp_path / "rows.svm").write_text("\n".join(lines).replace("True", "1").replace("False", "0"))
    command = ["train", "rows.svm", "-m", "m", "--shards", "3", "--passes", "3", "--rule", "mira"]
    assert main([*command, "--cluster", anywhere.scheduler.address]) == 0
    assert f"3 on the cluster {anywhere.scheduler.address}, mixed" in capsys.readouterr().out
    found = (tmp_path / "m").read_bytes()
    assert main([*command, "--workers", "2"]) == 0
    assert (tmp_path / "m").read_bytes() == found


# ------------------------------------------------------------------------------- the state between two rounds


@pytest.fixture
def sent(monkeypatch):
    """The states that the client sends to the workers."""
    found, keeping = [], backend.Cluster._kept

    def kept(self, value):
        if isinstance(value, tuple) and isinstance(value[0], LearnerState):
            found.append(value)
        return keeping(self, value)

    monkeypatch.setattr(backend.Cluster, "_kept", kept)
    return found


def fit_with(client, after_round, n_shards=N_SHARDS, mixing="uniform"):
    """A fit; ``after_round`` is called after each of its rounds but the last."""
    n_rounds = itertools.count(1)

    def callback(_):
        if next(n_rounds) < N_ROUNDS:
            after_round()

    model = ParameterMixing(learner(), n_shards=n_shards, backend=client, mixing=mixing, callback=callback)
    return model.fit(*rows())


@pytest.mark.parametrize("mixing", ["uniform", "mistakes"])
@pytest.mark.parametrize("n_shards", [1, 2, 5])
def test_the_state_is_sent_once(anywhere, data, sent, n_shards, mixing):
    near = ParameterMixing(learner(), n_shards=n_shards, backend="serial", mixing=mixing).fit(*data)
    same(fit_with(anywhere, lambda: None, n_shards, mixing), near)
    assert len(sent) == 1


def test_workers_keep_no_state_after_a_fit(anywhere, data):
    kept = []
    fit_with(anywhere, lambda: kept.append(max(anywhere.run(faulty.rounds_kept).values())))
    assert min(kept) > 0
    until = time.monotonic() + clusters.WAIT
    while any(anywhere.run(faulty.rounds_kept).values()) and time.monotonic() < until:
        time.sleep(0.02)  # the scheduler tells them to let go
    assert not any(anywhere.run(faulty.rounds_kept).values())


def test_a_state_that_its_worker_has_lost_is_sent_again(anywhere, data, expected, sent):
    same(fit_with(anywhere, lambda: anywhere.run(faulty.forget_rounds)), expected)
    assert len(sent) == N_ROUNDS


def test_the_worker_that_has_the_state_is_killed(running, data, expected, sent):
    killed = []

    def kill():
        if killed:
            return
        running.wait_for_workers(2, timeout=clusters.WAIT)
        (address,) = (at for at, kept in running.run(faulty.rounds_kept).items() if kept)
        killed.append(running.run(os.getpid, workers=[address])[address])
        os.kill(killed[0], signal.SIGKILL)

    same(fit_with(running, kill), expected)
    assert killed and len(sent) == 2
    running.wait_for_workers(2, timeout=clusters.WAIT)


@pytest.mark.parametrize("n_shards", [1, 2, 5])
def test_a_state_may_take_longer_to_come_than_we_look_elsewhere(anywhere, monkeypatch, n_shards):
    monkeypatch.setattr(backend, "POLL", 1e-4)
    X, y = rows(50, 20_000)
    models = [ParameterMixing(learner(), n_shards=n_shards, backend=b) for b in ("serial", anywhere)]
    near, far = (model.fit(X, y) for model in models)
    same(far, near)


def test_a_client_that_is_not_the_default_one(anywhere, data, expected):
    with Client(anywhere.scheduler.address, set_as_default=False) as client:
        same(ParameterMixing(learner(), n_shards=N_SHARDS, backend=client).fit(*data), expected)


@pytest.mark.parametrize("n_shards", [2, 5])
def test_an_error_or_an_interruption_leaves_the_client_as_it_was(anywhere, data, n_shards):
    near = ParameterMixing(learner(), n_shards=n_shards, backend="serial").fit(*data)
    other = anywhere.submit(sum, [1, 2], pure=False)  # it is lost where the scheduler ends the connection
    anywhere.run(faulty.fail_in_round, 2)
    try:
        with pytest.raises(ArithmeticError, match="pass 2 of shard"):
            ParameterMixing(learner(), n_shards=n_shards, backend=anywhere).fit(*data)
    finally:
        anywhere.run(faulty.speed_up)
    with pytest.raises(KeyboardInterrupt):
        fit_with(anywhere, interrupt, n_shards)
    same(ParameterMixing(learner(), n_shards=n_shards, backend=anywhere).fit(*data), near)
    assert other.result() == 3
    assert not tasks_left(anywhere)


def tasks_left(client):
    """Tasks of fits that the scheduler knows, unless it forgets them soon."""
    until = time.monotonic() + clusters.WAIT
    while True:
        left = [key for key in client.who_has() if str(key).startswith("mixing-")]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.02)


def test_errors_while_rows_are_read_leave_nothing_on_the_workers(anywhere, data, tmp_path):
    X, y = data
    wrong = X.copy()
    wrong[130, 1] = np.nan
    caught = []  # their tracebacks
    for given, labels in ((wrong, y), (X, np.arange(len(y)) * 0.5)):
        with pytest.raises(ValueError) as error:
            ParameterMixing(learner(), backend=anywhere).fit(*in_blocks(given, labels))
        caught.append(error)
    assert not tasks_left(anywhere)


def interrupt():
    raise KeyboardInterrupt


# ----------------------------------------------------------------------------------------------- workers


def slowed(client, folder, seconds, workers=None):
    return client.run(faulty.slow_down, str(folder), seconds, workers=workers)


@pytest.fixture
def notes(tmp_path, running):
    """A folder where passes that are slowed down note that they run."""
    folder = tmp_path / "passes"
    folder.mkdir()
    yield folder
    running.wait_for_workers(2, timeout=clusters.WAIT)
    running.run(faulty.speed_up)


def test_a_worker_is_killed_in_the_middle_of_a_round(running, data, expected, notes):
    slowed(running, notes, 0.3)
    found = []
    fit = threading.Thread(
        target=lambda: found.append(ParameterMixing(learner(), n_shards=N_SHARDS, backend=running).fit(*data))
    )
    fit.start()
    try:
        process, number, _ = faulty.wait_for_round(notes, 0, clusters.WAIT)
        assert number == 0 and process in running.run(os.getpid).values()
        os.kill(process, signal.SIGKILL)
    finally:
        fit.join(clusters.WAIT)
    same(found[0], expected)


def test_a_slow_worker_delays_and_changes_nothing(running, data, expected, notes):
    running.wait_for_workers(2, timeout=clusters.WAIT)
    slow = min(running.nthreads())
    slowed(running, notes, 0.2, [slow])
    same(ParameterMixing(learner(), n_shards=N_SHARDS, backend=running).fit(*data), expected)
    assert any(notes.iterdir())


def test_a_shard_that_kills_every_worker_is_named(running, data, expected):
    X, y = data
    X = X.copy()
    X[90, 0] = 13.0  # in shard 2
    blocks, labels = in_blocks(X, y)
    with pytest.raises(ClusterError, match=r"Shard 2 \(Block 2 of the rows\) has ended 2 workers"):
        ParameterMixing(learner(), backend=running).fit(blocks.map_blocks(faulty.kill), labels)
    running.wait_for_workers(2, timeout=clusters.WAIT)
    same_labels = da.from_array(y, chunks=40)  # tasks of the same names, which have been suspected
    model = ParameterMixing(learner(), backend=running).fit(in_blocks(*data)[0], same_labels)
    same(model, expected)


def test_no_workers(running, data, monkeypatch, tmp_path):
    monkeypatch.setattr(backend, "PATIENCE", 1.0)
    with (
        clusters.cluster(tmp_path, n_workers=0) as (processes, client),
        pytest.raises(ClusterError, match=f"The scheduler {processes.address} has had no worker for 1"),
    ):
        ParameterMixing(learner(), backend=client).fit(*data)


# ------------------------------------------------------------------------------------------------ errors


def test_a_corrupt_file_is_named_with_its_line(anywhere, tmp_path):
    path = tmp_path / "rows.svm"
    lines = [f"{i % 2} 1:{i} 2:1\n" for i in range(100)]
    lines[70] = "1 1:x\n"
    path.write_text("".join(lines))
    with pytest.raises(FormatError) as caught:
        ParameterMixing(Perceptron(), backend=anywhere).fit(str(path))
    assert str(caught.value).startswith(f"{path}, line 71, column 3: expected a finite number")


def test_errors_about_rows_name_the_shard(anywhere, data):
    X, y = data
    X = X.copy()
    X[130, 1] = np.nan
    with pytest.raises(ValueError, match=r"Block 3 of the rows: .*NaN"):
        ParameterMixing(learner(), backend=anywhere).fit(*in_blocks(X, y))


def test_another_version_on_the_workers(running, data):
    import perceptrons

    running.run(faulty.pretend_version, "0.0.1")
    try:
        with pytest.raises(ClusterError, match=r"A worker has perceptrons 0\.0\.1, and this process has"):
            ParameterMixing(learner(), backend=running).fit(*data)
    finally:
        running.run(faulty.pretend_version, perceptrons.__version__)


def test_an_asynchronous_client_is_refused(anywhere, data):
    import asyncio

    async def use():
        async with Client(anywhere.scheduler.address, asynchronous=True) as client:
            with pytest.raises(ValueError, match="The client is asynchronous"):
                ParameterMixing(learner(), backend=client).fit(*data)

    asyncio.run(use())


# --------------------------------------------------------------------------------------------- scheduler


def test_the_scheduler_is_gone(data, expected, tmp_path):
    """The error says so, and the same fit goes on from the last complete round, here in this process."""
    folder = tmp_path / "passes"
    folder.mkdir()
    file = tmp_path / "run.model"
    with clusters.cluster(tmp_path, n_workers=1) as (processes, client):
        slowed(client, folder, 0.2)
        caught = []

        def fit():
            try:
                ParameterMixing(learner(), n_shards=N_SHARDS, backend=client, checkpoint=file).fit(*data)
            except ClusterError as error:
                caught.append(error)

        thread = threading.Thread(target=fit)
        thread.start()
        faulty.wait_for_round(folder, 2, clusters.WAIT)
        processes.kill_scheduler()
        thread.join(clusters.WAIT)
    assert len(caught) == 1 and f"The scheduler {processes.address} is gone" in str(caught[0])
    assert load(file).n_iter_ == 2
    model = ParameterMixing(learner(), n_shards=N_SHARDS, checkpoint=file).fit(*data)
    same(model, expected)
    assert model.margin_bounds_ == expected.margin_bounds_ and not file.exists()
