import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { anyUrl } from "../../../test/support/any-text.ts";
import {
  commonRedirectProblem,
  liveSchemeProblem,
  parseRedirectUrl,
  sandboxRedirectProblem,
} from "./redirect-rules.ts";

function allowedInSandbox(text: string): boolean {
  const parsed = parseRedirectUrl(text);
  if ("problem" in parsed) return false;
  return commonRedirectProblem(parsed.url) === null && sandboxRedirectProblem(parsed.url) === null;
}

test("whatever is accepted opens https, or http on localhost, without credentials", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        anyUrl,
        fc.string(),
        fc
          .tuple(
            fc.constantFrom("http://", "https://", "HTTPS://", "javascript:", "//", "http:/"),
            fc.string(),
          )
          .map((parts) => parts.join("")),
      ),
      (text) => {
        if (!allowedInSandbox(text)) return;
        // What a browser makes of it, which trims and drops characters.
        const opened = new URL(text);
        assert.ok(
          opened.protocol === "https:" || (opened.protocol === "http:" && opened.hostname === "localhost"),
        );
        assert.equal(opened.username + opened.password, "");
        assert.equal(text.trim(), text);
      },
    ),
    { numRuns: 1000 },
  );
});

test("the sandbox takes https anywhere and http on localhost only", () => {
  for (const text of [
    "https://shop.example.com",
    "HTTPS://shop.example.com/a?b#c",
    "http://localhost:1/",
    "http://LOCALHOST",
  ])
    assert.equal(allowedInSandbox(text), true, text);
  for (const text of [
    "http://127.0.0.1",
    "http://localhost.example.com",
    "http://localhost@evil.example",
    "http://evil.example/localhost",
    "https://me@shop.example.com",
    "https://",
    "https:///",
    "javascript://localhost/%0aalert(1)",
    "data:text/html,x",
    "https:\\\\evil.example",
    " https://shop.example.com",
    "https://shop.example.com\n",
    "https://sh\top.example.com",
  ])
    assert.equal(allowedInSandbox(text), false, text);
});

test("live takes https only", () => {
  assert.equal(liveSchemeProblem(new URL("https://shop.example.com")), null);
  assert.match(liveSchemeProblem(new URL("http://localhost")) ?? "", /https/);
});

test("an address must be complete and hold no invisible character", () => {
  for (const text of [
    "shop.example.com",
    "//shop.example.com",
    "https:shop.example.com",
    "https:shop.example.com/?next=app://return",
    "mailto:a@b.example",
    "://x",
  ])
    assert.ok("problem" in parseRedirectUrl(text), text);
  for (const unseen of ["\u200b", "\u202e", "\ufeff"])
    assert.ok("problem" in parseRedirectUrl(`https://shop.example.com/${unseen}`), escape(unseen));
  for (const text of ["https://shop.example.com\\@evil.example", "https://shop.example.com/a b"])
    assert.ok("problem" in parseRedirectUrl(text), text);
  assert.ok("url" in parseRedirectUrl("my-app+1.x://return"));
});

test("credentials are refused, the name as well as the password", () => {
  for (const text of ["https://me@shop.example.com", "https://:secret@shop.example.com"])
    assert.match(commonRedirectProblem(new URL(text)) ?? "", /credentials/);
  assert.equal(commonRedirectProblem(new URL("https://shop.example.com")), null);
});
