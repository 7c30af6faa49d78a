"""The entry point of the command `directboost`."""

import subprocess
import sys
from importlib.metadata import entry_points

#: Ctrl-C when the package, or a module of the command line, is imported.
_INTERRUPTED = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from directboost_command import main
main()
"""


def test_ctrl_c_while_modules_load_is_one_line():
    for module in ("directboost", "numpy", "directboost.cli"):
        command = [sys.executable, "-c", _INTERRUPTED, module]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (130, "")
        assert done.stderr == "directboost: Interrupted\n"


def test_the_installed_command_is_this_entry_point():
    (script,) = entry_points(group="console_scripts", name="directboost")
    assert script.value == "directboost_command:main"
