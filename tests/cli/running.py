"""Run the command line inside the test process."""

import json

import pytest

from directboost import cli


def run(capsys, *arguments):
    """Run the command line; return the exit code, standard output and standard error."""
    with pytest.raises(SystemExit) as info:
        cli.main([str(argument) for argument in arguments])
    code = info.value.code
    out, err = capsys.readouterr()
    if isinstance(code, str):  # the interpreter prints it and exits with code 1
        return 1, out, err + code + "\n"
    return code or 0, out, err


def run_json(capsys, *arguments):
    """Run a successful command with --json; return the object, the only output."""
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    assert out.count("\n") == 1
    return json.loads(out)


def error_line(capsys, *arguments):
    """Run a command that fails; return its error message, a single line."""
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (1, "")
    assert err.startswith("directboost: ")
    assert err.count("\n") == 1
    return err
