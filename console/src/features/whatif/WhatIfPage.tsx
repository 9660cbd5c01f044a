// What if? A stretch of history, played once with the tree as it is and once as edited.
import { Button, NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/client";
import { keys } from "../../api/keys";
import { sentence } from "../../api/problems";
import { can } from "../../api/rights";
import { quotasQuery, useChange } from "../../api/shared";
import type { Quota } from "../../api/types";
import { Answered, Empty } from "../../components/StateBlock";
import { When } from "../../components/chips";
import { HOURS, changesOf, words, type Edit } from "./draft";
import { EditForm } from "./EditForm";
import { runsQuery } from "./queries";

export function WhatIfPage() {
  const quotas = useQuery(quotasQuery);
  return (
    <div className="page stack">
      <div className="head" style={{ marginBottom: 0 }}>
        <h1>What if</h1>
      </div>
      <p className="dim">The jobs of a stretch of history, played by the simulator with the tree as it is and as you would have it. Nothing is changed.</p>
      <Answered query={quotas}>
        {(all) => {
          const roots = all.filter((one) => one.parent === null && can(one, "simulate"));
          return roots.length === 0 ? <Empty title="You may not play here">The right to simulate on a root quota is needed.</Empty> : <Question roots={roots} all={all} />;
        }}
      </Answered>
      <Runs />
    </div>
  );
}

function Question({ roots, all }: { roots: Quota[]; all: Quota[] }) {
  const navigate = useNavigate();
  const [root, setRoot] = useState(roots[0]?.id ?? "");
  const [hours, setHours] = useState("24");
  const [edits, setEdits] = useState<Edit[]>([]);
  const ask = useChange(async () => {
    const now = Date.now();
    const variants = [{ name: "as it is", changes: [] }, { name: "edited", changes: changesOf(edits) }];
    const body = { quota: root, title: edits.map(words).join("; ").slice(0, 120), from_ms: now - Number(hours) * 3_600_000, before_ms: now, variants };
    const made = await call("post", "/api/v1/simulations", { body: body as never });
    await navigate({ to: "/what-if/$run", params: { run: made.id } });
  }, [keys.simulations]);
  const below = all.filter((one) => one.id === root || isBelow(one, root, all)).map((one) => one.id);
  return (
    <section className="card stack" aria-label="Question">
      <div className="row" style={{ alignItems: "flex-end" }}>
        <NativeSelect label="Tree" value={root} data={roots.map((one) => one.id)} onChange={(e) => setRoot(e.currentTarget.value)} />
        <NativeSelect label="Jobs submitted in the last" value={hours} data={HOURS.map((one) => ({ value: String(one), label: one < 48 ? `${one} h` : `${one / 24} days` }))} onChange={(e) => setHours(e.currentTarget.value)} />
      </div>
      <EditForm key={root} quotas={below} onAdd={(edit) => setEdits([...edits, edit])} />
      {edits.length === 0 ? <p className="dim small">Add at least one change.</p> : null}
      <ul className="lines">
        {edits.map((edit, place) => (
          <li key={place} className="row apart">
            <span>{words(edit)}</span>
            <button className="linkish" onClick={() => setEdits(edits.filter((_, at) => at !== place))}>
              Remove
            </button>
          </li>
        ))}
      </ul>
      {ask.error === null ? null : <div className="notice bad" role="alert">{sentence(ask.error)}</div>}
      <div>
        <Button disabled={edits.length === 0} loading={ask.isPending} onClick={() => ask.mutate(undefined)}>
          Play both
        </Button>
      </div>
    </section>
  );
}

function isBelow(quota: Quota, root: string, all: Quota[]): boolean {
  for (let at: Quota | undefined = quota; at !== undefined; ) {
    const parent: string | null = at.parent;
    if (parent === root) return true;
    at = all.find((one) => one.id === parent);
  }
  return false;
}

function Runs() {
  const runs = useQuery(runsQuery);
  return (
    <section className="card stack tight" aria-label="Runs">
      <div className="row apart">
        <h2>Runs</h2>
        <span className="dim small">the newest 50 are kept, over a restart of the server too</span>
      </div>
      <Answered query={runs} rows={2}>
        {(all) =>
          all.length === 0 ? (
            <p className="dim">None yet.</p>
          ) : (
            <ul className="lines">
              {all.map((one) => (
                <li key={one.id} className="row">
                  <Link to="/what-if/$run" params={{ run: one.id }}>
                    {one.title || one.id}
                  </Link>
                  <span className="chip">{one.state}</span>
                  <span className="dim small">
                    {one.jobs} jobs of {one.quota}, <When at={one.created_ms} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </section>
  );
}
