import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { Conflict, type Lines } from "./Conflict";

function shown(base: Lines, theirs: Lines, mine: Lines) {
  const onTheirs = vi.fn();
  const onMine = vi.fn();
  render(
    <MantineProvider env="test">
      <Conflict base={base} theirs={theirs} mine={mine} onTheirs={onTheirs} onMine={onMine} />
    </MantineProvider>,
  );
  return { onTheirs, onMine };
}

const cells = (name: string) => within(screen.getByRole("row", { name: new RegExp(`^${name}`) })).getAllByRole("cell");

test("each setting has what it was, theirs and mine, and what each changed stands out", () => {
  shown([["size", "48 GPU"], ["mode", "lazy"]], [["size", "56 GPU"], ["mode", "lazy"]], [["size", "48 GPU"], ["mode", "refuse"]]);
  expect(cells("size").map((cell) => cell.textContent)).toEqual(["size", "48 GPU", "56 GPU", "48 GPU"]);
  expect(cells("size").map((cell) => cell.classList.contains("strong"))).toEqual([false, false, true, false]);
  expect(cells("mode").map((cell) => cell.classList.contains("strong"))).toEqual([false, false, false, true]);
});

test("a setting that only one version has is a dash in the others", () => {
  shown([], [["self-level 1", "on"]], []);
  expect(cells("self-level 1").map((cell) => cell.textContent)).toEqual(["self-level 1", "–", "on", "–"]);
});

test("if they changed something else, that is said", () => {
  shown([["size", "48"]], [["size", "48"]], [["size", "50"]]);
  expect(screen.getByText(/changed something else/)).toBeTruthy();
});

test("nothing is chosen for the reader", () => {
  const { onTheirs, onMine } = shown([["size", "1"]], [["size", "2"]], [["size", "3"]]);
  expect(onTheirs).not.toHaveBeenCalled();
  fireEvent.click(screen.getByRole("button", { name: "Take theirs" }));
  expect(onTheirs).toHaveBeenCalledOnce();
  fireEvent.click(screen.getByRole("button", { name: /Go on with mine/ }));
  expect(onMine).toHaveBeenCalledOnce();
});
