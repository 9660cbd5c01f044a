import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { answers } from "../../testing/show";
import type { Job } from "../api/types";
import { DataTable, type Column } from "./DataTable";

const JOBS = (answers.jobs.answer as { items: Job[] }).items.slice(0, 3);
const COLUMNS: Column<Job>[] = [{ key: "name", title: "Job", cell: (job) => job.name }];
const table = (rows: readonly Job[]) => <DataTable label="Jobs" columns={COLUMNS} rows={rows} rowId={(job) => job.id} />;
const names = () => screen.getAllByRole("cell").map((cell) => cell.textContent);
const named = (rows: readonly Job[]) => rows.map((job) => job.name);

test("rows stand as the server sorts them", () => {
  const { rerender } = render(table(JOBS));
  expect(names()).toEqual(named(JOBS));
  rerender(table([...JOBS].reverse()));
  expect(names()).toEqual(named([...JOBS].reverse()));
});

test("under the pointer the order stays, what came newly is counted, and one click shows it", () => {
  const [one, two, three] = JOBS as [Job, Job, Job];
  const { rerender } = render(table([one, two]));
  fireEvent.mouseEnter(screen.getByRole("region", { name: "Table: Jobs" }));
  rerender(table([three, two, one]));
  expect(names()).toEqual(named([one, two]));
  fireEvent.click(screen.getByRole("button", { name: "3 changes, show" }));
  expect(names()).toEqual(named([three, two, one]));
  expect(screen.queryByRole("button")).toBeNull();
});

test("under the pointer what a row says is still renewed", () => {
  const [one, two] = JOBS as [Job, Job, Job];
  const { rerender } = render(table([one, two]));
  fireEvent.mouseEnter(screen.getByRole("region", { name: "Table: Jobs" }));
  rerender(table([two, { ...one, name: "renamed" }]));
  expect(names()).toEqual(["renamed", two.name]);
});

test("when the pointer leaves, the rows stand as they are now", () => {
  const [one, two] = JOBS as [Job, Job, Job];
  const { rerender } = render(table([one, two]));
  const box = screen.getByRole("region", { name: "Table: Jobs" });
  fireEvent.mouseEnter(box);
  rerender(table([two, one]));
  fireEvent.mouseLeave(box);
  expect(names()).toEqual(named([two, one]));
});
