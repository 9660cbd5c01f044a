import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { answers, serve, show, type Sent } from "../../../testing/show";
import type { Quota } from "../../api/types";
import { PolicyPage } from "./PolicyPage";

const POLICIES = "/api/v1/quotas/Quota1/policies";
const quotas = answers.quotas.answer as { items: Quota[] };
const version = quotas.items.find((one) => one.id === "Quota1")?.version ?? 0;
const open = () => show(PolicyPage, "/quotas/$quota/policy", "/quotas/Quota1/policy?self=on");
const type = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });
const saveButton = () => screen.getByRole<HTMLButtonElement>("button", { name: "Save" });
const puts = (sent: Sent[]) => sent.filter((one) => one.method === "PUT");

test("an invalid pair is refused while it is typed, with what to write instead, and nothing is sent", async () => {
  const sent = serve();
  open();
  await screen.findByLabelText("Low: may be taken");
  expect(saveButton().disabled).toBe(false);
  type("Low: may be taken", "4-6");
  expect(screen.getByText(/low 6 reaches high 6: 6-9 over 4-5 would do/)).toBeTruthy();
  expect(saveButton().disabled).toBe(true);
  expect(screen.getByRole("region", { name: "If saved now (last valid)" })).toBeTruthy();
  type("Low: may be taken", "4-5");
  expect(screen.queryByText(/reaches/)).toBeNull();
  expect(saveButton().disabled).toBe(false);
  expect(puts(sent)).toEqual([]);
});

test("what saving would do stands beside the form, with what it costs", async () => {
  const sent = serve();
  open();
  await screen.findByText(/evicted, losing/);
  expect(sent.filter((one) => one.path.startsWith("/api/v1/jobs/"))).toEqual([]); // names come with the answer
  expect(screen.getByRole("region", { name: "If saved now" }).textContent).toContain("1 start");
});

test("refused as an older version, the three versions are shown, and mine is saved from theirs", async () => {
  let saved = 0;
  let theirs = quotas;
  const sent = serve({
    "GET /api/v1/quotas": () => ({ status: 200, answer: theirs }),
    [`PUT ${POLICIES}`]: () => {
      saved += 1;
      if (saved > 1) return { status: 200, answer: {} };
      theirs = { ...quotas, items: quotas.items.map((one) => (one.id === "Quota1" ? { ...one, version: version + 1, strategy: "fifo" } : one)) };
      return answers.conflict;
    },
  });
  open();
  await screen.findByLabelText("Low: may be taken");
  type("Priorities that may be taken below", "1-2");
  fireEvent.click(saveButton());
  const conflict = await screen.findByTestId("conflict");
  expect(conflict.textContent).toContain("strategyintelligentfifointelligent");
  expect(puts(sent).map((one) => one.ifMatch)).toEqual([`"${version}"`]);
  fireEvent.click(screen.getByRole("button", { name: /Go on with mine/ }));
  expect(screen.queryByTestId("conflict")).toBeNull();
  fireEvent.click(saveButton());
  await screen.findByText("elsewhere");
  expect(puts(sent).map((one) => one.ifMatch)).toEqual([`"${version}"`, `"${version + 1}"`]);
  expect(puts(sent)[1]?.body).toMatchObject({ child_level: { priorities: "1-2" } });
});

test("who takes theirs sees their policies and has changed nothing", async () => {
  let theirs = quotas;
  const sent = serve({ "GET /api/v1/quotas": () => ({ status: 200, answer: theirs }), [`PUT ${POLICIES}`]: () => answers.conflict });
  open();
  await screen.findByLabelText("Low: may be taken");
  theirs = { ...quotas, items: quotas.items.map((one) => ({ ...one, version: one.version + 1 })) };
  fireEvent.click(saveButton());
  await screen.findByTestId("conflict");
  fireEvent.click(screen.getByRole("button", { name: "Take theirs" }));
  await waitFor(() => expect(screen.queryByTestId("conflict")).toBeNull());
  expect(screen.queryByLabelText("Low: may be taken")).toBeNull();
  expect(screen.getByText(`version ${version + 1}`)).toBeTruthy();
  expect(puts(sent)).toHaveLength(1);
});
