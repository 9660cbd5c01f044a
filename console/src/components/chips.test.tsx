import { MantineProvider } from "@mantine/core";
import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { Waits } from "./chips";

const MINUTE = 60_000;

function waits(sinceMs: number | null, beforeMs: number): string {
  const job = { submitted_ms: Date.now() - 23 * MINUTE, waiting_since_ms: sinceMs, waited_before_ms: beforeMs };
  return render(<MantineProvider env="test"><Waits job={job} /></MantineProvider>).container.querySelector(".nowrap")?.textContent ?? "";
}

test("a wait counts from its own beginning, and all waits of the job stand beside it", () => {
  expect(waits(Date.now() - 2 * MINUTE - 30_000, 8 * MINUTE)).toBe("2 min, 10 min in all");
});

test("a first wait is all waits", () => {
  expect(waits(Date.now() - 2 * MINUTE - 30_000, 0)).toBe("2 min");
});
