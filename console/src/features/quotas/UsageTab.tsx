// How many GPU-hours were used here, by whom and under which claim, and how many were lost to preemption?
import { Button, NativeSelect, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { GpuTime } from "../../api/types";
import { DataTable, type Column } from "../../components/DataTable";
import { Answered, Empty } from "../../components/StateBlock";
import { csv, download } from "../../csv";
import { gpuHours, number } from "../../formats";
import { usageQuery } from "./queries";
import { SpanChoice } from "./SpanChoice";
import { spanOf, spanWords } from "./spans";
import { BYS, BY_WORDS, CLAIMS, rowsOf, type UsageRow } from "./usage";
import { useQuota } from "./useQuota";

export function UsageTab() {
  const quota = useQuota();
  const search = useSearch({ from: "/inside/quotas/$quota/usage" });
  const navigate = useNavigate();
  const span = spanOf(search.span, "7d");
  const by = BYS.find((one) => one === search.by) ?? "workspace";
  const below = !search.own;
  const set = (part: object) => void navigate({ to: "/quotas/$quota/usage", params: { quota: quota.id }, search: { ...search, ...part }, replace: true });
  const found = useQuery(usageQuery(quota.id, span, [by], below));
  const byClaim = useQuery(usageQuery(quota.id, span, by === "claim" ? ["claim"] : [by, "claim"], below)).data;
  return (
    <div className="stack">
      <div className="row" style={{ columnGap: 16 }}>
        <SpanChoice to="/quotas/$quota/usage" quota={quota.id} span={span} spans={["24h", "7d", "30d", "90d"]} />
        <NativeSelect aria-label="Rows" value={by} data={BYS.map((value) => ({ value, label: `by ${BY_WORDS[value]}` }))} onChange={(e) => set({ by: e.currentTarget.value })} />
        <Switch label="With the quotas below" checked={below} onChange={(e) => set({ own: e.currentTarget.checked ? undefined : true })} />
      </div>
      <Answered query={found}>
        {(told) =>
          told.total.gpu_hours === 0 && told.total.runs === 0 ? (
            <Empty title={`Nothing ran here in the last ${spanWords(span)}`}>What still runs counts up to now; look further back, or with the quotas below.</Empty>
          ) : (
            <>
              <Total total={told.total} />
              <Rows told={told} byClaim={byClaim} />
            </>
          )
        }
      </Answered>
    </div>
  );
}

function Total({ total }: { total: GpuTime["total"] }) {
  const share = total.gpu_hours > 0 ? (total.lost_gpu_hours / total.gpu_hours) * 100 : 0;
  const shown: [string, string, string, string?][] = [
    ["used", gpuHours(total.gpu_hours), "GPU-h"],
    ["lost to preemption", gpuHours(total.lost_gpu_hours), `GPU-h, ${number(Math.round(share * 10) / 10)} %`, total.lost_gpu_hours > 0 ? "bad" : undefined],
    ["runs begun", number(total.runs), ""],
    ["preempted", number(total.preempted), total.preempted === 1 ? "time" : "times"],
  ];
  return (
    <section className="card" aria-label="In all">
      <dl className="figures">
        {shown.map(([name, value, unit, shade]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className={shade}>
              {value} <span className="unit">{unit}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** While another question is being asked the rows are those of the last one: the answer says what they are by. */
function Rows({ told, byClaim }: { told: GpuTime; byClaim: GpuTime | undefined }) {
  const by = BYS.find((one) => one === told.by[0]) ?? "workspace";
  const rows = rowsOf(told, byClaim?.by[0] === by ? byClaim : { ...told, rows: [] }, by);
  const most = Math.max(1e-9, ...rows.map((row) => row.gpuHours));
  const columns: Column<UsageRow>[] = [
    { key: "name", title: capitalised(BY_WORDS[by]), cell: (row) => row.name },
    { key: "bar", title: "Share", width: "40%", from: "medium", cell: (row) => <Bar row={row} most={most} /> },
    { key: "hours", title: "GPU-hours", right: true, cell: (row) => gpuHours(row.gpuHours) },
    { key: "lost", title: "Lost", right: true, cell: (row) => (row.lost > 0 ? <span className="bad">{gpuHours(row.lost)}</span> : "0") },
    { key: "runs", title: "Runs", right: true, from: "medium", cell: (row) => number(row.runs) },
    { key: "preempted", title: "Preempted", right: true, from: "wide", cell: (row) => number(row.preempted) },
  ];
  const keep = () => download(`gpu-hours-by-${BY_WORDS[by]}.csv`, csv([BY_WORDS[by], "gpu_hours", ...CLAIMS, "lost_gpu_hours", "runs", "preempted"], rows.map((row) => [row.name, row.gpuHours, ...CLAIMS.map((claim) => row.claims[claim]), row.lost, row.runs, row.preempted])));
  return (
    <section className="stack tight" aria-label="GPU-hours">
      <div className="row apart">
        <ul className="legend" aria-label="Colours">
          {CLAIMS.map((claim) => (
            <li key={claim}>
              <span className={`swatch use ${claim}`} aria-hidden="true" /> {claim}
            </li>
          ))}
          <li>
            <span className="swatch use lost" aria-hidden="true" /> lost
          </li>
        </ul>
        <Button variant="default" onClick={keep}>
          CSV
        </Button>
      </div>
      <DataTable label="GPU-hours" columns={columns} rows={rows} rowId={(row) => row.name} />
    </section>
  );
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function Bar({ row, most }: { row: UsageRow; most: number }) {
  const percent = (hours: number) => `${(hours / most) * 100}%`;
  const text = `${row.name}: ${CLAIMS.map((claim) => `${gpuHours(row.claims[claim])} ${claim}`).join(", ")}, ${gpuHours(row.lost)} lost`;
  return (
    <div className="usebar" role="img" aria-label={text} title={text}>
      {CLAIMS.map((claim) => (
        <span key={claim} className={`use ${claim}`} style={{ width: percent(row.claims[claim]) }} />
      ))}
      <span className="use lost" style={{ width: percent(Math.min(row.lost, most)), marginLeft: row.lost > 0 ? percent(-Math.min(row.lost, row.gpuHours)) : 0 }} />
    </div>
  );
}
