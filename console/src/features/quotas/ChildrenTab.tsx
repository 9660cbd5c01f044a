// How a quota is divided: new children, new sizes, and GPUs moved between two of them with one sum.
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import { sentence } from "../../api/problems";
import { can } from "../../api/rights";
import { useChange } from "../../api/shared";
import type { Quota } from "../../api/types";
import { DataTable, type Column } from "../../components/DataTable";
import { QuotaBar } from "../../components/QuotaBar";
import { figuresOf, scaleOf } from "../../components/bar";
import { QuotaRef } from "../../components/chips";
import { number, share } from "../../formats";
import { Scale } from "./Scale";
import { Transfer } from "./Transfer";
import { STALE } from "./scaling";
import { useChildren, useQuota } from "./useQuota";

export function ChildrenTab() {
  const quota = useQuota();
  const children = useChildren(quota.id);
  const given = children.reduce((sum, one) => sum + (one.min.gpus ?? 0), 0);
  const scale = scaleOf(children.map((one) => figuresOf(one.usage, one.reserved)));
  const columns: Column<Quota>[] = [
    { key: "id", title: "Quota", cell: (one) => <QuotaRef id={one.id} /> },
    { key: "min", title: "Min", right: true, cell: (one) => `${number(one.min.gpus)} GPU` },
    { key: "bar", title: "Use", width: "45%", cell: (one) => <QuotaBar figures={figuresOf(one.usage, one.reserved)} scale={scale} /> },
    { key: "used", title: "Used", right: true, cell: (one) => share((one.usage.used_own.gpus ?? 0) + (one.usage.used_below.gpus ?? 0), one.min.gpus) },
  ];
  const movable = children.filter((one) => can(one, "scale-quota"));
  return (
    <div className="stack">
      <p className="dim">
        {number(given)} of {number(quota.min.gpus)} GPU are given to children, {number(Math.max(0, (quota.min.gpus ?? 0) - given))} stay with {quota.id} alone.
      </p>
      {children.length === 0 ? <p className="dim">No children yet.</p> : <DataTable label="Children" columns={columns} rows={children} rowId={(one) => one.id} />}
      {movable.length > 1 ? <Transfer quotas={movable} /> : null}
      {can(quota, "scale-quota") || movable.length > 0 ? <Scale quotas={can(quota, "scale-quota") ? [quota, ...movable] : movable} /> : null}
      {can(quota, "create-child-quota") ? <NewChild parent={quota} free={(quota.min.gpus ?? 0) - given} /> : null}
    </div>
  );
}

function NewChild({ parent, free }: { parent: Quota; free: number }) {
  const [id, setId] = useState("");
  const [gpus, setGpus] = useState("");
  const valid = id.trim() !== "" && gpus.trim() !== "" && Number(gpus) >= 0;
  const body = { id: id.trim(), parent: parent.id, min: { gpus: Number(gpus) } };
  const save = useChange(
    () => call("post", "/api/v1/quotas", { body }),
    STALE,
    () => {
      setId("");
      setGpus("");
    },
  );
  return (
    <section className="card stack" aria-label="New child quota">
      <h2>New child quota</h2>
      <div className="row" style={{ alignItems: "flex-end" }}>
        <TextInput label="Name" placeholder={`${parent.id}.3`} value={id} onChange={(e) => setId(e.currentTarget.value)} />
        <TextInput label={`GPUs, ${number(Math.max(0, free))} not given yet`} inputMode="numeric" value={gpus} onChange={(e) => setGpus(e.currentTarget.value)} style={{ width: 170 }} />
        <Button disabled={!valid} loading={save.isPending} onClick={() => save.mutate(undefined)}>
          Create
        </Button>
      </div>
      {save.error === null ? null : <div className="notice bad" role="alert">{sentence(save.error)}</div>}
    </section>
  );
}
