// The bar of a quota: a GPU is as wide in every row that has the same scale.
import "./QuotaBar.css";
import { segments, spoken, type Figures } from "./bar";

export function QuotaBar({ figures, scale, tall = false }: { figures: Figures; scale: number; tall?: boolean }) {
  const percent = (amount: number) => `${Math.min(100, (amount / scale) * 100)}%`;
  const text = spoken(figures);
  return (
    <div className={tall ? "qbar tall" : "qbar"} role="img" aria-label={text} title={text}>
      {segments(figures).map((one) => (
        <span key={one.kind} className={`seg ${one.kind}`} style={{ left: percent(one.from), width: percent(Math.min(one.to, scale) - one.from) }} />
      ))}
      {figures.reserved > 0 ? <span className="reserved" style={{ width: percent(figures.reserved) }} /> : null}
      {figures.desired === figures.min ? null : <span className="desired" style={{ left: percent(figures.desired) }} />}
    </div>
  );
}

const LEGEND = [
  ["own", "used here"],
  ["below", "used below"],
  ["loan", "loan"],
  ["idle", "idle lent"],
  ["squeezed", "squeezed"],
  ["free", "free"],
  ["queued", "queued"],
] as const;

export function BarLegend() {
  return (
    <ul className="legend" aria-label="Legend of the bars">
      {LEGEND.map(([kind, name]) => (
        <li key={kind}>
          <span className="qbar swatch" aria-hidden="true">
            <span className={`seg ${kind}`} style={{ left: 0, width: "100%" }} />
          </span>
          {name}
        </li>
      ))}
    </ul>
  );
}
