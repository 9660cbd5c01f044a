// A page of the console with recorded answers in place of a server.
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider, createMemoryHistory, createRootRouteWithContext, createRoute, createRouter } from "@tanstack/react-router";
import { render, type RenderResult } from "@testing-library/react";
import type { ReactNode } from "react";
import { vi } from "vitest";
import recorded from "./answers.json";

export type Sent = { method: string; path: string; body: unknown; ifMatch: string | null };
type Recorded = { method: string; path: string; status: number; answer: unknown };
type Reply = (sent: Sent) => { status: number; answer: unknown };

export const answers: Record<keyof typeof recorded, Recorded> = recorded;

/** The recorded answers by method and path, and those of `others` before them; anything else is not there. Returns what was sent. */
export function serve(others: Record<string, Reply> = {}): Sent[] {
  const sent: Sent[] = [];
  vi.stubGlobal("fetch", async (address: string, init: RequestInit = {}) => {
    const path = address.split("?")[0] ?? "";
    const headers = new Headers(init.headers);
    const one: Sent = { method: init.method ?? "GET", path, body: init.body ? JSON.parse(String(init.body)) : undefined, ifMatch: headers.get("If-Match") };
    sent.push(one);
    const known = Object.values(answers).find((answer) => answer.method === one.method && answer.path.split("?")[0] === path);
    const { status, answer } = others[`${one.method} ${path}`]?.(one) ?? known ?? { status: 404, answer: { status: 404, detail: `no answer to ${one.method} ${path} is recorded` } };
    return new Response(JSON.stringify(answer), { status, headers: { "Content-Type": "application/json" } });
  });
  return sent;
}

/** Shows what stands at `path`, the pattern of an address inside the console, with `at` in the bar. */
export function show(Page: () => ReactNode, path: string, at: string): RenderResult {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const root = createRootRouteWithContext<{ client: QueryClient }>()();
  const inside = createRoute({ getParentRoute: () => root, id: "inside" });
  const here = createRoute({ getParentRoute: () => inside, path, component: Page });
  const elsewhere = createRoute({ getParentRoute: () => inside, path: "/$", component: () => <p>elsewhere</p> });
  const router = createRouter({ routeTree: root.addChildren([inside.addChildren([here, elsewhere])]), context: { client }, history: createMemoryHistory({ initialEntries: [at] }) });
  return render(
    <MantineProvider env="test">
      <QueryClientProvider client={client}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>
    </MantineProvider>,
  );
}
