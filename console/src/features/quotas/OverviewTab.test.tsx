import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { serve, show } from "../../../testing/show";
import { OverviewTab } from "./OverviewTab";

const HISTORY = "GET /api/v1/quotas/Quota1/history";
const event = (seq: number, kind: string, body: object) => ({ seq, at_ms: seq, kind, workspace: null, quota: "Quota1", job: null, body });

test("a quota names the workspaces that use it, and who changed what from what to what", async () => {
  const changes = [{ what: "min", before: "128 GPU", after: "120 GPU" }];
  const items = [event(1, "quota.created", { quota: "Quota1" }), event(2, "quota.scaled", { quota: "Quota1", by: "ada", changes })];
  serve({ [HISTORY]: () => ({ status: 200, answer: { items, last: 2 } }) });
  show(OverviewTab, "/quotas/$quota", "/quotas/Quota1");
  const link = await screen.findByRole("link", { name: "workspace-a" });
  expect(link.getAttribute("href")).toBe("/workspaces/workspace-a");
  const told = within(await screen.findByRole("region", { name: "Change history" }));
  expect(await told.findByText(/scaled: min 128 GPU → 120 GPU/)).toBeTruthy();
  expect(told.getByText("by ada")).toBeTruthy();
  expect(told.getByText("created")).toBeTruthy();
});
