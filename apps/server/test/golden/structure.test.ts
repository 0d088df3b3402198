import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import test from "node:test";

const root = new URL("../../../../", import.meta.url).pathname;
const sources = globSync(["apps/*/src/**/*.ts", "packages/*/src/**/*.ts"], { cwd: root }).filter(
  (path) => !path.endsWith(".test.ts"),
);
const importPattern =
  /^(?:import|export)\s[^"';=]*?\sfrom\s+["']([^"']+)["']|^import\s+["']([^"']+)["']|\bimport\(["']([^"']+)["']\)/gm;

function importsOf(path: string): string[] {
  return [...readFileSync(root + path, "utf8").matchAll(importPattern)].map(
    (match) => match[1] ?? match[2] ?? "",
  );
}

/** A relative import of `path` as a path from the repository's root. */
function target(path: string, imported: string): string {
  return imported.startsWith(".") ? new URL(imported, `file:///${path}`).pathname.slice(1) : imported;
}

function forEachImport(prefix: string, check: (path: string, imported: string) => void): void {
  const files = sources.filter((path) => path.startsWith(prefix));
  assert.ok(files.length > 0, `no file under ${prefix}`);
  for (const path of files) for (const imported of importsOf(path)) check(path, target(path, imported));
}

test("the contract imports the schema library and nothing else", () => {
  forEachImport("packages/contract/src/", (path, imported) => {
    assert.ok(
      imported === "typebox" || imported.startsWith("packages/contract/src/"),
      `${path} imports ${imported}`,
    );
  });
});

test("lib and db know no feature", () => {
  for (const folder of ["lib", "db"]) {
    forEachImport(`apps/server/src/${folder}/`, (path, imported) => {
      const ours = imported.startsWith("apps/server/src/");
      const allowed = /^apps\/server\/src\/(lib|db)\//.test(imported);
      assert.ok(!ours || allowed, `${path} imports ${imported}`);
    });
  }
});

test("installation knows no feature", () => {
  forEachImport("apps/server/src/installation/", (path, imported) => {
    const ours = imported.startsWith("apps/server/src/");
    const allowed = /^apps\/server\/src\/((lib|db|kernel|installation)\/|config\.ts$)/.test(imported);
    assert.ok(!ours || allowed, `${path} imports ${imported}`);
  });
});

test("only http knows the web framework", () => {
  forEachImport("apps/server/src/", (path, imported) => {
    const framework = imported === "fastify" || imported.startsWith("@fastify/");
    assert.ok(!framework || path.startsWith("apps/server/src/http/"), `${path} imports ${imported}`);
  });
});

test("a feature reaches another only through its nouns, use cases or store", () => {
  const featureOf = (path: string) => /^apps\/server\/src\/([a-z-]+)\//.exec(path)?.[1];
  forEachImport("apps/server/src/", (path, imported) => {
    const [from, to] = [featureOf(path), featureOf(imported)];
    if (from === undefined || to === undefined || from === to || from === "cli") return;
    assert.ok(!/\.(routes|view|job)\.ts$/.test(imported), `${path} imports ${imported}`);
  });
});

test("the environment is read in one place", () => {
  for (const path of sources.filter((source) => source.startsWith("apps/server/src/"))) {
    if (/^apps\/server\/src\/(config|main)\.ts$|^apps\/server\/src\/cli\//.test(path)) continue;
    const text = readFileSync(root + path, "utf8");
    assert.ok(!/process\.env\b/.test(text), `${path} reads process.env`);
  }
});

test("decisions do not ask for the time: only clocks do", () => {
  for (const path of sources.filter((source) =>
    /^apps\/server\/src\/(?!lib\/|db\/|cli\/|installation\/)/.test(source),
  )) {
    const text = readFileSync(root + path, "utf8");
    assert.ok(!/\bDate\.now\(\)|new Date\(\)/.test(text), `${path} reads the system's time`);
  }
});
