// A table of any length: only the rows in sight are drawn, and under pointer or focus their order stays.
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { count } from "../formats";
import { frozen } from "./order";

export type Column<T> = {
  key: string;
  title: string;
  cell: (row: T) => ReactNode;
  right?: boolean;
  width?: number | string;
  sort?: string;
  /** Left out of a table narrower than half a screen ("wide"), or narrower than a telephone held upright ("medium"). */
  from?: "medium" | "wide";
  /** Takes what the others leave of the width, and cuts what does not fit. */
  rest?: boolean;
};

type Props<T> = {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowId: (row: T) => string;
  sort?: string | undefined;
  onSort?: (sort: string) => void;
  onEnd?: () => void;
  selected?: string | undefined;
};

const ROW_PX = 32;
const FEW = 30;

export function DataTable<T>({ label, columns, rows, rowId, sort, onSort, onEnd, selected }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [held, setHeld] = useState<string[] | null>(null);
  const shown = useMemo(() => (held === null ? { rows, changes: 0 } : frozen(held, rows, rowId)), [held, rows, rowId]);
  const hold = () => held === null && setHeld(rows.map(rowId));
  const many = shown.rows.length > FEW;
  const virtual = useVirtualizer({ count: shown.rows.length, getScrollElement: () => box.current, estimateSize: () => ROW_PX, overscan: 4 });
  const items = virtual.getVirtualItems();
  const first = many ? (items[0]?.index ?? 0) : 0;
  const last = many ? (items[items.length - 1]?.index ?? 0) + 1 : shown.rows.length;
  useEffect(() => {
    if (onEnd !== undefined && last >= shown.rows.length - 20) onEnd();
  }, [onEnd, last, shown.rows.length]);

  return (
    <>
      <div
        className={many ? "tablebox many" : "tablebox"}
        ref={box}
        tabIndex={0}
        role="region"
        aria-label={`Table: ${label}`}
        onMouseEnter={hold}
        onFocus={hold}
        onMouseLeave={() => setHeld(null)}
        onBlur={(event) => !event.currentTarget.contains(event.relatedTarget) && setHeld(null)}
      >
        <table className="data" aria-rowcount={shown.rows.length + 1}>
          <thead>
            <tr>
              {columns.map((column) => (
                <Title key={column.key} column={column} sort={sort} onSort={onSort} />
              ))}
            </tr>
          </thead>
          <tbody>
            <Gap rows={first} columns={columns.length} />
            {shown.rows.slice(first, last).map((row) => (
              <MemoRow key={rowId(row)} row={row} columns={columns as readonly Column<unknown>[]} selected={selected === undefined ? undefined : rowId(row) === selected} />
            ))}
            <Gap rows={shown.rows.length - last} columns={columns.length} />
          </tbody>
        </table>
      </div>
      <div className="dim small" role="status" style={{ minHeight: 22, paddingTop: 4 }}>
        {shown.changes === 0 ? null : (
          <button className="linkish" onClick={() => setHeld(rows.map(rowId))}>
            {count(shown.changes, "change")}, show
          </button>
        )}
      </div>
    </>
  );
}

/** Drawn anew only when its own data changed, not when the table is scrolled. */
const MemoRow = memo(function Row({ row, columns, selected }: { row: unknown; columns: readonly Column<unknown>[]; selected: boolean | undefined }) {
  return (
    <tr aria-selected={selected}>
      {columns.map((column) => (
        <td key={column.key} className={classes(column)}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
});

function classes({ right, from, rest }: { right?: boolean; from?: string; rest?: boolean }): string | undefined {
  return [right && "right", from && `from-${from}`, rest && "rest"].filter(Boolean).join(" ") || undefined;
}

function Title<T>({ column, sort, onSort }: { column: Column<T>; sort: string | undefined; onSort: ((sort: string) => void) | undefined }) {
  const name = column.sort;
  const style = column.width === undefined ? {} : { width: column.width };
  if (name === undefined || onSort === undefined)
    return (
      <th scope="col" className={classes(column)} style={style}>
        {column.title || <span className="visually-hidden">actions</span>}
      </th>
    );
  const up = sort === name;
  const down = sort === `-${name}`;
  return (
    <th scope="col" className={classes(column)} style={style} aria-sort={up ? "ascending" : down ? "descending" : "none"}>
      <button onClick={() => onSort(down ? name : `-${name}`)}>
        {column.title} {up ? "↑" : down ? "↓" : ""}
      </button>
    </th>
  );
}

function Gap({ rows, columns }: { rows: number; columns: number }) {
  if (rows <= 0) return null;
  return (
    <tr aria-hidden="true">
      <td colSpan={columns} style={{ height: rows * ROW_PX, padding: 0, border: 0 }} />
    </tr>
  );
}
