"""The header takes its names from its file, where none is given."""

import pytest

from directboost.export.c.syntax import check_name, name_of


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
def test_a_name_like_that_of_a_file(stem, name):
    assert name_of(stem) == name
    check_name(name)
