// All figures of a quota (Q7), its switches, and what was changed.
import { Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { call } from "../../api/client";
import { sentence } from "../../api/problems";
import { can } from "../../api/rights";
import type { Quota } from "../../api/types";
import { Conflict, type Lines } from "../../components/Conflict";
import { Answered } from "../../components/StateBlock";
import { QuotaBar } from "../../components/QuotaBar";
import { figuresOf } from "../../components/bar";
import { QuotaRef, When } from "../../components/chips";
import { useDraft } from "../../components/useDraft";
import { number } from "../../formats";
import { historyQuery } from "./queries";
import { useQuota } from "./useQuota";
import { STRATEGIES, childLevelWords, historyWords, selfLevelWords, waitingWords } from "./words";

export function OverviewTab() {
  const quota = useQuota();
  return (
    <div className="stack">
      <Numbers quota={quota} />
      <Switches quota={quota} />
      <History quota={quota.id} />
    </div>
  );
}

function Numbers({ quota }: { quota: Quota }) {
  const { usage } = quota;
  const figures = figuresOf(usage, quota.reserved);
  const used = figures.usedOwn + figures.usedBelow;
  const shown: [string, number | undefined, string?][] = [
    ["used here", figures.usedOwn],
    ["used below", figures.usedBelow],
    ["free", usage.free.gpus],
    ["loan", usage.loan.gpus, "warn"],
    ["squeezed", figures.squeezed, "bad"],
    ["queued here", figures.queued],
    ["queued below", figures.queuedBelow],
    ["idle lent", figures.idleLent],
    ["idle borrowed", usage.idle_borrowed.gpus],
    ["reserved", figures.reserved],
    ["missing nodes", figures.shortfall, "bad"],
  ];
  if (figures.desired !== figures.min) shown.push(["going to", figures.desired, "warn"]);
  return (
    <section className="card stack" aria-label="Figures">
      <div className="row apart">
        <h2>
          {number(used)} of {number(figures.min)} GPU used
        </h2>
        <span className="dim small">{waitingWords(usage.queued_jobs, usage.queued_jobs_below)}</span>
      </div>
      <QuotaBar figures={figures} scale={Math.max(1, figures.min, used) * (figures.queued > 0 ? 1.12 : 1)} tall />
      <dl className="figures">
        {shown.map(([name, value, shade]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className={shade !== undefined && (value ?? 0) > 0 ? shade : undefined}>
              {number(value)} <span className="unit">GPU</span>
            </dd>
          </div>
        ))}
      </dl>
      {usage.stood_on_by.length === 0 ? null : (
        <p className="small">
          <span className="dim">Who stands on this guarantee: </span>
          {usage.stood_on_by.map((one, place) => (
            <span key={one.quota}>
              {place > 0 ? " · " : ""}
              <QuotaRef id={one.quota} /> {number(one.amount.gpus)} GPU
            </span>
          ))}
        </p>
      )}
    </section>
  );
}

function Switches({ quota }: { quota: Quota }) {
  const navigate = useNavigate();
  const may = can(quota, "update-quota");
  const lending = useDraft<Quota, boolean>({
    now: quota,
    version: (one) => one.version,
    read: (one) => one.lending,
    send: (base, next) => call("patch", "/api/v1/quotas/{quota}", { path: { quota: base.id }, body: { lending: next }, version: base.version }),
    stale: [["quotas"], ["quota", quota.id]],
  });
  const lendingLine = (on: boolean): Lines => [["idle lending", on ? "on" : "off"]];
  const edit = (search: { child?: string; self?: string }) => () => void navigate({ to: "/quotas/$quota/policy", params: { quota: quota.id }, search });
  const childOn = quota.child_level?.enabled ?? false;
  const selfOn = quota.self_level.some((one) => one.enabled);
  return (
    <section className="card" aria-label="Policies">
      <div className="switchline">
        <span className="strong">Child-level</span>
        {may ? <Switch aria-label="Child-level preemption" checked={childOn} onChange={edit({ child: childOn ? "off" : "on" })} /> : <OnOff on={childOn} />}
        <span className="dim">{childLevelWords(quota.child_level)}</span>
        {may ? <EditLink quota={quota.id} /> : <span />}
      </div>
      <div className="switchline">
        <span className="strong">Self-level</span>
        {may ? <Switch aria-label="Self-level preemption" checked={selfOn} onChange={edit({ self: selfOn ? "off" : "on" })} /> : <OnOff on={selfOn} />}
        <span className="dim">{quota.self_level.length === 0 ? "off: nothing set" : quota.self_level.map(selfLevelWords).join("; ")}</span>
        {may ? <EditLink quota={quota.id} /> : <span />}
      </div>
      <div className="switchline">
        <span className="strong">Idle lending</span>
        {may ? (
          <Switch aria-label="Idle lending" checked={quota.lending} onChange={(e) => lending.act(e.currentTarget.checked)} disabled={lending.pending} />
        ) : (
          <OnOff on={quota.lending} />
        )}
        <span className="dim">{quota.lending ? "others may run idle work on what is unused here" : "what is unused here stays empty"}</span>
        <span />
      </div>
      <div className="switchline">
        <span className="strong">Strategy</span>
        <span />
        <span>
          {quota.strategy} <span className="dim">· {STRATEGIES[quota.strategy] ?? ""}</span>
        </span>
        {may ? <EditLink quota={quota.id} /> : <span />}
      </div>
      <Protections quota={quota} />
      <Workspaces names={quota.workspaces} />
      {lending.clash ? <Conflict base={lendingLine(lending.base.lending)} theirs={lendingLine(quota.lending)} mine={lendingLine(lending.draft)} onTheirs={lending.takeTheirs} onMine={() => lending.act(lending.draft)} goOn="Do mine anyway" /> : null}
      {lending.error === null ? null : <div className="notice bad" role="alert">{sentence(lending.error)}</div>}
    </section>
  );
}

function Protections({ quota }: { quota: Quota }) {
  const told = [
    quota.min_runtime === null ? null : `runs at least ${quota.min_runtime} before it can be taken`,
    quota.preemption_delay === null ? null : `preempts only after waiting ${quota.preemption_delay}`,
    quota.idle_limit === null ? null : `borrows at most ${number(quota.idle_limit)} GPU idle`,
    quota.fair_idle ? "idle capacity is shared fairly below" : null,
    quota.weight === null ? null : `weight ${number(quota.weight.gpus)}`,
  ].filter((one) => one !== null);
  if (told.length === 0) return null;
  return (
    <div className="switchline">
      <span className="strong">Protections</span>
      <span />
      <span>{told.join(" · ")}</span>
      <span />
    </div>
  );
}

/** The workspaces whose jobs may name the quota, as far as the reader knows them (W1). */
function Workspaces({ names }: { names: string[] }) {
  if (names.length === 0) return null;
  return (
    <div className="switchline">
      <span className="strong">Workspaces</span>
      <span />
      <span>
        {names.map((name, place) => (
          <span key={name}>
            {place > 0 ? " · " : ""}
            <Link to="/workspaces/$workspace" params={{ workspace: name }}>
              {name}
            </Link>
          </span>
        ))}
      </span>
      <span />
    </div>
  );
}

function OnOff({ on }: { on: boolean }) {
  return <span className={on ? "chip good" : "chip"}>{on ? "on" : "off"}</span>;
}

function EditLink({ quota }: { quota: string }) {
  return (
    <Link to="/quotas/$quota/policy" params={{ quota }} className="small">
      Edit
    </Link>
  );
}

function History({ quota }: { quota: string }) {
  const history = useQuery(historyQuery(quota));
  return (
    <section className="card stack tight" aria-label="Change history">
      <h2>Changes</h2>
      <Answered query={history} rows={2}>
        {(events) =>
          events.length === 0 ? (
            <p className="dim">Nothing was changed yet.</p>
          ) : (
            <ul className="timeline">
              {events.slice(0, 20).map((event) => (
                <li key={event.seq}>
                  <When at={event.at_ms} />
                  <span>
                    <bdi>{historyWords(event.kind, event.body)}</bdi>
                    {typeof event.body["by"] === "string" ? <span className="dim"> by {event.body["by"]}</span> : null}
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
