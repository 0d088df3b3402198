import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import test from "node:test";

const source = new URL("../src/", import.meta.url).pathname;

test("the reader runs anywhere: it imports itself and the zone's own rules, asks for no address and knows no network", () => {
  const files = globSync("**/*.ts", { cwd: source }).filter(
    (path) => !path.endsWith(".test.ts") && !path.startsWith("node/"),
  );
  assert.ok(files.length > 10);
  for (const path of files) {
    const text = readFileSync(source + path, "utf8");
    for (const [, imported = ""] of text.matchAll(/\bfrom "([^"]+)"|\bimport\(/g))
      assert.ok(
        imported.startsWith("./") || imported.startsWith("@assay/emrtd/mrz/"),
        `${path} imports ${imported || "something while it runs"}`,
      );
    assert.doesNotMatch(
      text,
      /\b(?:fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts)\b/,
      path,
    );
  }
});
