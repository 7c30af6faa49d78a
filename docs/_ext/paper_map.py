"""Gather which code and which tests stand for which equation of the paper.

Code says so in docstring lines such as `Paper: Eq. 33 (dual, logistic, l1,2).` and
`Differs: the reason.`; tests carry `@pytest.mark.paper("Eq. 33")`. The directive `paper-map`
puts the table or the list of differences into a page; run as a script, this file prints both.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTE = re.compile(r"^(Paper|Differs): (.+?)(?=\n\s*\n|\n(?:Paper|Differs): |\Z)", re.M | re.S)
KINDS = {"Eq": "Eq.", "Alg": "Algorithm", "Sec": "Section", "Tab": "Table", "Fig": "Figure"}
NUMBERS = r"\d+(?:\.\d+)*(?:\s*-\s*\d+)?"
PLACE = re.compile(
    r"\b(Eq|Alg|Sec|Tab|Fig)(?:uations?|orithms?|tions?|les?|ures?|s)?\.?\s+"
    rf"({NUMBERS}(?:(?:\s*,\s*|\s+and\s+){NUMBERS})*)"
)


@dataclass
class Entry:
    """What is known about one place of the paper."""

    code: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Departure:
    """A reason why code differs from the paper."""

    where: str
    reason: str


def places(text: str) -> list[str]:
    """Return the places a text names: `Eqs. 3, 5-6` gives Eq. 3, Eq. 5 and Eq. 6."""
    found = []
    for kind, numbers in PLACE.findall(text):
        for number in re.split(r"\s*,\s*|\s+and\s+", numbers):
            first, _, last = number.replace(" ", "").partition("-")
            expanded = map(str, range(int(first), int(last) + 1)) if last else [first]
            found += [f"{KINDS[kind]} {value}" for value in expanded]
    return found


def definitions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield every class and function below a node with its dotted name."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{prefix}{child.name}"
            yield name, child
            yield from definitions(child, f"{name}.")


def notes(path: Path, root: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (where, "Paper" or "Differs", text) for every such line of a source file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for name, node in [("", tree), *definitions(tree)]:
        where = ":".join(filter(None, [path.relative_to(root).as_posix(), name]))
        for kind, text in NOTE.findall(ast.get_docstring(node) or ""):
            yield where, kind, " ".join(text.split())


def marks(node: ast.AST) -> list[str]:
    """Return the arguments of the `paper` marks inside a syntax tree."""
    return [
        argument.value
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.paper"
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


def marked_tests(path: Path, root: Path) -> Iterator[tuple[str, str]]:
    """Yield (test, place text) for every `paper` mark of a test file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    where = path.relative_to(root).as_posix()
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            yield from ((where, text) for text in marks(statement))
    for name, node in definitions(tree):
        for decorator in node.decorator_list:
            yield from ((f"{where}:{name}", text) for text in marks(decorator))


def gather(root: Path) -> tuple[dict[str, Entry], list[Departure]]:
    """Read all sources and tests below the root of the repository."""
    entries: dict[str, Entry] = defaultdict(Entry)
    departures = []
    for path in sorted((root / "src").rglob("*.py")):
        for where, kind, text in notes(path, root):
            if kind == "Differs":
                departures.append(Departure(where, text))
                continue
            found = places(text)
            if not found:
                raise ValueError(f"{where}: no equation in `Paper: {text}`")
            for place in found:
                entries[place].code.append(where)
    for path in sorted((root / "tests").rglob("*.py")):
        for where, text in marked_tests(path, root):
            for place in places(text):
                entries[place].tests.append(where)
    return dict(entries), departures


def order(place: str) -> tuple[int, list[int]]:
    kind, number = place.split(" ")
    return list(KINDS.values()).index(kind), [int(part) for part in number.split(".")]


def cell(items: list[str]) -> str:
    return "<br>".join(f"`{item}`" for item in dict.fromkeys(items)) or "none"


def equations(root: Path = ROOT) -> str:
    """Return the table of places, code and tests as Markdown."""
    entries, _ = gather(root)
    lines = ["| Paper | Code | Tests |", "|---|---|---|"]
    for place in sorted(entries, key=order):
        lines.append(f"| {place} | {cell(entries[place].code)} | {cell(entries[place].tests)} |")
    return "\n".join(lines)


def differences(root: Path = ROOT) -> str:
    """Return the list of departures from the paper as Markdown."""
    _, departures = gather(root)
    return "\n".join(f"- `{item.where}`: {item.reason}" for item in departures)


def setup(app):
    from docutils.parsers.rst import directives
    from sphinx.util.docutils import SphinxDirective

    parts = {"equations": equations, "differences": differences}

    class PaperMap(SphinxDirective):
        required_arguments = 1

        def run(self):
            part = directives.choice(self.arguments[0], tuple(parts))
            return self.parse_text_to_nodes(parts[part]())

    app.add_directive("paper-map", PaperMap)
    # the map depends on files that Sphinx does not watch
    app.connect("env-get-outdated", lambda *_: ["paper_map"])
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    print(equations(), differences(), sep="\n\n")
