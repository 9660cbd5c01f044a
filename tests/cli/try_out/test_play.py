"""`play` tells the example in plain text when piped."""

from tests.cli.try_out.story import run


def test_play_tells_the_example_in_plain_text_when_piped():
    result = run("play")
    assert result.exit_code == 0
    assert "\x1b[" not in result.output
    for words in (
        "Before: every GPU is in use.",
        "victim sweep-a of Quota1.2",
        "squeezed 8",
        "Nothing more is to come.",
    ):
        assert words in result.output
