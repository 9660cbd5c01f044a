// Short names for what the API answers with. The shapes are generated; nothing is said twice.
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Amounts = Schemas["AmountsOut"];
export type Audit = Schemas["AuditOut"];
export type Centre = Schemas["CentreOut"];
export type CentreIn = Schemas["CentreIn"];
export type ChildLevel = Schemas["ChildLevelOut"];
export type Decided = Schemas["DecidedOut"];
export type Decision = Schemas["DecisionOut"];
export type Estimate = Schemas["EstimateOut"];
export type Event = Schemas["EventOut"];
export type Explanation = Schemas["ExplanationOut"];
export type Exposure = Schemas["ExposureOut"];
export type GpuTime = Schemas["GpuTime"];
export type Job = Schemas["JobOut"];
export type JobIn = Schemas["JobIn"];
export type Ledger = Schemas["LedgerOut"];
export type Node = Schemas["NodeOut"];
export type PoliciesIn = Schemas["PoliciesIn"];
export type Pool = Schemas["PoolOut"];
export type Preemption = Schemas["PreemptionOut"];
export type Preview = Schemas["PreviewOut"];
export type PreviewIn = Schemas["PreviewIn"];
export type Problem = Schemas["Problem"];
export type Quota = Schemas["QuotaOut"];
export type QuotaChange = Schemas["QuotaChange"];
export type QuotaIn = Schemas["QuotaIn"];
export type QuotaUser = Schemas["QuotaUserOut"];
export type Reason = Schemas["ReasonOut"];
export type Run = Schemas["RunOut"];
export type SelfLevel = Schemas["SelfLevelOut"];
export type Series = Schemas["QuotaSeries"];
export type Token = Schemas["TokenOut"];
export type Usage = Schemas["UsageOut"];
export type User = Schemas["UserOut"];
export type Victim = Schemas["VictimOut"];
export type WhoAmI = Schemas["WhoAmI"];
export type Workspace = Schemas["WorkspaceOut"];

export const MODULES = ["DLC", "DSW", "EAS"] as const;
export type Module = (typeof MODULES)[number];

export const PHASES = ["Waiting", "Held", "Running", "Stopped", "Succeeded", "Failed", "Cancelled"] as const;
