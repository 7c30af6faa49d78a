"""Blocks of a CSV file contain the same records, whatever the block size."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.cli.tables import records as module
from directboost.cli.tables.records import csv_blocks

CELLS = st.text(alphabet='ab,"\n\r é', max_size=6)
TABLES = st.integers(2, 4).flatmap(
    lambda d: st.lists(st.lists(CELLS, min_size=d, max_size=d), min_size=1, max_size=12)
)


def written(rows, end):
    """Write rows with the standard library; every row has a comma, so that no line is blank."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    return text.getvalue().encode()


def parsed(text):
    return list(csv.reader(io.StringIO(text.decode(), newline="")))


@given(
    rows=TABLES, size=st.integers(1, 40), end=st.sampled_from(["\n", "\r\n"]), last=st.booleans()
)
def test_blocks_contain_complete_records(tmp_path_factory, rows, size, end, last):
    """Cells contain commas, quotation marks and line ends; the last line end may be missing."""
    path = tmp_path_factory.mktemp("t") / "t.csv"
    text = written(rows, end)
    path.write_bytes(text if last else text.removesuffix(end.encode()))
    blocks = list(csv_blocks(path, size=size))
    assert all(parsed(block.header) == [rows[0]] for block in blocks)
    found = [row for block in blocks for row in parsed(block.records)]
    assert found == rows[1:]
    lines = [blocks[0].header.count(b"\n") + 1]
    lines += [block.records.count(b"\n") for block in blocks[:-1]]
    assert [block.line for block in blocks] == np.cumsum(lines).tolist()


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_blank_lines_at_the_ends_are_ignored(tmp_path, size):
    """Blank lines between records are kept, so that row numbers do not change."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbf\r\na,b\n1,2\n\n3,4\n\r\n\n\n")
    blocks = list(csv_blocks(path, size=size))
    assert {block.header for block in blocks} == {b"a,b\n"}
    assert b"".join(block.records for block in blocks) == b"1,2\n\n3,4\n"
    assert blocks[0].line == 3


def test_a_header_alone_is_one_block(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b")
    (block,) = csv_blocks(tmp_path / "t.csv")
    assert block.text == b"a,b\n"


def test_an_unclosed_quotation_mark(tmp_path, monkeypatch):
    """The rest of the file would be one record; it is rejected before it fills the memory."""
    monkeypatch.setattr(module, "_MAX_RECORD", 1000)
    (tmp_path / "t.csv").write_text('a,b\n1,"2\n' + "3,4\n" * 1000)
    with pytest.raises(ValueError, match=r"A record of .* quotation mark is probably not closed"):
        list(csv_blocks(tmp_path / "t.csv", size=100))
