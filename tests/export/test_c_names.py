"""The default prefix of a header is derived from the name of its file."""

import pytest

from directboost.export.c.syntax import check_name, make_name


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("wine", "wine"),
        ("my model-2", "my_model_2"),
        ("2fast", "model_2fast"),
        ("_x_", "x"),
        ("模型", "model"),
        ("naïve", "na_ve"),
    ],
)
def test_names_are_derived_from_file_names(stem, name):
    assert make_name(stem) == name
    check_name(name)
