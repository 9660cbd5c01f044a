"""The one writer: takes commands and engine reports, lets the core decide, commits once, then acts (A6, A7)."""
