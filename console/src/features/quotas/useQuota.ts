// The quota that the address names.
import { useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Quota } from "../../api/types";
import { treeQuery } from "./queries";

export function useQuota(): Quota {
  const { quota: id } = useParams({ strict: false });
  const { data } = useSuspenseQuery(treeQuery);
  const found = data.items.find((one) => one.id === id);
  if (found === undefined) throw new Error(`${id ?? "the quota"} is not there, or not yours`);
  return found;
}

export function useChildren(id: string): Quota[] {
  return useSuspenseQuery(treeQuery).data.items.filter((one) => one.parent === id);
}
