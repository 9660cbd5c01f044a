// The heart: the tree on the left, one quota on the right.
import "./quotas.css";
import { useQuery } from "@tanstack/react-query";
import { Navigate, Outlet, useParams } from "@tanstack/react-router";
import type { Quota } from "../../api/types";
import { Answered, Empty } from "../../components/StateBlock";
import { treeQuery } from "./queries";
import { QuotaTree } from "./QuotaTree";
import type { Stub } from "./tree";

const NONE: Stub[] = [];

export function QuotasPage() {
  const tree = useQuery(treeQuery);
  const { quota } = useParams({ strict: false });
  return (
    <Answered query={tree}>
      {(answer) =>
        answer.items.length === 0 ? (
          <div className="page">
            <h1>Quotas</h1>
            <Empty title="There is no quota you may see">
              A platform admin creates one with <span className="mono">quotatree apply</span>, and binds a workspace of yours to it.
            </Empty>
          </div>
        ) : (
          <div className="quotas">
            <QuotaTree quotas={answer.items} stubs={"ancestors" in answer ? (answer.ancestors as Stub[]) : NONE} selected={quota} />
            <div className="qdetail">{quota === undefined ? <First quotas={answer.items} /> : <Outlet />}</div>
          </div>
        )
      }
    </Answered>
  );
}

/** Nobody asked for one: the first that stands in the tree, so that its switches are one click away. */
function First({ quotas }: { quotas: readonly Quota[] }) {
  const seen = new Set(quotas.map((one) => one.id));
  const first = quotas.find((one) => one.parent === null || !seen.has(one.parent));
  return first === undefined ? null : <Navigate to="/quotas/$quota" params={{ quota: first.id }} replace />;
}
