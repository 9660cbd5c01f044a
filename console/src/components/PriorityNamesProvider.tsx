// The installation's names of priorities, asked once for everything on screen.
import { useQuery } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import { prioritiesQuery } from "../api/shared";
import { PriorityNames } from "./chips";

export function PriorityNamesProvider({ children }: { children: ReactNode }) {
  const names = useQuery(prioritiesQuery).data;
  const byNumber = useMemo(() => new Map(Object.entries(names ?? {}).map(([name, number]) => [number, name])), [names]);
  return <PriorityNames value={byNumber}>{children}</PriorityNames>;
}
