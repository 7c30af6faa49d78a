"""Exit codes, messages, help and version; each command has its own test file."""

import subprocess
import sys
import warnings

import pytest
import typer

import directboost
from directboost import cli
from directboost.cli import app
from tests.cli.running import run


@pytest.fixture
def failing(monkeypatch):
    """Add a command that fails."""
    commands = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
    commands.callback()(app.root)

    @commands.command()
    def work():
        raise ValueError("the first line\n  and the second")

    @commands.command()
    def silent():
        raise KeyError

    @commands.command()
    def warn():
        warnings.warn("mind\n the gap", stacklevel=1)

    monkeypatch.setattr(app, "app", commands)


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"directboost {directboost.__version__}\n", "")


def test_help_lists_the_commands(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for name in ("fit", "predict", "evaluate", "inspect", "export", "cv", "bench", "reproduce"):
        assert f"\n  {name} " in out
    assert "--debug" in out


@pytest.mark.parametrize("arguments", [["nosuch"], ["bench", "--nosuch"], ["--nosuch"]])
def test_wrong_usage(capsys, arguments):
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert "nosuch" in err


@pytest.mark.usefixtures("failing")
def test_an_error_is_one_line(capsys):
    assert run(capsys, "work") == (1, "", "directboost: the first line and the second\n")
    assert run(capsys, "silent") == (1, "", "directboost: KeyError\n")


@pytest.mark.usefixtures("failing")
def test_a_warning_is_one_line(capsys):
    assert run(capsys, "warn") == (0, "", "directboost: warning: mind the gap\n")


@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize("arguments", [["--debug", "work"], ["work", "--debug"]])
def test_debug_shows_the_traceback(arguments):
    with pytest.raises(ValueError, match="the second"):
        cli.main(arguments)


@pytest.mark.parametrize("package", ["typer", "rich", "polars"])
def test_missing_package_is_reported_with_the_install_command(capsys, monkeypatch, package):
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == package else name)
    reason = f"directboost: The command line needs {package}; install it with: "
    command = "pip install 'directboost[cli]'\n"
    assert run(capsys, "--version") == (1, "", reason + command)


def test_errors_go_to_standard_error_with_code_1(tmp_path):
    """`python -m directboost` runs a command: no directory can be created below a file."""
    (tmp_path / "file").touch()
    command = [sys.executable, "-m", "directboost", "bench", "--out", str(tmp_path / "file" / "x")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("directboost: ")
    assert done.stderr.count("\n") == 1
