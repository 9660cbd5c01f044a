import { expect, test } from "vitest";
import { asked } from "./filters";

test("an empty search asks for all jobs", () => {
  expect(asked({})).toEqual({ positions: true, total: true });
});

test("lists are written with commas, and ranges of priorities are spelt out", () => {
  expect(asked({ phase: "Waiting,Held", priority: "1,7-9", part: "Sweep A!" })).toMatchObject({ phase: ["Waiting", "Held"], priority: [1, 7, 8, 9], part: "sweepa" });
});

test("active is a question of its own", () => {
  expect(asked({ phase: "active" })).toEqual({ positions: true, total: true, active: true });
});
