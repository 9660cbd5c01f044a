// The end of a build: compressed files beside each file, and what a browser has to load, beside its budget.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const ENTRY_KB = 190;
const PAGE_KB = 250;
const WORTH_BYTES = 1024;

/** Pages that stand around the tabs of a feature, and are loaded with each of them. */
const AROUND: Record<string, string[]> = { quotas: ["QuotasPage", "QuotaDetail"], jobs: ["JobPage"] };

type Chunk = { fileName: string; isEntry: boolean; imports: string[]; facadeModuleId: string | null; code: string };

export function finish(): Plugin {
  return {
    name: "finish",
    apply: "build",
    writeBundle(options, bundle) {
      const chunks = new Map<string, Chunk>();
      for (const file of Object.values(bundle)) if (file.type === "chunk") chunks.set(file.fileName, file);
      const directory = options.dir ?? ".";
      for (const name of Object.keys(bundle)) compress(join(directory, name));
      const over = judge(chunks);
      if (over.length > 0) this.error(`over budget: ${over.join(", ")}`);
    },
  };
}

function compress(path: string): void {
  const content = readFileSync(path);
  if (content.length < WORTH_BYTES) return;
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
}

/** Prints the JavaScript of the entry and of each page, gzipped, and returns the names of those over their budget. */
function judge(chunks: Map<string, Chunk>): string[] {
  const entry = [...chunks.values()].find((chunk) => chunk.isEntry);
  if (entry === undefined) return ["no entry"];
  const base = closure(entry, chunks);
  const over: string[] = [];
  const line = (name: string, kb: number, budget: number) => {
    console.log(`  ${name.padEnd(34)} ${kb.toFixed(0).padStart(4)} kB of ${budget} kB`);
    if (kb > budget) over.push(name);
  };
  console.log("\nJavaScript to load, gzipped, beside its budget:");
  line("entry", size(base, chunks), ENTRY_KB);
  for (const chunk of chunks.values()) {
    const page = chunk.facadeModuleId?.match(/features\/(.+(?:Page|Tab))\.tsx$/)?.[1];
    if (page === undefined) continue;
    const around = page.endsWith("Tab") ? (AROUND[page.split("/")[0] ?? ""] ?? []) : [];
    const outer = [...chunks.values()].filter((one) => around.some((name) => one.facadeModuleId?.endsWith(`/${name}.tsx`)));
    line(page, size(new Set([...base, ...[chunk, ...outer].flatMap((one) => [...closure(one, chunks)])]), chunks), PAGE_KB);
  }
  return over;
}

function closure(from: Chunk, chunks: Map<string, Chunk>): Set<string> {
  const seen = new Set<string>();
  const visit = (name: string) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const next of chunks.get(name)?.imports ?? []) visit(next);
  };
  visit(from.fileName);
  return seen;
}

function size(names: Set<string>, chunks: Map<string, Chunk>): number {
  let bytes = 0;
  for (const name of names) bytes += gzipSync(chunks.get(name)?.code ?? "", { level: 9 }).length;
  return bytes / 1000;
}
