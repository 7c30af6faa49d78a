"""Runs the command line inside the test process."""

import json

import pytest

from directboost import cli


def leave(capsys, *arguments):
    """Run the command line; return its exit code, output and errors."""
    with pytest.raises(SystemExit) as info:
        cli.main([str(argument) for argument in arguments])
    code = info.value.code
    out, err = capsys.readouterr()
    if isinstance(code, str):  # the interpreter prints it and leaves with 1
        return 1, out, err + code + "\n"
    return code or 0, out, err


def answer(capsys, *arguments):
    """Run a command that succeeds with --json; return its object, the only thing on the output."""
    code, out, err = leave(capsys, *arguments, "--json")
    assert code == 0, err
    assert out.count("\n") == 1
    return json.loads(out)


def refusal(capsys, *arguments):
    """Run a command that fails; return its one line."""
    code, out, err = leave(capsys, *arguments)
    assert (code, out) == (1, "")
    assert err.startswith("directboost: ")
    assert err.count("\n") == 1
    return err
