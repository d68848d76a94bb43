"""Functions and files of paramhs on the way of three calls: how much a reader has to follow.

`python -m benchmarks.overhead.walk` runs each call in a process of its own under `sys.setprofile`
and counts the distinct functions of paramhs that are entered, and their files. Module bodies are
not counted: importing a module is not a step of the call.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

PRELUDE = """
import json, os, sys, threading, paramhs
ROOT = os.path.dirname(paramhs.__file__)
entered = set()
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(ROOT) and code.co_name != "<module>":
        entered.add((code.co_filename, code.co_firstlineno))
def start():
    threading.setprofile(note)
    sys.setprofile(note)
def finish():
    sys.setprofile(None)
    print(json.dumps([len(entered), len({file for file, _ in entered})]))
"""

TUNE = """
from paramhs import Integer, tune
start()
tune(lambda config: (config["x"] - 7) ** 2, {"x": Integer(0, 20)}, budget=60, progress=False)
finish()
"""

ASK_TELL = """
from paramhs import AskTell, Integer
start()
search = AskTell({"x": Integer(0, 20)})
for _ in range(60):
    task = search.ask()
    search.tell(task, (task.config["x"] - 7) ** 2)
search.result
finish()
"""

COMMAND = """
import contextlib, io
from paramhs.cli import main
start()
said = io.StringIO()
sys.argv = ["paramhs", "tune", "scenario.toml"]
with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
    with contextlib.suppress(SystemExit):
        main()
finish()
"""

SCENARIO = """
command = [{python}, "target.py", "{{x}}", "{{instance}}"]
cost = "minimise"
read = "last number"
instances = ["a", "b", "c", "d", "e", "f", "g", "h"]
[budget]
runs = 60
[space.x]
type = "integer"
low = 0
high = 20
"""

CALLS = {"tune(f)": TUNE, "AskTell": ASK_TELL, "paramhs tune": COMMAND}


def entered(call: str, folder: str) -> tuple[int, int]:
    """Functions and files entered by a call in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + CALLS[call]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    functions, files = json.loads(done.stdout.splitlines()[-1])
    return functions, files


def write_scenario(folder: str) -> None:
    """Write a scenario with a Python script as its program."""
    at = Path(folder)
    (at / "scenario.toml").write_text(SCENARIO.format(python=json.dumps(sys.executable)))
    (at / "target.py").write_text("import sys\nprint((int(sys.argv[1]) - 7) ** 2)\n")


def main() -> None:
    """Print one row for each call."""
    with tempfile.TemporaryDirectory() as folder:
        write_scenario(folder)
        print(f"{'call':<14}{'functions':>10}{'files':>8}")
        for call in CALLS:
            functions, files = entered(call, folder)
            print(f"{call:<14}{functions:>10,}{files:>8,}")


if __name__ == "__main__":
    main()
