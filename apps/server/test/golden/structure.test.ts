import assert from "node:assert/strict";
import { globSync } from "node:fs";
import path from "node:path/posix";
import test from "node:test";
import { importsOf, readSources, violations } from "../support/structure.ts";

const sources = readSources(new URL("../../../../", import.meta.url).pathname);

test("no source file breaks a rule of the house", () => {
  assert.deepEqual(violations(sources), []);
});

test("every workspace is looked at, and what supports tests, benchmarks and scripts", () => {
  const root = new URL("../../../../", import.meta.url).pathname;
  const workspaces = globSync(["apps/*/package.json", "packages/*/package.json"], { cwd: root })
    .map((file) => `${path.dirname(file)}/src/`)
    .filter((folder) => globSync(`${folder}**/*.{ts,tsx}`, { cwd: root }).length > 0);
  assert.ok(workspaces.length > 9, workspaces.join(" "));
  for (const folder of [...workspaces, "apps/server/test/support/", "bench/support/", "scripts/"])
    assert.ok(
      [...sources.keys()].some((file) => file.startsWith(folder)),
      folder,
    );
});

test("imports over several lines, dynamic ones, those of types and of worker files are seen", () => {
  const text = [
    'import {\n  one,\n  type Two,\n} from "./static.ts";',
    'import "./effect.ts";',
    'export { three } from "./again.ts";',
    'const four = await import("./dynamic.ts");',
    'let five: typeof import("./typed.ts");',
    'new Worker(new URL("./worker.ts", import.meta.url));',
    'import { six } from "@assay/contract/errors";',
  ].join("\n");
  assert.deepEqual(
    importsOf(new Map([["apps/server/src/verification/sessions/a.ts", text]]))
      .map(({ to }) => to.split("/").at(-1))
      .sort(),
    ["again.ts", "dynamic.ts", "effect.ts", "errors.ts", "static.ts", "typed.ts", "worker.ts"],
  );
});

/** What is planted, and a word of the complaint that must follow. */
const planted: readonly [what: string, files: Record<string, string>, complaint: RegExp][] = [
  [
    "the chip library imports the contract",
    { "packages/emrtd/src/x.ts": 'import { a } from "@assay/contract/errors";' },
    /packages\/emrtd does not know packages\/contract/,
  ],
  [
    "the contract imports a library besides the one for schemas",
    { "packages/contract/src/x.ts": 'import pg from "pg";' },
    /knows the schema library and nothing else/,
  ],
  [
    "a page of the dashboard, in tsx, reaches into the server",
    { "apps/dashboard/src/x.tsx": 'import { a } from "../../server/src/core.ts";' },
    /apps\/dashboard does not know apps\/server/,
  ],
  [
    "http imports a feature, dynamically",
    {
      "apps/server/src/platform/http/x.ts":
        'const a = await import("../../verification/sessions/session.ts");',
    },
    /http does not know sessions/,
  ],
  [
    "the kernel imports the database",
    { "apps/server/src/platform/kernel/x.ts": 'import { sql } from "../db/sql.ts";' },
    /kernel does not know db/,
  ],
  [
    "lib imports what wires everything",
    { "apps/server/src/platform/lib/x.ts": 'import type { Core } from "../core.ts";' },
    /lib does not know what wires it/,
  ],
  [
    "the platform imports a feature",
    { "apps/server/src/platform/mails/x.ts": 'import { a } from "../../tenants/accounts/user.store.ts";' },
    /the wing platform does not know tenants/,
  ],
  [
    "webhooks import sessions",
    {
      "apps/server/src/delivery/webhooks/x.ts":
        'import { a } from "../../verification/sessions/session.store.ts";',
    },
    /the wing delivery does not know verification/,
  ],
  [
    "a use case knows the web framework",
    { "apps/server/src/verification/sessions/x.ts": 'import fastify from "fastify";' },
    /only http knows the web framework/,
  ],
  [
    "a use case knows http",
    { "apps/server/src/verification/sessions/x.ts": 'import { bind } from "../../platform/http/mount.ts";' },
    /only routes know http/,
  ],
  [
    "a use case writes a statement",
    { "apps/server/src/verification/sessions/x.ts": 'import { sql } from "../../platform/db/sql.ts";' },
    /statements are written in stores/,
  ],
  [
    "a feature uses the view of another",
    {
      "apps/server/src/verification/sessions/x.routes.ts":
        'import { a } from "../../platform/audit/audit.view.ts";',
    },
    /nouns, use cases and stores/,
  ],
  [
    "two files import each other",
    {
      "apps/server/src/verification/sessions/x.ts": 'import { y } from "./y.ts";',
      "apps/server/src/verification/sessions/y.ts": 'import type { X } from "./x.ts";',
    },
    /circle of files: apps\/server\/src\/verification\/sessions\/x\.ts → apps\/server\/src\/verification\/sessions\/y\.ts/,
  ],
  [
    "three folders import each other in a ring",
    {
      "apps/server/src/tenants/domains/x.ts": 'import { y } from "../api-keys/x.ts";',
      "apps/server/src/tenants/api-keys/x.ts": 'import { y } from "../accounts/x.ts";',
      "apps/server/src/tenants/accounts/x.ts": 'import { y } from "../domains/z.ts";',
    },
    /circle of folders: apps\/server\/src\/tenants\/accounts → apps\/server\/src\/tenants\/api-keys → apps\/server\/src\/tenants\/domains/,
  ],
  [
    "two folders of the person's page import each other",
    {
      "apps/verify/src/session/x.ts": 'import { y } from "../ui/y.tsx";',
      "apps/verify/src/ui/z.tsx": 'import type { X } from "../session/x.ts";',
    },
    /circle of folders: apps\/verify\/src\/session → apps\/verify\/src\/ui/,
  ],
  [
    "two folders of the dashboard import each other",
    {
      "apps/dashboard/src/shell/x.tsx": 'import { y } from "../sign-in/y.tsx";',
      "apps/dashboard/src/sign-in/z.tsx": 'import { x } from "../shell/z.tsx";',
    },
    /circle of folders: apps\/dashboard\/src\/shell → apps\/dashboard\/src\/sign-in/,
  ],
  [
    "a package's folder and a file beside it import each other, by the name of the package too",
    {
      "packages/emrtd/src/x.ts": 'import { y } from "./mrz/y.ts";',
      "packages/emrtd/src/mrz/z.ts": 'import { x } from "@assay/emrtd/x";',
    },
    /circle of folders: packages\/emrtd\/src\/mrz → packages\/emrtd\/src\/x\.ts/,
  ],
  [
    "two files that support benchmarks import each other",
    {
      "bench/support/x.ts": 'export const x = new URL("./y.ts", import.meta.url);',
      "bench/support/y.ts": 'import type { X } from "./x.ts";',
    },
    /circle of files: bench\/support\/x\.ts → bench\/support\/y\.ts/,
  ],
  [
    "the configuration imports a feature",
    {
      "apps/server/src/config.ts": 'import { y } from "./verification/verify/x.ts";',
      "apps/server/src/platform/core.ts": 'import type { Config } from "../config.ts";',
      "apps/server/src/verification/verify/x.ts": 'import type { Core } from "../../platform/core.ts";',
    },
    /circle of folders: apps\/server\/src\/config\.ts → apps\/server\/src\/platform\/core\.ts → apps\/server\/src\/verification\/verify/,
  ],
  [
    "a feature reads the environment",
    { "apps/server/src/verification/sessions/x.ts": "export const a = process.env.HOME;" },
    /only load-config\.ts is given it/,
  ],
  [
    "a decision asks for the time",
    { "apps/server/src/verification/sessions/x.ts": "export const a = new Date();" },
    /only clocks do/,
  ],
];

for (const [what, files, complaint] of planted) {
  test(`a rule of the house is seen to be broken when ${what}`, () => {
    assert.match(violations(new Map(Object.entries(files))).join("\n"), complaint);
  });
}
