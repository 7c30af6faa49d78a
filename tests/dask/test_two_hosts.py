"""The same model on several hosts: network namespaces with one worker each."""

import os
import pickle
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from distributed import Client

from directboost.dask import DaskDirectBoostClassifier

ROOT = Path(__file__).parents[2]
HOSTS = ("a", "b", "c")  # scheduler and client, and two with a worker
RNG = np.random.default_rng(11)
LABELS = RNG.integers(0, 3, 36_000)
NUMBERS = (RNG.normal(size=(3, 4))[LABELS] + 1.5 * RNG.normal(size=(36_000, 4))).round(1)


def fitted(client=None, **choices):
    """Return the model of these rows."""
    X, y = da.from_array(NUMBERS, chunks=(9_000, 4)), da.from_array(LABELS, chunks=9_000)
    model = DaskDirectBoostClassifier(client=client, nu=0.01, tol=5e-3, **choices)
    return model.fit(X, y).to_local()


def ip(*words, check=True):
    """Set up networks."""
    return subprocess.run(["ip", *words], check=check, capture_output=True, text=True)


def namespace(host):
    """Return the name of the namespace of a host of this process."""
    return f"directboost-{os.getpid()}-{host}"


def address(host):
    """Return the network address of a host."""
    return f"10.213.57.{1 + HOSTS.index(host)}"


def join(host):
    """Connect a host to the switch on the first one."""
    switch, own = namespace(HOSTS[0]), namespace(host)
    ends = "netns", own, "type", "veth", "peer", "name", f"to-{host}", "netns", switch
    ip("link", "add", "eth0", *ends)
    ip("-n", switch, "link", "set", f"to-{host}", "master", "switch", "up")
    ip("-n", own, "addr", "add", f"{address(host)}/24", "dev", "eth0")
    ip("-n", own, "link", "set", "eth0", "up")


@pytest.fixture
def network():
    """Set up three hosts on one switch."""
    if shutil.which("ip") is None:
        pytest.skip("network namespaces need the command ip, which is not there")
    try:
        for host in HOSTS:
            made = ip("netns", "add", namespace(host), check=False)
            if made.returncode:
                pytest.skip(f"network namespaces are not allowed here: {made.stderr.strip()}")
            ip("-n", namespace(host), "link", "set", "lo", "up")
        first = namespace(HOSTS[0])
        ip("-n", first, "link", "add", "switch", "type", "bridge")
        ip("-n", first, "addr", "add", f"{address(HOSTS[0])}/24", "dev", "switch")
        ip("-n", first, "link", "set", "switch", "up")
        for host in HOSTS[1:]:
            join(host)
        yield
    finally:
        for host in HOSTS:
            ip("netns", "del", namespace(host), check=False)


def start(host, *words, errors=subprocess.DEVNULL):
    """Start Python on a host."""
    command = ["ip", "netns", "exec", namespace(host), sys.executable, *map(str, words)]
    return subprocess.Popen(command, cwd=ROOT, stderr=errors, text=True)


def stop(process):
    """End a process, with those it has started where it can."""
    process.terminate()
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


@pytest.fixture
def scheduler(network, tmp_path):
    """Start a scheduler and two workers; return the address."""
    url = f"tcp://{address(HOSTS[0])}:8786"
    with ExitStack() as stack:
        first = start(HOSTS[0], "-m", "dask", "scheduler", "--port", 8786, "--no-dashboard")
        stack.callback(stop, first)
        for host in HOSTS[1:]:
            words = "--host", address(host), "--local-directory", tmp_path / host
            worker = start(
                host, "-m", "dask", "worker", url, "--nthreads", 1, "--no-dashboard", *words
            )
            stack.callback(stop, worker)
        yield url


def fit_there(url, file, cut=""):
    """Fit on the hosts, save the model and where its rows were; cut a cable in round 2."""
    hosts = []

    def callback(record):
        if record.round == 2:
            held = client.has_what()
            hosts.extend(sorted(worker for worker, keys in held.items() if keys))
            if cut:
                ip("link", "set", cut, "down")

    with Client(url, timeout=60) as client:
        client.wait_for_workers(2, timeout=60)
        model = fitted(client, callbacks=[callback], task_timeout=15.0, cluster_timeout=15.0)
        model.callbacks = None
        Path(file).write_bytes(pickle.dumps((model, hosts)))
        os._exit(0)  # a client does not wait for workers that are cut off


@pytest.mark.slow
@pytest.mark.timeout(280)
@pytest.mark.parametrize("cut", ["", "to-c"])
def test_two_hosts(cut, scheduler, tmp_path):
    """Rows are on both; the one that is unplugged takes its rows with it."""
    file = tmp_path / "model"
    call = f"fit_there({scheduler!r}, {str(file)!r}, {cut!r})"
    words = "-c", f"from tests.dask.test_two_hosts import *; {call}"
    process = start(HOSTS[0], *words, errors=subprocess.PIPE)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    model, hosts = pickle.loads(file.read_bytes())
    assert [host.rpartition(":")[0] for host in hosts] == [
        f"tcp://{address(host)}" for host in HOSTS[1:]
    ]
    expected = fitted()
    assert model.learners_ == expected.learners_
    np.testing.assert_array_equal(model.weights_, expected.weights_)
    assert model.certificate_ == expected.certificate_
