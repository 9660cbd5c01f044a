import { expect, test } from "vitest";
import { lossWords } from "./losses";

const mine = { job: "dlc-1", lost_gpu_seconds: 322 };
const theirs = { job: "[job of priority 1, 8 GPU]", lost_gpu_seconds: 321 };

test("losses of others stand by the side of ours", () => {
  expect(lossWords([mine, theirs])).toBe("322 GPU-s of ours, 321 GPU-s of others");
  expect(lossWords([mine, mine])).toBe("644 GPU-s");
  expect(lossWords([theirs])).toBe("321 GPU-s of others");
});
