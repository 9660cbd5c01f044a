// The heart: the tree on the left, one quota on the right.
import "./quotas.css";
import { useQuery } from "@tanstack/react-query";
import { Outlet, useParams } from "@tanstack/react-router";
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
            <div className="qdetail">{quota === undefined ? <Hint /> : <Outlet />}</div>
          </div>
        )
      }
    </Answered>
  );
}

function Hint() {
  return (
    <>
      <h1>Quotas</h1>
      <p className="dim" style={{ marginTop: 8 }}>
        Choose a quota to see who uses it, who waits, and what its policies are.
      </p>
    </>
  );
}
