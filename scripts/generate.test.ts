import assert from "node:assert/strict";
import test from "node:test";
import { generated, read } from "./generate.ts";

for (const { path, make } of generated) {
  test(`${path} is what the code generates (npm run generate writes it)`, async () => {
    assert.equal(read(path), await make());
  });
}
