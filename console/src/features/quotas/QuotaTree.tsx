// The tree with live bars: quick to read, one GPU as wide in every row.
import { TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState, type KeyboardEvent } from "react";
import type { Quota } from "../../api/types";
import { BarLegend, QuotaBar } from "../../components/QuotaBar";
import { figuresOf, scaleOf } from "../../components/bar";
import { number } from "../../formats";
import { rowsOf, type Row, type Stub } from "./tree";

const ROW_PX = 34;

export function QuotaTree({ quotas, stubs, selected }: { quotas: readonly Quota[]; stubs: readonly Stub[]; selected: string | undefined }) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [find, setFind] = useState("");
  const [own, setOwn] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const navigate = useNavigate();
  const rows = useMemo(() => rowsOf(quotas, stubs, folded, find), [quotas, stubs, folded, find]);
  const scale = useMemo(() => scaleOf(quotas.map((one) => figuresOf(one.usage, one.reserved))), [quotas]);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: () => ROW_PX, overscan: 10 });
  const fold = (id: string, shut: boolean) => {
    const next = new Set(folded);
    if (shut) next.add(id);
    else next.delete(id);
    setFolded(next);
  };
  const choose = (row: Row) => {
    if (row.quota !== null) void navigate({ to: "/quotas/$quota", params: { quota: row.id } });
  };
  const onKey = (event: KeyboardEvent) => {
    const at = Math.max(0, rows.findIndex((row) => row.id === (document.activeElement as HTMLElement | null)?.dataset["id"]));
    const row = rows[at];
    if (row === undefined) return;
    const go = (place: number) => {
      const target = rows[Math.min(rows.length - 1, Math.max(0, place))];
      if (target === undefined) return;
      virtual.scrollToIndex(rows.indexOf(target));
      requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(target.id)}"]`)?.focus());
    };
    const actions: Record<string, () => void> = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      ArrowRight: () => (row.children > 0 && !row.open ? fold(row.id, false) : go(at + 1)),
      ArrowLeft: () => (row.open ? fold(row.id, true) : go(rows.findIndex((one) => one.id === row.parent))),
      Enter: () => choose(row),
      " ": () => choose(row),
    };
    const act = actions[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  const focusable = rows.some((row) => row.id === selected) ? selected : rows[0]?.id;
  return (
    <section className="qtree" aria-label="Tree of quotas">
      <div className="row apart" style={{ padding: "0 2px 8px" }}>
        <TextInput aria-label="Find a quota" placeholder="Find…" value={find} onChange={(e) => setFind(e.currentTarget.value)} style={{ flex: 1 }} />
        <button className="linkish small" aria-pressed={own} onClick={() => setOwn(!own)} title="how wide a bar is drawn">
          {own ? "width: own min" : "width: same scale"}
        </button>
      </div>
      <div ref={box} className="qtree-rows" role="tree" aria-label="Quotas" onKeyDown={onKey}>
        <div role="presentation" style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            return (
              <TreeRow
                key={row.id}
                row={row}
                top={item.start}
                scale={own ? 0 : scale}
                selected={row.id === selected}
                focusable={row.id === focusable}
                onFold={fold}
                onChoose={choose}
              />
            );
          })}
        </div>
      </div>
      <div style={{ padding: "10px 2px 0" }}>
        <BarLegend />
      </div>
    </section>
  );
}

type RowProps = {
  row: Row;
  top: number;
  scale: number;
  selected: boolean;
  focusable: boolean;
  onFold: (id: string, shut: boolean) => void;
  onChoose: (row: Row) => void;
};

function TreeRow({ row, top, scale, selected, focusable, onFold, onChoose }: RowProps) {
  const figures = row.quota === null ? null : figuresOf(row.quota.usage, row.quota.reserved);
  const expanded = row.children > 0 ? { "aria-expanded": row.open } : {};
  return (
    <div
      role="treeitem"
      aria-level={row.level}
      aria-selected={selected}
      {...expanded}
      data-id={row.id}
      tabIndex={focusable ? 0 : -1}
      className={selected ? "qrow selected" : row.quota === null ? "qrow stub" : "qrow"}
      style={{ transform: `translateY(${top}px)`, height: ROW_PX }}
      onClick={() => onChoose(row)}
    >
      <span className="qname" style={{ paddingLeft: (row.level - 1) * 14 }}>
        <span
          className="caret"
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            if (row.children > 0) onFold(row.id, row.open);
          }}
        >
          {row.children === 0 ? "" : row.open ? "▾" : "▸"}
        </span>
        <span className="cut" title={row.quota?.name ? `${row.id} · ${row.quota.name}` : row.id}>
          {row.id}
          {row.quota?.name ? <> <bdi className="dim small">{row.quota.name}</bdi></> : null}
        </span>
      </span>
      {figures === null ? (
        <span className="dim small grow">above you: {number(row.stub?.free.gpus)} of {number(row.stub?.min.gpus)} GPU free</span>
      ) : (
        <>
          <span className="qcell">
            <QuotaBar figures={figures} scale={scale || Math.max(1, figures.min, figures.usedOwn + figures.usedBelow)} />
          </span>
          <span className="qfigure">
            {number(figures.usedOwn + figures.usedBelow)}/{number(figures.min)}
          </span>
          <Words squeezed={figures.squeezed} loan={Math.max(0, figures.usedOwn + figures.usedBelow - figures.min)} queued={figures.queued} below={figures.queuedBelow} />
        </>
      )}
    </div>
  );
}

/** The one thing about a quota that wants attention most. */
function Words({ squeezed, loan, queued, below }: { squeezed: number; loan: number; queued: number; below: number }) {
  if (squeezed > 0) return <span className="qword bad">squeezed {number(squeezed)}</span>;
  if (loan > 0) return <span className="qword warn">loan {number(loan)}</span>;
  if (queued > 0) return <span className="qword" style={{ color: "var(--queued)" }}>queued {number(queued)}</span>;
  if (below > 0) return <span className="qword" style={{ color: "var(--queued)" }} title={`${number(below)} GPU queued at quotas below`}>{number(below)} below</span>;
  return <span className="qword" />;
}
