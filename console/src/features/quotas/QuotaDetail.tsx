// One quota: its name, its tabs, and under them what the address says.
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useParams } from "@tanstack/react-router";
import { can } from "../../api/rights";
import { Missing } from "../../components/StateBlock";
import { treeQuery } from "./queries";

const TABS = [
  ["/quotas/$quota", "Overview"],
  ["/quotas/$quota/jobs", "Jobs"],
  ["/quotas/$quota/children", "Children"],
  ["/quotas/$quota/nodes", "Nodes"],
  ["/quotas/$quota/users", "Users"],
  ["/quotas/$quota/monitoring", "Monitoring"],
  ["/quotas/$quota/usage", "Usage"],
] as const;

/** On a narrow screen not all tabs are in sight: the open one is brought there. */
function bring(tabs: HTMLElement | null): void {
  tabs?.querySelector(".active")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

export function QuotaDetail() {
  const { quota: id } = useParams({ from: "/inside/quotas/$quota" });
  const quota = useQuery({ ...treeQuery, select: (answer) => answer.items.find((one) => one.id === id) }).data;
  if (quota === undefined)
    return <Missing what="quota" id={id} all="/quotas" name="All quotas" />;
  return (
    <>
      <div className="head">
        <h1>{quota.id}</h1>
        {quota.name === "" ? null : <bdi className="dim named">{quota.name}</bdi>}
        <div className="actions">
          {can(quota, "update-quota") ? (
            <Button component={Link} to="/quotas/$quota/policy" params={{ quota: id } as never} variant="default">
              Edit policy
            </Button>
          ) : null}
        </div>
      </div>
      {quota.description === "" ? null : <p className="dim small described"><bdi>{quota.description}</bdi></p>}
      <nav className="tabs" aria-label="Parts of the quota" ref={bring}>
        {TABS.map(([to, name]) => (
          <Link key={to} to={to} params={{ quota: id }} activeOptions={{ exact: true, includeSearch: false }}>
            {name}
          </Link>
        ))}
      </nav>
      <Outlet />
    </>
  );
}
