"""Hostile programs and functions, each with what may become of it."""

import ctypes
import mmap
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

CUTOFF = 1.0  # seconds, where a limit is at stake
PATIENCE = 30.0  # seconds, elsewhere: a busy machine may take its time
GRACE = 0.2  # seconds
MEMORY = 200e6  # bytes


class Kind(NamedTuple):
    """A hostile program (a line for the shell) or function."""

    name: str
    what: Any
    becomes: str
    """The statuses that its runs may have."""
    clock: str = "wall"

    @property
    def cutoff(self) -> float:
        """Cutoff of the runs of this program."""
        return CUTOFF if "timeout" in self.becomes or " to " in self.name else PATIENCE


def _python(code: str) -> str:
    return f"exec {shlex.join([sys.executable, '-I', '-S', '-c', code])}"


_ANCESTORS = """
import os, signal, sys, time
def parent(pid): return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
keeper = os.getppid(); warden = parent(keeper)
for pid in (keeper, warden):  # no other process may be harmed
    assert open(f"/proc/{pid}/comm").read().startswith("run-")
def alone():  # two sessions, no environment
    if os.fork() == 0: os.setsid()
    os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", LATER], {})
"""


def _to_ancestors(who: str, number: int, alone: bool = False) -> str:
    """Signal the keeper, the warden or both, and stay; perhaps as an unknown process."""
    signals = f"[os.kill(pid, {number}) for pid in ({who},)]"
    if not alone:
        return _python(f"{_ANCESTORS}\n{signals}\ntime.sleep(60)")
    later = f"LATER = f'import os, time; [os.kill(pid, {number}) for pid in ({{{who}}},)]; "
    return _python(f"{_ANCESTORS}\n{later}time.sleep(60)'\nalone()")


_DAEMON = "import os, time\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0: time.sleep(60)\n"
_CHAINS = """
import os, time
end = time.monotonic() + 20  # were it not ended, it would not go on for ever
for _ in range({}):
    if os.fork() == 0:
        while time.monotonic() < end:
            if os.fork(): os._exit(0)
            {}
        os._exit(0)
{}
"""
_BOMB = """
import os, time
end = time.monotonic() + 20
for _ in range(6): os.fork()  # 64 at a time, each of which goes on
while time.monotonic() < end:
    if os.fork(): os._exit(0)
"""
_MEMFD = (
    "import os, time\nf = os.memfd_create('x')\nfor _ in range(400): os.write(f, b'x' * 10**6)\n"
)
_SHM = _MEMFD.replace("os.memfd_create('x')", "os.open('/dev/shm', os.O_TMPFILE | os.O_RDWR)")
_SHARED = """
import mmap, os, time
m = mmap.mmap(-1, 400_000_000)
for at in range(0, 400_000_000, 4096): m[at] = 1
time.sleep(60)
"""
_CHILDREN = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        kept = b"x" * 100_000_000
        break
time.sleep(60)
"""
_LEADERLESS = """
import ctypes, threading, time
def fill():
    kept = [time.sleep(0.005) or b"x" * 10_000_000 for _ in range(60)]
    time.sleep(60)
threading.Thread(target=fill).start()
ctypes.CDLL(None).pthread_exit(None)
"""
_EAT = "k = []\nwhile len(k) < 400: k.append(b'x' * 10_000_000)"
_DEAF = "import signal, time\nfor n in signal.valid_signals() - {9, 19}: signal.signal(n, 1)\n"

PROGRAMS = [
    Kind("calm", "echo 7", "ok"),
    Kind("exit code 3", "exit 3", "crashed"),
    Kind("dies of SIGSEGV", "ulimit -c 0; kill -SEGV $$", "crashed"),
    Kind("dies of SIGKILL", "kill -9 $$", "crashed"),
    Kind("kills its own group", "kill -9 0", "crashed"),
    Kind("sleeps", "sleep 60", "timeout"),
    Kind("ignores SIGTERM", "trap '' TERM; while :; do sleep 1; done", "timeout"),
    Kind("ignores every signal", _python(_DEAF + "time.sleep(60)"), "timeout"),
    Kind("stops itself", "kill -STOP $$", "timeout"),
    Kind("stops its children", "sleep 60 & kill -STOP $!; sleep 60", "timeout"),
    Kind("burns processor time", "while :; do :; done", "timeout", "cpu"),
    Kind("burns it in children", "for i in 1 2 3; do while :; do :; done & done; wait", "timeout",
         "cpu"),
    Kind("burns it in short children", "while :; do (i=0; while [ $i -lt 9999 ]; do i=$((i+1));"
         " done); done", "timeout", "cpu"),
    Kind("sleeps while processor time counts", "sleep 60", "timeout", "cpu"),
    Kind("leaves children", "sleep 60 & sleep 60 & echo 7", "ok"),
    Kind("leaves a daemon", _python(_DAEMON + "print(7)"), "ok"),
    Kind("leaves a daemon and hangs", _python(_DAEMON + "time.sleep(60)"), "timeout"),
    Kind("leaves 100 deaf children", "for i in $(seq 100); do (trap '' TERM; sleep 60) & done;"
         " echo 7", "ok"),
    Kind("forks when asked to end", "trap 'for i in 1 2 3; do sleep 60 & done' TERM; sleep 60",
         "timeout"),
    Kind("a chain of forks", _python(_CHAINS.format(1, "pass", "print(7)")), "ok"),
    Kind("a chain of sessions", _python(_CHAINS.format(1, "os.setsid()", "print(7)")), "ok"),
    Kind("20 chains of forks", _python(_CHAINS.format(20, "pass", "time.sleep(60)")), "timeout"),
    Kind("a fork bomb of 64", _python(_BOMB), "ok crashed timeout"),
    Kind("prints for ever", "exec cat /dev/zero", "timeout"),
    Kind("complains for ever", "exec cat /dev/zero >&2", "timeout"),
    Kind("prints 50 MB in a line", _python("print('x' * 50_000_000, 7)"), "ok"),
    Kind("prints a million digits", _python("print('1' * 1_000_000 + 'x')"), "crashed"),
    Kind("prints bytes that are no text", "head -c 1000000 /dev/urandom; echo; echo 7", "ok"),
    Kind("closes its output", "exec >&- 2>&-; sleep 60", "timeout"),
    Kind("holds its output open", "sleep 60 & echo 7", "ok"),
    Kind("deletes its folder", "d=$(mktemp -d); cd $d; rmdir $d; echo 7", "ok"),
    Kind("opens all files it may", _python("import os, time\nwhile True:\n try: os.dup(0)\n"
         " except OSError: time.sleep(60)"), "timeout"),
    Kind("fills memory", _python(_EAT), "crashed"),
    Kind("fills memory, its first thread gone", _python(_LEADERLESS), "crashed"),
    Kind("fills memory in children", _python(_CHILDREN), "crashed"),
    Kind("fills a memfd", _python(_MEMFD + "time.sleep(60)"), "crashed"),
    Kind("fills a file in /dev/shm", _python(_SHM + "time.sleep(60)"), "crashed"),
    Kind("fills a shared mapping", _python(_SHARED), "crashed"),
    Kind("reserves memory without use", _python("import mmap; m = mmap.mmap(-1, 10**10); print(7)"),
         "ok"),
    *(
        Kind(f"SIG{name} to its keeper", f"kill -{name} $PPID; echo 7", "ok")
        for name in ("HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "ALRM", "TSTP", "CONT")
    ),
    Kind("takes files from its keeper", "prlimit --pid $PPID --nofile=8:8; echo 7", "ok"),
    Kind("takes memory from its keeper", "prlimit --pid $PPID --as=1000000; echo 7", "ok"),
    Kind("makes its keeper nice", "renice 19 $PPID > /dev/null; echo 7", "ok"),
    Kind("a flood of SIGCONT to its keeper", "while :; do kill -CONT $PPID; done", "timeout"),
    Kind("SIGKILL to its keeper", _to_ancestors("keeper", signal.SIGKILL), "crashed"),
    Kind("SIGSEGV to its keeper", _to_ancestors("keeper", signal.SIGSEGV), "crashed"),
    Kind("SIGSTOP to its keeper", _to_ancestors("keeper", signal.SIGSTOP), "crashed"),
    Kind("SIGKILL to its keeper, unknown", _to_ancestors("keeper", signal.SIGKILL, alone=True),
         "crashed"),
    Kind("SIGSTOP to its keeper, unknown", _to_ancestors("keeper", signal.SIGSTOP, alone=True),
         "crashed"),
    Kind("SIGKILL to its warden", _to_ancestors("warden", signal.SIGKILL), "crashed"),
    Kind("SIGKILL to its warden, unknown", _to_ancestors("warden", signal.SIGKILL, alone=True),
         "crashed"),
    Kind("SIGSTOP to its warden", _to_ancestors("warden", signal.SIGSTOP), "timeout"),
    Kind("SIGSTOP to both", _to_ancestors("warden, keeper", signal.SIGSTOP), "crashed"),
    Kind("SIGKILL to both", _to_ancestors("warden, keeper", signal.SIGKILL), "crashed"),
]  # fmt: skip


def _returns_twice() -> float:
    return 1000.0 if os.fork() == 0 else 7.0


def _raises_twice() -> float:
    if os.fork() == 0:
        raise ValueError
    return 7.0


def _writes_everywhere() -> float:
    for number in range(3, 64):
        with suppress(OSError):
            if os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                os.write(number, b"\0" * 1000)
    return 7.0


def _leaves_threads() -> float:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    return 7.0


def _leaves_children() -> float:
    subprocess.Popen(["sleep", "60"], start_new_session=True)
    return 7.0


def _is_deaf() -> float:
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    time.sleep(60)
    return 7.0


def _eats() -> float:
    kept = []
    while len(kept) < 400:
        kept.append(b"x" * 10_000_000)
    return 7.0


def _shares() -> float:
    shared = mmap.mmap(-1, 400_000_000)
    for at in range(0, 400_000_000, 4096):
        shared[at] = 1
    time.sleep(60)
    return 7.0


def _returns(thing: Any) -> Callable[[], Any]:
    return lambda: thing


class _Nasty:
    def __float__(self) -> float:
        raise MemoryError

    def __repr__(self) -> str:
        raise ValueError


FUNCTIONS = [
    Kind("f: calm", _returns(7.0), "ok"),
    Kind("f: forks, and both return", _returns_twice, "ok"),
    Kind("f: forks, and the child raises", _raises_twice, "ok"),
    Kind("f: writes to every socket", _writes_everywhere, "crashed timeout"),
    Kind("f: closes every file", lambda: os.closerange(3, 1024) or 7.0, "crashed"),
    Kind("f: leaves threads", _leaves_threads, "ok"),
    Kind("f: leaves children", _leaves_children, "ok"),
    Kind("f: exits", lambda: os._exit(3), "crashed"),
    Kind("f: sys.exit", lambda: sys.exit(3), "crashed"),
    Kind("f: dies in C", lambda: ctypes.string_at(0), "crashed"),
    Kind("f: kills itself", lambda: os.kill(os.getpid(), signal.SIGKILL), "crashed"),
    Kind("f: kills its group", lambda: os.kill(0, signal.SIGKILL), "crashed"),
    Kind("f: stops itself", lambda: os.kill(os.getpid(), signal.SIGSTOP), "timeout"),
    Kind("f: is deaf", _is_deaf, "timeout"),
    Kind("f: is lost in C", lambda: re.match(r"(a+)+$", "a" * 60 + "b"), "timeout"),
    Kind("f: fills memory", _eats, "crashed"),
    Kind("f: fills a shared mapping", _shares, "crashed"),
    Kind("f: returns what is no number", _returns(_Nasty()), "crashed"),
    Kind("f: returns a long text", _returns("x" * 10_000_000), "crashed"),
    Kind("f: SIGKILL to its keeper", lambda: os.kill(os.getppid(), 9) or time.sleep(60), "crashed"),
    Kind("f: SIGSTOP to its keeper", lambda: os.kill(os.getppid(), 19) or time.sleep(60),
         "crashed"),
]  # fmt: skip
