// Keeps what is on screen up to date: events make keys old, and what is shown is asked anew.
import { useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useState, useSyncExternalStore, type ReactNode } from "react";
import { Coalescer } from "./coalesce";
import { staleAfter } from "./keys";
import { Live, type LiveState } from "./live";

const Shown = createContext<Live | null>(null);
const AT_START: LiveState = { connected: true, sinceMs: 0, lastMs: 0 };

export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [live, setLive] = useState<Live | null>(null);
  useEffect(() => {
    const coalescer = new Coalescer((queryKey) => void client.invalidateQueries({ queryKey, refetchType: "active" }));
    const opened = new Live(
      (event) => staleAfter(event).forEach((key) => coalescer.push(key)),
      () => void client.invalidateQueries(),
    );
    setLive(opened);
    return () => {
      opened.stop();
      coalescer.stop();
    };
  }, [client]);
  return <Shown value={live}>{children}</Shown>;
}

const nothing = () => () => undefined;

export function useLive(): LiveState {
  const live = useContext(Shown);
  return useSyncExternalStore(live?.subscribe ?? nothing, live?.current ?? (() => AT_START));
}
