import { expect, test } from "vitest";
import { readTimes, writeTimes } from "./times";

test("one time for all, or one for each module, there and back", () => {
  for (const times of [null, "24h", { DLC: "24h", DSW: "8h" }]) expect(readTimes(writeTimes(times))).toEqual(times);
});

test("colons, equals signs and small letters are read too", () => {
  expect(readTimes("dlc=24h dsw: 90m")).toEqual({ DLC: "24h", DSW: "90m" });
});
