"""A mapping that makes no sense is refused."""

import pytest

from quotatree.sim.mapping import MappingError, Source, read_mapping


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"tema": "vc"}, "mapping.tema = 'vc': is not a field; fields are team, user"),
        ({"priority": 12}, "must be 1 to 9"),
        ({"module": {"constant": "GPU"}}, "must be one of DLC, DSW, EAS"),
        ({"priority": {"column": "q", "values": {"a": 0}}}, "must be 1 to 9"),
        ({"team": {"column": "a", "constant": "b"}}, "either a `column` or a `constant`"),
        ({"team": {"colum": "a"}}, "colum is not known here"),
        ({"team": {"constant": "a", "default": "b"}}, "a constant stands alone"),
        ({"team": ["a"]}, "must be a column's name"),
        ({"checkpoint": 0}, "must be seconds"),
        ({"guaranteed": {"constant": "maybe"}}, "must be yes or no"),
        ({"priority": {"column": "q", "values": [1]}}, "values must be a table"),
        ({"priority": {"column": 3}}, "column must be the name of a column"),
        ({"priority": {"column": "q", "values": {"a": [1]}}}, "must be a text, a number"),
    ],
)
def test_a_mapping_that_makes_no_sense_is_refused(table: dict[str, object], message: str):
    with pytest.raises(MappingError) as caught:
        read_mapping(table)
    assert message in str(caught.value)


def test_an_empty_cell_takes_the_default():
    assert Source("q", (), "3").text("") == "3"
    assert Source("q", (), "3").text("5") == "5"
