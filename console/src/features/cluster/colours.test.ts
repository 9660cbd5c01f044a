import { expect, test } from "vitest";
import { palette, valueOf, type Device } from "./colours";

const device: Device = { index: 0, job: "j", name: "n", quota: "Q", priority: 3, module: "DLC", owner: null, state: "busy" };

test("a name keeps its colour whatever order it comes in", () => {
  expect(palette(["b", "a", "b"], false)).toEqual(palette(["a", "b"], false));
});

test("thirty names have thirty colours", () => {
  const names = Array.from({ length: 30 }, (_, n) => `q${String(n).padStart(2, "0")}`);
  expect(new Set(palette(names, false).values()).size).toBe(30);
});

test("a free GPU has no value, and one whose user is not told belongs to others", () => {
  expect(valueOf({ ...device, state: "free" }, "quota")).toBeNull();
  expect(valueOf(device, "priority")).toBe("3");
  expect(valueOf(device, "owner")).toBe("others");
});
