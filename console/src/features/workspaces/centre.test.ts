import { expect, test } from "vitest";
import type { Centre } from "../../api/types";
import { bodyOf, draftOf, lines } from "./centre";

const CENTRE: Centre = {
  workspace: "w",
  quota: "Q",
  version: 3,
  modules: ["DLC", "EAS"],
  roles: ["owner"],
  amounts: [{ who: "role:developer", priorities: "1-3", gpus: 0.5 }],
  ceilings: [{ who: "user:ann", priority: 5 }],
  longest_run: { DLC: "24h" },
  longest_wait: null,
  priority_names: {},
};

test("what was read is sent back as it was", () => {
  const { workspace: _w, quota: _q, version: _v, priority_names: _n, ...rules } = CENTRE;
  expect(bodyOf(draftOf(CENTRE))).toEqual(rules);
});

test("every rule has a line", () => {
  expect(lines(draftOf(CENTRE))).toEqual([
    ["modules", "DLC EAS"],
    ["roles that may submit", "owner"],
    ["amount of role:developer at 1-3", "0.5 GPU"],
    ["ceiling of user:ann", "priority 5"],
    ["longest run", "DLC 24h"],
    ["longest wait", "no bound"],
  ]);
});
