import { expect, test } from "vitest";
import { byUser } from "./users";

const job = (owner: string, phase: string, gpus: number) => ({ owner, workspace: "w", phase, gpus });

test("what runs and what waits is summed up by user, largest first", () => {
  const rows = byUser([job("ada", "Waiting", 4), job("bob", "Running", 8), job("ada", "Running", 2), job("bob", "Held", 1)]);
  expect(rows).toEqual([
    { user: "bob", workspace: "w", running: 8, waiting: 1, jobs: 2 },
    { user: "ada", workspace: "w", running: 2, waiting: 4, jobs: 2 },
  ]);
});
