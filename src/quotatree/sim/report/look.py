"""What does the page wear? Light or dark as the reader's system says, plots always on white, and fit to be printed."""

from typing import Final

CSS: Final = """
:root { color-scheme: light dark; --ink: #1b1f24; --faint: #5b6470; --line: #d8dde3; --page: #ffffff; --soft: #f4f6f8;
  --best: #e3f1e6; --mark: #14713d; --warn: #fff0d6; --warn-line: #c77700; --link: #0a5ca8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7eaee; --faint: #a2abb6; --line: #3a424c; --page: #15191e; --soft: #1e242b; --best: #173a26;
    --mark: #7fd6a0; --warn: #40300f; --warn-line: #e0a030; --link: #7db8f0; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 24px 28px 64px; }
h1 { font-size: 1.75em; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.25em; margin: 40px 0 8px; padding-bottom: 4px; border-bottom: 1px solid var(--line); }
h3 { font-size: 1em; margin: 16px 0 4px; }
p, figcaption { max-width: 80ch; margin: 6px 0 12px; }
figcaption, .subtitle, small { color: var(--faint); }
.subtitle { overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 14px 0; font-size: 0.93em; }
a { color: var(--link); }
.warning { background: var(--warn); border-left: 5px solid var(--warn-line); padding: 10px 14px; max-width: none; }
figure { margin: 0; }
.card { background: #ffffff; border: 1px solid var(--line); border-radius: 6px; padding: 10px; }
.card svg { display: block; width: 100%; height: auto; }
.card svg * { stroke-linejoin: round; stroke-linecap: butt; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 10px; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { overflow-wrap: break-word; max-width: 22em; }
thead th { background: var(--soft); border-bottom: 2px solid var(--line); }
tbody th { font-weight: 600; }
.number { text-align: right; white-space: nowrap; }
thead .number { white-space: normal; }
td small { display: block; font-size: 0.82em; }
.summary tbody th { min-width: 15em; }
.summary th small { display: block; font-weight: 400; font-size: 0.85em; line-height: 1.35; max-width: 62ch; }
.arrow { color: var(--faint); font-weight: 400; }
.best { background: var(--best); }
.tag { color: var(--mark); font-size: 0.75em; font-weight: 600; }
.facts th { white-space: nowrap; }
.facts td { overflow-wrap: anywhere; }
.facts .differs { border-left: 3px solid var(--link); }
.groups td, .groups tbody th { padding-top: 3px; padding-bottom: 3px; }
.groups .first th, .groups .first td { border-top: 1px solid var(--faint); }
.unsafe { color: var(--warn-line); font-weight: 700; }
pre { background: var(--soft); padding: 10px 12px; white-space: pre-wrap; overflow-wrap: anywhere; }
summary { cursor: pointer; color: var(--link); }
@media (max-width: 900px) { .groups { font-size: 0.87em; } .groups th, .groups td { padding-left: 6px; padding-right: 6px; } }
@media (max-width: 640px) { main { padding: 16px 12px 40px; } th, td { padding: 4px 6px; } }
@media print {
  :root { --ink: #000; --faint: #444; --line: #bbb; --page: #fff; --soft: #eee; --best: #e3f1e6; --mark: #14713d;
    --warn: #fff0d6; --warn-line: #a05f00; --link: #000; }
  nav { display: none; } main { max-width: none; padding: 0; } figure, tr { break-inside: avoid; }
  h2 { break-after: avoid; } body { font-size: 11px; }
}
"""
