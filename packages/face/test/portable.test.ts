import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import test from "node:test";

const source = new URL("../src/", import.meta.url).pathname;

test("the rules of the face step run anywhere: they import each other and the protocol, nothing else", () => {
  const files = globSync("**/*.ts", { cwd: source }).filter((path) => !path.endsWith(".test.ts"));
  assert.ok(files.length > 5);
  for (const path of files)
    for (const [, imported = ""] of readFileSync(source + path, "utf8").matchAll(
      /\bfrom "([^"]+)"|\bimport\(/g,
    ))
      assert.ok(
        imported.startsWith("./") || imported === "@assay/contract/verify-protocol",
        `${path} imports ${imported || "something while it runs"}`,
      );
});
