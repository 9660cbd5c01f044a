"""A newer version of QuotaTree: a copy of this one with one more migration, which makes a table."""

from __future__ import annotations

import shutil
from pathlib import Path

from quotatree.store.form import newest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "quotatree"
REVISION = "next"
MIGRATION = f'''"""What the next version keeps."""

from alembic import op
import sqlalchemy as sa

revision = "{REVISION}"
down_revision = "{newest()}"


def upgrade():
    op.create_table("next_things", sa.Column("id", sa.Text, primary_key=True))
'''


def newer_version(directory: Path) -> dict[str, str]:
    """Make it below the directory; return the environment of a command that is to be of that version."""
    package = directory / "newer" / "quotatree"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__", "console_files"))
    (package / "store" / "migrations" / "versions" / "r9999_next.py").write_text(MIGRATION, encoding="utf-8")
    return {"PYTHONPATH": str(package.parent)}
