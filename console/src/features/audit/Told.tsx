// One line of the audit as a sentence: "moved 8 GPU from Quota1.2 to Quota1.1", with what it names as links.
import type { ReactNode } from "react";
import type { Audit } from "../../api/types";
import { Go, jobPath } from "../../components/Go";
import { QuotaRef } from "../../components/chips";
import { amountWords, changeWords, detailWords } from "./words";

export function Told({ audit }: { audit: Audit }) {
  const { action, body } = audit;
  const [noun = "", id = ""] = split(audit.target, ":");
  const quota = (name: unknown) => <QuotaRef id={String(name)} />;
  const place = <Workspace id={id} />;
  const self = <Target noun={noun} id={id} name={typeof body["name"] === "string" ? body["name"] : ""} />;
  switch (action) {
    case "quota.created":
      return <>created quota {self} with {amountWords(body["min"])}{body["parent"] ? <> under {quota(body["parent"])}</> : null}</>;
    case "quota.scaled":
      if (body["target"]) return <>moved {amountWords(body["amount"])} from {self} to {quota(body["target"])}</>;
      if (body["source"]) return <>moved {amountWords(body["amount"])} from {quota(body["source"])} to {self}</>;
      return <>scaled {self}: {amountWords(body["before"])} → {amountWords(body["after"])}</>;
    case "quota.updated":
      return <>changed {self}<bdi>{changeWords(body)}</bdi></>;
    case "workspace.bound":
      return <>bound quota {quota(body["quota"])} to {place}</>;
    case "workspace.unbound":
      return <>freed quota {quota(body["quota"])} from {place}</>;
    case "workspace.centre_set":
      return <>set the scheduling centre of {place} for {quota(body["quota"])}</>;
    case "user.appointed":
      return <>made {id} admin of {quota(body["quota"])}</>;
    case "user.dismissed":
      return <>took {quota(body["quota"])} from its admin {id}</>;
    case "session.opened":
      return <>signed in</>;
    case "session.closed":
      return <>signed out</>;
    case "job.priority":
      return <>changed the priority of {self}: {String(body["before"])} → {String(body["after"])}</>;
    default:
      return <>{VERBS[action] ?? action.replace(/^\w+\./, "").replaceAll("_", " ")} {NOUNS[noun] ?? noun} {self}<bdi>{detailWords(noun === "job" ? { ...body, name: null } : body)}</bdi></>;
  }
}

/** Where the sentence would say what the action means less well than a verb of its own. */
const VERBS: Record<string, string> = {
  "job.submit": "submitted", "job.cancel": "cancelled", "job.hold": "held", "job.release": "released", "job.checkpoint": "noted a checkpoint of",
  "job.resize": "resized", "job.alter": "changed the replicas of", "job.autoscale_set": "set the scaling of", "job.restart": "restarted", "job.resubmit": "queued again",
  "job.stop": "stopped", "quota.loan_returned": "returned the loan of", "quota.owned": "noted who declares", "workspace.described": "described",
  "workspace.member_added": "changed the members of", "workspace.member_removed": "took a member from", "user.password": "set the password of", "token.made": "made",
  "node.gone": "took away",
};
const NOUNS: Record<string, string> = { priorities: "the names of priorities" };

function Target({ noun, id, name }: { noun: string; id: string; name: string }): ReactNode {
  if (noun === "quota") return <QuotaRef id={id} />;
  if (noun === "job") return <Go to={jobPath(id)} title={id} className={name === "" ? "mono" : undefined}>{name || id}</Go>;
  if (noun === "workspace") return <Workspace id={id} />;
  return <bdi className={noun === "token" || noun === "webhook" ? "mono" : undefined}>{id}</bdi>;
}

function Workspace({ id }: { id: string }) {
  return <Go to={`/workspaces/${encodeURIComponent(id)}`}>{id}</Go>;
}

function split(text: string, at: string): [string, string] {
  const place = text.indexOf(at);
  return place < 0 ? [text, ""] : [text.slice(0, place), text.slice(place + 1)];
}
