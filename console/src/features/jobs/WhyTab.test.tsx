import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { answers, serve, show } from "../../../testing/show";
import type { Explanation, Job } from "../../api/types";
import { capital } from "../../components/ReasonList";
import { WhyTab } from "./WhyTab";

const job = answers.job.answer as Job;
const told = answers.explanation.answer as Explanation;

async function why(explanation: Explanation = told) {
  serve({ [`GET /api/v1/jobs/${job.id}/explanation`]: () => ({ status: 200, answer: explanation }) });
  show(WhyTab, "/jobs/$job", `/jobs/${job.id}`);
  return within(await screen.findByTestId("why"));
}

test("every reason is told in the server's words, with its rules, the first one first", async () => {
  const extra = { ...told.reasons[0], text: "the quota is full", rules: ["Q3"] } as Explanation["reasons"][number];
  const shown = await why({ ...told, reasons: [...told.reasons, extra] });
  const [first] = told.reasons;
  expect(shown.getAllByText(capital(first?.text ?? ""))[0]?.parentElement?.textContent).toContain(first?.rules.join(" "));
  expect(shown.getByText(`${told.reasons.length} further reason${told.reasons.length === 1 ? "" : "s"}`)).toBeTruthy();
  expect(shown.getByText(/^The quota is full/).textContent).toBe("The quota is full Q3");
});

test("each step that was tried stands there with why it failed", async () => {
  const shown = await why();
  expect(shown.getAllByLabelText("failed")).toHaveLength(told.tried.length);
});

test("who evicted it and what was lost are told", async () => {
  const shown = await why();
  expect(shown.getByText("Evicted by").parentElement?.textContent).toMatch(/, lost \d/);
});

test("what would help can be tried without being done", async () => {
  const shown = await why();
  const helps = told.helps.filter((one) => one.action !== null);
  expect(shown.getAllByRole("button", { name: "what would that do?" })).toHaveLength(helps.length);
});

test("a job that nothing holds back says so instead of an empty list", async () => {
  const shown = await why({ ...told, reasons: [], tried: [], holders: [], preempted_by: null });
  expect(shown.getByText("Nothing had to be tried.")).toBeTruthy();
  expect(shown.getByText("nobody")).toBeTruthy();
});
