"""Access to a cluster: real sockets, real certificates."""

import ipaddress
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress

import psutil
import pytest
from distributed import Client, LocalCluster, Security

import paramhs
from paramhs import Dask
from paramhs.core.errors import BadInput
from paramhs.execution.cluster import Credentials
from paramhs.execution.cluster.launch import start_cluster
from paramhs.formats.scenario import read_scenario
from paramhs.procedures.check import warnings
from tests.support.targets import SPACE, noisy

SCENARIO = """
function = "tests.support.targets:noisy"
space = "space.pcs"
instances = [1, 2, 3]
budget = {{runs = 20}}
executor = "dask"
{}
"""


def listening():
    """The network addresses at which this process and its children accept connections."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return {
        (connection.laddr.ip, connection.laddr.port)
        for process in processes
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }


@pytest.fixture(scope="module")
def private():
    """A local cluster of two workers, and the addresses that listen because of it."""
    before = listening()
    with start_cluster(Dask(), 2) as client:
        client.wait_for_workers(2)
        yield client, listening() - before


def test_a_local_cluster_listens_on_the_loopback_interface_only(private):
    _, addresses = private
    assert len(addresses) >= 5  # scheduler, its pages, two workers, two nannies
    assert all(ipaddress.ip_address(ip).is_loopback for ip, _ in addresses)


@pytest.mark.parametrize("scheme", ["tls", "tcp"])
@pytest.mark.parametrize("own", [False, True])
def test_a_local_cluster_refuses_strangers(private, scheme, own):
    client, _ = private
    address = client.scheduler.address.replace("tls://", f"{scheme}://")
    security = Security.temporary() if own else None
    with pytest.raises((OSError, TypeError, RuntimeError)):
        # The loop that runs already: Dask gives a new one ten seconds to start, busy or not.
        Client(address, security=security, timeout=5, loop=client.loop)


def test_every_address_of_a_local_cluster_refuses_strangers(private):
    """Workers and nannies run what they are sent, too."""
    client, _ = private
    workers = client.scheduler_info()["workers"]
    assert all(a.startswith("tls://") for a in workers)
    assert all(worker["nanny"].startswith("tls://") for worker in workers.values())


def test_a_local_cluster_has_no_pages_unless_asked_for(private):
    _, addresses = private
    found = []
    for _, port in addresses:
        for page in ("status", "info/main/workers.html", "json/counts.json", "metrics"):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=5)
            except OSError:  # no page, or no HTTP at all
                continue
            found.append(page)
    assert not found


def test_the_dashboard_needs_bokeh(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with (
        pytest.raises(BadInput, match="the dashboard needs bokeh"),
        start_cluster(Dask(dashboard=True), 1),
    ):
        pass


def test_the_dashboard_listens_on_the_loopback_interface_and_is_announced():
    pytest.importorskip("bokeh")
    from paramhs.execution.cluster.cluster import reach_cluster

    before = listening()
    with reach_cluster(Dask(dashboard=True), 1) as cluster:
        (said,) = cluster.standing.take_notices()
        address = said.removeprefix("dashboard: ")
        assert urllib.request.urlopen(address, timeout=30).status == 200
        assert all(ipaddress.ip_address(ip).is_loopback for ip, _ in listening() - before)


# Clusters elsewhere.


@pytest.fixture(scope="module")
def credentials(tmp_path_factory):
    """The three files that a cluster with TLS needs."""
    folder = tmp_path_factory.mktemp("tls")
    made = Security.temporary().get_tls_config_for_role("client")
    paths = {}
    for name in ("ca_file", "cert", "key"):
        paths[name] = folder / f"{name}.pem"
        paths[name].write_text(made[name])
    return Credentials(**{name: str(path) for name, path in paths.items()})


@contextmanager
def encrypted(tls):
    certificates = {f"tls_{r}_cert": tls.cert for r in ("client", "scheduler", "worker")}
    keys = {f"tls_{r}_key": tls.key for r in ("client", "scheduler", "worker")}
    security = Security(tls_ca_file=tls.ca_file, require_encryption=True, **certificates, **keys)
    with started(security) as cluster:
        yield cluster.scheduler_address


def started(security):
    """A local cluster; Dask gives its loop ten seconds to start, few on a busy machine."""
    settings = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    for _ in range(3):
        with suppress(AssertionError):
            return LocalCluster(security=security, memory_limit=0, **settings)
    raise TimeoutError("the loop of a local cluster did not start in three attempts")


def tuned(executor):
    return paramhs.tune(
        noisy, SPACE, instances=range(6), budget=20, seed=3, progress=False, executor=executor
    )


def test_an_encrypted_scheduler_takes_orders_with_its_credentials_only(credentials):
    with encrypted(credentials) as address:
        assert tuned(Dask(address, tls=credentials)).best == tuned(None).best
        with pytest.raises(BadInput, match="cannot be reached"):
            tuned(Dask(address))


def test_credentials_that_cannot_be_read_are_named(tmp_path):
    tls = Credentials(str(tmp_path / "none.pem"), "cert.pem", "key.pem")
    with pytest.raises(BadInput, match=r"ca_file cannot be read: .*none.pem"):
        tuned(Dask("tls://127.0.0.1:9", tls=tls))


@pytest.mark.parametrize(
    "given",
    [
        {"tls": Credentials("a", "b", "c")},
        {"tls": Credentials("a", "b", "c"), "client": len},
        {"tls": Credentials("a", "b", "c"), "system": "slurm", "options": {"security": False}},
        {"dashboard": True, "address": "tls://h:1"},
    ],
)
def test_settings_that_contradict_each_other_are_refused(given):
    with pytest.raises(BadInput):
        Dask(**given)


@pytest.mark.parametrize("system", ["slurm", "pbs", "lsf", "sge"])
def test_workers_of_a_batch_system_are_given_credentials(system, monkeypatch, tmp_path):
    from dask_jobqueue.core import JobQueueCluster

    monkeypatch.chdir(tmp_path)
    made = []
    monkeypatch.setattr(JobQueueCluster, "scale", lambda self, n: made.append(self))
    settings = Dask(system=system, options={"memory": "2 GB", "walltime": "01:00"})
    with start_cluster(settings, 7) as client:
        script = made[0].job_script()
        assert "--tls-key" in script
        assert "tls://" in script
        assert client.scheduler.address.startswith("tls://")
        (key,) = tmp_path.glob(".dask-jobqueue.worker.key.*")
        assert key.stat().st_mode & 0o077 == 0


def test_a_batch_system_can_be_used_without_encryption(monkeypatch):
    from dask_jobqueue.core import JobQueueCluster

    monkeypatch.setattr(JobQueueCluster, "scale", lambda self, n: None)
    settings = Dask(system="slurm", options={"memory": "2 GB", "security": False})
    assert "everyone on its network can run programs as you" in settings.exposure
    with start_cluster(settings, 1) as client:
        assert client.scheduler.address.startswith("tcp://")


# What scenarios say, and what `check` says of them.


def scenario(tmp_path, more):
    (tmp_path / "space.pcs").write_text("x {1,2,3}[1]\n")
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO.format(more))
    return read_scenario(path)


def test_a_scenario_names_credentials_from_its_own_folder(tmp_path):
    tls = 'address = "tls://h:1"\n[cluster.tls]\nca_file = "ca.pem"\ncert = "c.pem"\nkey = "/k.pem"'
    made = scenario(tmp_path, tls).executor
    assert made.tls == Credentials(str(tmp_path / "ca.pem"), str(tmp_path / "c.pem"), "/k.pem")


@pytest.mark.parametrize(
    ("more", "who"),
    [
        ('address = "tcp://10.0.0.1:8786"', "everyone on its network"),
        ('address = "10.0.0.1:8786"', "everyone on its network"),
        ('address = "tcp://127.0.0.1:8786"', "every user of this machine"),
        ('address = "tcp://[::1]:8786"', "every user of this machine"),
        ('address = "localhost:8786"', "every user of this machine"),
        ('address = "tls://10.0.0.1:8786"', None),
        ("", None),
        ('[cluster]\nsystem = "slurm"', None),
        ('[cluster]\nsystem = "slurm"\noptions = {protocol = "tcp://"}', "everyone on its"),
    ],
)
def test_check_warns_of_unprotected_schedulers(tmp_path, more, who):
    said = [line for line in warnings(scenario(tmp_path, more), []) if "encrypted" in line]
    assert len(said) == (who is not None)
    assert who is None or who in said[0]
