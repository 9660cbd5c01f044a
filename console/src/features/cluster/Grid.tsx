// The grid itself, painted on a canvas: thousands of GPUs in one picture. The table beside it says the same in words.
import { useEffect, useRef, useState } from "react";
import type { Node } from "../../api/types";
import { valueOf, type By, type Device } from "./colours";

type Props = {
  nodes: readonly Node[];
  devices: ReadonlyMap<string, Device[]>;
  by: By;
  colours: ReadonlyMap<string, string>;
  chosen: string | null;
  onChoose: (node: string) => void;
};

const GAP = 3;
const PAD = 6;
const LABEL = 15;

export function Grid({ nodes, devices, by, colours, chosen, onChoose }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(900);
  const [title, setTitle] = useState("");
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 900)));
    if (box.current !== null) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  const most = Math.max(1, ...nodes.map((one) => one.gpus));
  const side = nodes.length > 400 ? 8 : nodes.length > 100 ? 12 : 18;
  const wide = most * (side + GAP) - GAP + 2 * PAD;
  const tall = side + 2 * PAD + LABEL;
  const columns = Math.max(1, Math.floor((width + 8) / (wide + 8)));
  const height = Math.ceil(nodes.length / columns) * (tall + 8);
  const at = (place: number) => ({ x: (place % columns) * (wide + 8), y: Math.floor(place / columns) * (tall + 8) });

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || canvas.current === null) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.current.width = width * ratio;
    canvas.current.height = height * ratio;
    context.scale(ratio, ratio);
    context.clearRect(0, 0, width, height);
    const css = getComputedStyle(document.documentElement);
    const ink = (name: string) => css.getPropertyValue(name).trim();
    context.font = "11px system-ui, sans-serif";
    nodes.forEach((node, place) => {
      const { x, y } = at(place);
      context.strokeStyle = node.name === chosen ? ink("--accent") : node.state === "Ready" ? ink("--line") : ink("--warn");
      context.lineWidth = node.name === chosen ? 2 : 1;
      context.strokeRect(x + 0.5, y + 0.5, wide - 1, tall - 1);
      context.fillStyle = node.state === "Ready" ? ink("--dim") : ink("--warn");
      context.fillText(node.state === "Ready" ? node.name : `${node.name} ${node.state}`, x + PAD, y + PAD + 8, wide - 2 * PAD);
      for (const device of devices.get(node.name) ?? []) {
        const left = x + PAD + device.index * (side + GAP);
        const top = y + PAD + LABEL - 2;
        const value = valueOf(device, by);
        if (value !== null) {
          context.fillStyle = colours.get(value) ?? ink("--free");
          context.fillRect(left, top, side, side);
        } else {
          context.strokeStyle = device.state === "ill" ? ink("--bad") : ink("--free");
          context.lineWidth = 1;
          context.strokeRect(left + 0.5, top + 0.5, side - 1, side - 1);
          if (device.state === "ill") {
            context.beginPath();
            context.moveTo(left, top);
            context.lineTo(left + side, top + side);
            context.stroke();
          }
        }
      }
    });
  });

  const under = (event: React.MouseEvent) => {
    const bounds = canvas.current?.getBoundingClientRect();
    if (bounds === undefined) return null;
    const x = event.clientX - bounds.left;
    const y = event.clientY - bounds.top;
    const node = nodes[Math.floor(y / (tall + 8)) * columns + Math.floor(x / (wide + 8))];
    const device = Math.floor(((x % (wide + 8)) - PAD) / (side + GAP));
    return node === undefined ? null : { node, device: devices.get(node.name)?.[device] };
  };
  return (
    <div ref={box} style={{ minWidth: 0 }}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${nodes.length} nodes as a grid of GPUs; the table below says the same in words`}
        title={title}
        style={{ width, height, cursor: "pointer", display: "block" }}
        onClick={(event) => {
          const found = under(event);
          if (found !== null) onChoose(found.node.name);
        }}
        onMouseMove={(event) => {
          const found = under(event);
          const value = found?.device === undefined ? null : valueOf(found.device, by);
          setTitle(found === null ? "" : `${found.node.name}${found.device === undefined ? "" : ` GPU ${found.device.index}: ${value ?? found.device.state}`}`);
        }}
      />
    </div>
  );
}
