// The licences of the packages whose code is in the build, gathered into one file beside it: licences.txt.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

/** What may be shipped with an Apache-2.0 program as it is. Anything else stops the build, so that a person decides. */
const ACCEPTED = new Set(["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "0BSD"]);

/** Code that the build tool itself puts in, by words in the names of its virtual modules. */
const HELPERS: Record<string, string> = { "vite/": "vite", "rolldown/": "rolldown" };

const HEAD = `QuotaTree's console contains code of the packages below. Each stands under its own licence, as printed.
QuotaTree itself stands under the Apache License 2.0.
`;

/** The terms of the MIT licence, for a package that names it and brings no file with it. */
const MIT_TERMS = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR
ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH
THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

export type Licence = { name: string; version: string; kind: string; text: string };

export function licences(root: string): Plugin {
  return {
    name: "licences",
    apply: "build",
    generateBundle(_, bundle) {
      const used = new Set<string>();
      for (const file of Object.values(bundle)) {
        if (file.type !== "chunk") continue;
        for (const [id, module] of Object.entries(file.modules)) if (module.renderedLength > 0) used.add(id);
      }
      for (const id of this.getModuleIds()) if (/\.css(\?|$)/.test(id)) used.add(id);
      this.emitFile({ type: "asset", fileName: "licences.txt", source: page(gather(used, root)) });
    },
  };
}

/** The licences of the packages that these modules belong to, by name and version; raises where one is not accepted. */
export function gather(modules: Iterable<string>, root: string): Licence[] {
  const found = new Map<string, Licence>();
  for (const id of modules) {
    const directory = packageOf(id, root);
    if (directory === undefined) continue;
    const one = licenceOf(directory);
    found.set(`${one.name} ${one.version}`, one);
  }
  return [...found.keys()].sort().map((key) => found.get(key) as Licence);
}

export function page(all: Licence[]): string {
  const parts = all.map((one) => `${"=".repeat(78)}\n${one.name} ${one.version} (${one.kind})\n\n${one.text.trim()}\n`);
  return [HEAD, ...parts].join("\n");
}

/** The directory of the package that a module is from; undefined: it is our own, or nothing that was written. */
function packageOf(id: string, root: string): string | undefined {
  if (id.startsWith("\0")) {
    const helper = Object.keys(HELPERS).find((words) => id.includes(words));
    return helper === undefined ? undefined : join(root, "node_modules", HELPERS[helper] as string);
  }
  const inside = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll("\\", "/"));
  return inside?.[1];
}

function licenceOf(directory: string): Licence {
  const { name, version, license, author } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  if (!ACCEPTED.has(license)) {
    throw new Error(`${name} ${version} stands under ${JSON.stringify(license)}, which console/licences.ts does not accept`);
  }
  const file = readdirSync(directory).sort().find((one) => /^(licen[sc]e|copying)(\.|$)/i.test(one));
  if (file !== undefined) {
    return { name, version, kind: license, text: readFileSync(join(directory, file), "utf8").replaceAll("\r\n", "\n") };
  }
  const holder = typeof author === "string" ? author : author?.name;
  if (license !== "MIT" || !holder) {
    throw new Error(`${name} ${version} brings no text of its licence and does not name its author: take another version or package`);
  }
  return { name, version, kind: license, text: `Copyright (c) ${holder}\n\n${MIT_TERMS}` };
}
