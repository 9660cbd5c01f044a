import { expect, test } from "vitest";
import { scaleOf, segments, spoken, type Figures } from "./bar";

const none: Figures = { min: 48, desired: 48, usedOwn: 0, usedBelow: 0, idleLent: 0, squeezed: 0, reserved: 0, shortfall: 0, queued: 0, queuedBelow: 0 };

test("an unused quota is one free piece", () => {
  expect(segments(none)).toEqual([{ kind: "free", from: 0, to: 48 }]);
});

test("squeezed stands at the end, free between it and what is used", () => {
  expect(segments({ ...none, usedOwn: 36, squeezed: 8 })).toEqual([
    { kind: "own", from: 0, to: 36 },
    { kind: "free", from: 36, to: 40 },
    { kind: "squeezed", from: 40, to: 48 },
  ]);
});

test("own and below stand side by side", () => {
  const pieces = segments({ ...none, min: 128, usedOwn: 16, usedBelow: 112 });
  expect(pieces).toEqual([
    { kind: "own", from: 0, to: 16 },
    { kind: "below", from: 16, to: 128 },
  ]);
});

test("a loan lies past the end, and queued work after it", () => {
  expect(segments({ ...none, usedOwn: 56, queued: 8 })).toEqual([
    { kind: "own", from: 0, to: 48 },
    { kind: "loan", from: 48, to: 56 },
    { kind: "queued", from: 56, to: 64 },
  ]);
});

test("what is lent idle is drawn on the free part", () => {
  expect(segments({ ...none, usedOwn: 40, idleLent: 6 }).slice(1)).toEqual([
    { kind: "idle", from: 40, to: 46 },
    { kind: "free", from: 46, to: 48 },
  ]);
});

test("pieces within the bar never overlap and fill it, whatever the figures", () => {
  for (let seed = 0; seed < 500; seed++) {
    const pick = (n: number) => (seed * 7919 + n * 104729) % 60;
    const figures = { ...none, min: pick(1), usedOwn: pick(2), usedBelow: pick(3), idleLent: pick(4), squeezed: pick(5), shortfall: pick(6), queued: pick(7) };
    const inside = segments(figures).filter((one) => one.kind !== "loan" && one.kind !== "queued");
    let at = 0;
    for (const one of inside) {
      expect(one.from).toBe(at);
      at = one.to;
    }
    expect(at).toBe(figures.min);
  }
});

test("the scale of a tree shows every end, and of a long queue only a part", () => {
  expect(scaleOf([{ ...none, min: 128 }, { ...none, usedOwn: 56 }])).toBe(128);
  expect(scaleOf([{ ...none, min: 100, queued: 5000 }])).toBe(118);
});

test("a bar can be heard", () => {
  expect(spoken({ ...none, usedOwn: 40, squeezed: 8, queued: 8 })).toBe("40 of 48 GPU used, squeezed 8, queued 8");
});
