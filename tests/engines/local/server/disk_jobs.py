"""Programs that hide what they write from a measurement of the disk, each in another way."""

from __future__ import annotations

from typing import Final

from tests.engines.local.machine import PYTHON

FILL: Final = "head -c 3000000 /dev/zero"
_DOWN: Final = """
import os, sys, time
for _ in range(int(sys.argv[1])):
    os.mkdir(sys.argv[2]); os.chdir(sys.argv[2])
open("file", "wb").write(bytes(3_000_000))
print("written", flush=True); time.sleep(600)
"""
DEEP: Final = [PYTHON, "-c", _DOWN, "150", "d" * 200]
"""A path of 30,000 bytes: longer than any that can be named at once."""
TOO_DEEP: Final = [PYTHON, "-c", _DOWN, "300", "d"]
AT_HOME: Final = f"{FILL} > $HOME/file; echo written; sleep 600"
MANY: Final = "i=0; while [ $i -lt 1000 ]; do : > $i; i=$((i+1)); done; echo written; sleep 600"
LINKED: Final = "head -c 1500000 /dev/zero > a; ln a b; ln a c; ln -s /usr usr; truncate -s 1T hole; echo written; sleep 600"
REMOVED: Final = f"exec 3> file; rm file; {FILL} >&3; sync; echo written; sleep 600"
