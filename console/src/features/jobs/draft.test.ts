import { expect, test } from "vitest";
import { NEW_JOB, bodyOf, problems } from "./draft";

test("the first draft may be sent as it is", () => {
  expect(problems(NEW_JOB)).toEqual({});
  expect(bodyOf({ ...NEW_JOB, workspace: "w", quota: "Q" })).toMatchObject({ groups: [{ replicas: 1, gpus: 8 }], priority: 1, program: {} });
});

test("GPUs are whole, or a part of one (R1)", () => {
  for (const good of ["0", "1", "16", "0.25", "0.001"]) expect(problems({ ...NEW_JOB, gpus: good })).toEqual({});
  for (const bad of ["", "1.5", "-1", "x", "0.0001"]) expect(problems({ ...NEW_JOB, gpus: bad })).toHaveProperty("gpus");
});

test("no more replicas can be insisted on than are wanted", () => {
  expect(problems({ ...NEW_JOB, replicas: "2", minReplicas: "3" })["minReplicas"]).toBe("a whole number from 1 to 2");
});

test("a program is a command by lines, or JSON", () => {
  expect(bodyOf({ ...NEW_JOB, program: "python\ntrain.py" })["program"]).toEqual({ command: ["python", "train.py"] });
  expect(bodyOf({ ...NEW_JOB, program: '{"seconds": 5}' })["program"]).toEqual({ seconds: 5 });
  expect(problems({ ...NEW_JOB, program: "{nonsense" })).toHaveProperty("program");
});
