"""A test run that was started in the background ignores Ctrl-C, and so would every command it starts to be interrupted."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
