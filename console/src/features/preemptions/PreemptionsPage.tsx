// The ledger: who took what from whom, by which step, at which cost; one of them drawn.
import { Button, NativeSelect } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import type { Ledger } from "../../api/types";
import { DataTable, type Column } from "../../components/DataTable";
import { QuotaChoice } from "../../components/QuotaChoice";
import { stepName } from "../../components/ReasonList";
import { Answered, Empty } from "../../components/StateBlock";
import { JobRef, When } from "../../components/chips";
import { csv, download } from "../../csv";
import { lossWords } from "../../losses";
import { count, number, work } from "../../formats";
import { DecisionDrawn } from "./DecisionDrawn";
import { ledgerQuery, type LedgerSearch } from "./queries";

const STEPS = ["IDLE", "RETURN", "OWN", "DESCENDANTS", "SIBLINGS_ABOVE_MIN", "SIBLINGS"];

const COLUMNS: Column<Ledger>[] = [
  { key: "seq", title: "#", cell: (one) => <Link to="/preemptions/$seq" params={{ seq: String(one.seq) }}>#{one.seq}</Link> },
  { key: "at", title: "When", from: "medium", cell: (one) => <When at={one.at_ms} /> },
  { key: "preemptor", title: "Preemptor", cell: (one) => (one.preemption.preemptor === null ? <span className="dim">{one.preemption.reason?.text}</span> : <JobRef id={one.preemption.preemptor} name={one.names[one.preemption.preemptor]} />) },
  { key: "step", title: "Step", from: "medium", cell: (one) => (one.preemption.step === null ? "" : stepName(one.preemption.step)) },
  { key: "victims", title: "Victims", rest: true, cell: (one) => <Victims ledger={one} /> },
  { key: "freed", title: "Freed", from: "wide", right: true, cell: (one) => `${number(freed(one))} GPU` },
  { key: "lost", title: "Lost", right: true, cell: (one) => lossWords(one.preemption.victims) },
  { key: "cost", title: "Cost", from: "wide", right: true, cell: (one) => work(one.preemption.cost_gpu_seconds) },
];

const freed = (one: Ledger) => one.preemption.victims.reduce((sum, victim) => sum + (victim.freed.gpus ?? 0), 0);

function Victims({ ledger }: { ledger: Ledger }) {
  const { victims } = ledger.preemption;
  return (
    <>
      {victims.slice(0, 3).map((one, place) => (
        <span key={place}>
          {place > 0 ? ", " : ""}
          <JobRef id={one.job} name={ledger.names[one.job]} />
        </span>
      ))}
      {victims.length > 3 ? <span className="dim"> and {victims.length - 3} more</span> : null}
    </>
  );
}

export function PreemptionsPage() {
  const search = useSearch({ strict: false }) as LedgerSearch;
  const { seq } = useParams({ strict: false });
  const navigate = useNavigate();
  const ledger = useInfiniteQuery(ledgerQuery(search));
  const rows = ledger.data?.pages.flatMap((page) => page.items) ?? [];
  const set = (part: Partial<LedgerSearch>) =>
    void navigate({ to: "/preemptions", search: Object.fromEntries(Object.entries({ ...search, ...part }).filter(([, value]) => value)), replace: true });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = ledger;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const keep = () =>
    download(
      "preemptions.csv",
      csv(
        ["seq", "at", "preemptor", "step", "victim", "what", "quota", "priority", "freed_gpus", "lost_gpu_seconds", "cost_gpu_seconds", "rule"],
        rows.flatMap((one) =>
          one.preemption.victims.map((victim) => [one.seq, new Date(one.at_ms).toISOString(), one.preemption.preemptor, one.preemption.step, victim.job, victim.what, victim.quota, victim.priority, victim.freed.gpus, victim.lost_gpu_seconds, victim.cost_gpu_seconds, victim.rule]),
        ),
      ),
    );
  return (
    <div className="page">
      <div className="head">
        <h1>Preemptions</h1>
        <span className="dim">{ledger.data === undefined ? "" : count(rows.length, "decision")}{hasNextPage ? " and more" : ""}</span>
        <div className="actions">
          <Button variant="default" onClick={keep} disabled={rows.length === 0}>
            Export
          </Button>
        </div>
      </div>
      {seq === undefined ? null : <DecisionDrawn seq={seq} rows={rows} />}
      <div className="filters" role="search" aria-label="Filter preemptions">
        <QuotaChoice value={search.quota ?? ""} onChange={(quota) => set({ quota })} />
        <NativeSelect aria-label="Step" value={search.step ?? ""} data={[{ value: "", label: "any step" }, ...STEPS.map((value) => ({ value, label: stepName(value) }))]} onChange={(e) => set({ step: e.currentTarget.value })} />
        {search.job === undefined ? null : (
          <Button variant="subtle" onClick={() => set({ job: "" })}>
            all jobs
          </Button>
        )}
      </div>
      <Answered query={ledger}>
        {() =>
          rows.length === 0 ? (
            <Empty title="Nobody was evicted">When a waiting job takes GPUs back, the decision stands here with its cost, for ever.</Empty>
          ) : (
            <DataTable label="Preemptions" columns={COLUMNS} rows={rows} rowId={(one) => String(one.seq)} onEnd={more} selected={seq} />
          )
        }
      </Answered>
    </div>
  );
}
