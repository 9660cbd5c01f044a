"""What may go to a terminal of text that others wrote? Letters and spaces; what steers a terminal is shown as \\x1b.

Everything that a command prints passes through `SafeStream`, so no call has to think of it. Text that must stay within
one line, such as a cell, goes through `one_line` before: the stream cannot tell a line of ours from a forged one.
"""

from __future__ import annotations

import codecs
import re
import sys
from typing import Any, BinaryIO, Final, TextIO

_STEERING: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
"""Control characters but tab and newline, what turns the direction of writing, line separators,
halves of characters.
"""
_UNSAFE: Final = re.compile(f"[{_STEERING}]")
_UNSAFE_IN_LINE: Final = re.compile(f"[{_STEERING}\t\n]")
_OUR_COLOURS: Final = re.compile("(\x1b\\[(?:0|3[1-36])m)")
"""What `click.style` writes for the colours that we use. None of them can hide text."""
_COLOURS: Final = re.compile("(\x1b\\[[0-9;:]{0,40}m)")
_OTHER_SEQUENCES: Final = re.compile("\x1b\\[[0-?]{0,40}[ -/]{0,4}[@-~]")
_BEGUN: Final = re.compile("\x1b(\\[[0-?]{0,40}[ -/]{0,4})?\\Z")
_BEGINS_FORMULA: Final = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""The last four are the wide forms of the first four, which spreadsheets of East Asia read as
those.
"""
RESET: Final = "\x1b[0m"


def printable(text: str) -> str:
    """The text with its lines, and everything else that steers a terminal as an escape such as \\x1b."""
    return _UNSAFE.sub(_escape, text)


def one_line(text: str) -> str:
    """The text as one line: newlines and tabs are escapes, too."""
    return _UNSAFE_IN_LINE.sub(_escape, text)


def safe_json(text: str) -> str:
    """JSON that means the same and has no character that steers a terminal; they can only stand in
    its strings.
    """
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def no_formula(cell: str) -> str:
    """The cell of a CSV file. What a spreadsheet would compute begins with an apostrophe then;
    numbers stay numbers.
    """
    if cell[:1] not in _BEGINS_FORMULA or cell == "-":
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


class SafeStream:
    """A stream that writes text without what steers a terminal. On a terminal the colours that we
    use stay.
    """

    def __init__(self, beneath: TextIO) -> None:
        self.beneath = beneath

    def write(self, text: str) -> int:
        if self.beneath.isatty():
            parts = _OUR_COLOURS.split(text)  # every second one is a colour
            self.beneath.write("".join(part if n % 2 else printable(part) for n, part in enumerate(parts)))
        else:
            self.beneath.write(printable(text))
        return len(text)

    @property
    def encoding(self) -> str:
        """What click is told. Of a stream that takes ASCII alone it would take the bytes beneath,
        beside our guard.
        """
        return "utf-8"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.beneath, name)


def guard_output() -> None:
    """Let everything that is printed from now on pass through a SafeStream."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, SafeStream):
            setattr(sys, name, SafeStream(stream))


def unguarded(stream: TextIO) -> TextIO:
    """The stream itself, for those who write their own control sequences and guard the text between
    them.
    """
    return stream.beneath if isinstance(stream, SafeStream) else stream


class LogOutput:
    """Where the output of a job goes: byte by byte to a pipe or a file. A terminal gets text with
    the job's colours and carriage returns; sequences that move the cursor, set titles or answer for
    the user do not reach it.
    """

    def __init__(self, stream: TextIO) -> None:
        self._to: BinaryIO = stream.buffer
        self._terminal = stream.isatty()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""  # a sequence whose end has not come
        self._coloured = False

    def write(self, piece: bytes) -> None:
        if self._terminal:
            piece = self._shown(self._decoder.decode(piece)).encode()
        self._to.write(piece)
        self._to.flush()

    def end(self) -> None:
        """Write what was held back, and end the colours of the job."""
        if self._terminal:
            rest = _UNSAFE.sub(_escape, self._begun + self._decoder.decode(b"", final=True))
            self._to.write((rest + (RESET if self._coloured else "")).encode())
            self._to.flush()

    def _shown(self, text: str) -> str:
        text = self._begun + text
        begun = _BEGUN.search(text)
        self._begun = "" if begun is None else begun[0]
        text = text[: len(text) - len(self._begun)]
        parts = _COLOURS.split(text)
        self._coloured = self._coloured or len(parts) > 1
        return "".join(
            part if n % 2 else "\r".join(printable(_OTHER_SEQUENCES.sub("", one)) for one in part.split("\r"))
            for n, part in enumerate(parts)
        )
