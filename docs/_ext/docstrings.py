"""Let docstrings be plain text.

Formulas in docstrings are written as one would type them, so `*`, `|` and a closing `_` mean
themselves and not reStructuredText markup. The lines `Paper:` and `Differs:` may stand anywhere
in a docstring; here they move to a section of their own at its end.
"""

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

# The line that opens the entry of a parameter: names, perhaps a type, then an indented line.
ENTRY = re.compile(r"^([\w, *]+)(?: : ([^`\n]+))?$(?=\n {4}\S)", re.MULTILINE)
# What stays as it is: code in backquotes, literal blocks, doctests, and such opening lines.
KEPT = re.compile(rf"``.+?``|`[^`]+`|::\n\n(?:(?: .*)?\n)+|^ *>>>.*$|{ENTRY.pattern}", re.MULTILINE)
MARKUP = re.compile(r"[*|]|(?<=\w)_(?!\w)")
CLOSING_UNDERSCORE = re.compile(r"(?<=\w)_(?!\w)")
NOTE = re.compile(r"(?:Paper|Differs): ")


def keep(text: str) -> str:
    """Return kept text as napoleon wants it: the type of a parameter is code, not links."""
    entry = ENTRY.match(text + "\n    .")
    if not entry:
        return text
    names = CLOSING_UNDERSCORE.sub(r"\\_", entry[1])
    return f"{names} : ``{entry[2]}``" if entry[2] else names


def escape(text: str) -> str:
    """Return the text with markup characters made literal outside of what is kept."""
    parts, end = [], 0
    for kept in KEPT.finditer(text):
        parts += [MARKUP.sub(r"\\\g<0>", text[end : kept.start()]), keep(kept.group())]
        end = kept.end()
    return "".join([*parts, MARKUP.sub(r"\\\g<0>", text[end:])])


def split_notes(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return the other lines, and the notes with their continuation lines joined."""
    body: list[str] = []
    notes: list[str] = []
    inside = False
    for line in lines:
        if NOTE.match(line):
            notes.append(line)
            inside = True
        elif inside and line.strip():
            notes[-1] += " " + line.strip()
        else:
            body.append(line)
            inside = False
    return body, notes


def process(_app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]):
    body, notes = split_notes(lines)
    if notes:
        body += ["", "In the paper", "------------", *(f"- {note}" for note in notes), ""]
    lines[:] = escape("\n".join(body)).split("\n")


def setup(app: Sphinx) -> ExtensionMetadata:
    # before napoleon, which listens with the default priority of 500
    app.connect("autodoc-process-docstring", process, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
