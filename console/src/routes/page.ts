// The component of a route, loaded when it is first opened. What is on screen stays until it is there, however long that takes.
import { lazyRouteComponent } from "@tanstack/react-router";
import { untilLoaded } from "../api/away";

export function page<M extends Record<string, unknown>, K extends keyof M & string>(load: () => Promise<M>, name: K) {
  return lazyRouteComponent(() => untilLoaded(load) as Promise<Record<string, never>>, name);
}
