import { expect, test } from "vitest";
import { changedFigures } from "./figures";

const job = { core_replicas: 1, replicas: 3, most_replicas: 6 };

test("only what was changed is sent", () => {
  expect(changedFigures(job, { least: "1", wanted: "4", most: "6" })).toEqual({ replicas: 4 });
  expect(changedFigures(job, { least: "2", wanted: "3", most: "8" })).toEqual({ min_replicas: 2, max_replicas: 8 });
});

test("nothing is sent if nothing was changed", () => {
  expect(changedFigures(job, { least: "1", wanted: "3", most: "6" })).toEqual({});
});
