// Searches that the reader has kept under a name, in this browser.
import { Button, NativeSelect } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { JobSearch } from "./filters";

const STORED = "quotatree-job-views";
type Views = Record<string, JobSearch>;

function stored(): Views {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? "{}") as Views;
  } catch {
    return {};
  }
}

export function SavedViews({ search }: { search: JobSearch }) {
  const navigate = useNavigate();
  const [views, setViews] = useState(stored);
  const keep = (next: Views) => {
    localStorage.setItem(STORED, JSON.stringify(next));
    setViews(next);
  };
  const same = Object.entries(views).find(([, view]) => JSON.stringify(view) === JSON.stringify(search))?.[0];
  const filtered = Object.keys(search).length > 0;
  const save = () => {
    const name = window.prompt("Name of this view");
    if (name) keep({ ...views, [name]: search });
  };
  const drop = () => keep(Object.fromEntries(Object.entries(views).filter(([name]) => name !== same)));
  return (
    <>
      {Object.keys(views).length === 0 ? null : (
        <NativeSelect
          aria-label="Saved view"
          value={same ?? ""}
          data={[{ value: "", label: "saved views" }, ...Object.keys(views)]}
          onChange={(e) => void navigate({ to: "/jobs", search: views[e.currentTarget.value] ?? {} })}
        />
      )}
      {same !== undefined ? (
        <Button variant="subtle" onClick={drop}>
          Forget this view
        </Button>
      ) : filtered ? (
        <Button variant="subtle" onClick={save}>
          Save this view
        </Button>
      ) : null}
    </>
  );
}
