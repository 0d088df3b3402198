import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEmbedOrigin } from "./embed-origin.ts";

test("an origin is scheme and host, and nothing that a browser would drop", () => {
  for (const [text, origin] of [
    ["https://shop.example", "https://shop.example"],
    ["HTTPS://Shop.Example", "https://shop.example"],
    ["http://localhost:3000", "http://localhost:3000"],
  ] as const) {
    const parsed = parseEmbedOrigin(text);
    assert.ok("origin" in parsed, text);
    assert.equal(parsed.origin.origin, origin);
  }
  for (const text of [
    ...["", "shop.example", "https://shop.example/", "https://shop.example/pay", "https://shop.example?x"],
    ...["https://shop.example:443", "https://me@shop.example", "https://*.shop.example", "null", "data:,x"],
  ])
    assert.ok("problem" in parseEmbedOrigin(text), text);
});
