import assert from "node:assert/strict";
import test from "node:test";
import { foldEmail, isSameEmail, readEmail } from "./email.ts";

test("one mailbox has one folded form, however it is spelled", () => {
  for (const spelling of [
    "ada@example.com",
    "Ada@Example.COM",
    "ADA@EXAMPLE.com",
    "ada@ｅｘａｍｐｌｅ.com",
    "ada@exam\u00adple.com",
  ])
    assert.equal(foldEmail(spelling), "ada@example.com", spelling);
  for (const spelling of [
    "o@bücher.example",
    "o@BÜCHER.example",
    "O@bu\u0308cher.example",
    "o@xn--bcher-kva.example",
    "o@XN--BCHER-KVA.example",
  ])
    assert.equal(foldEmail(spelling), "o@xn--bcher-kva.example", spelling);
  assert.ok(isSameEmail("Ada@Example.com", "ada@example.COM"));
  assert.ok(!isSameEmail("ada@example.com", "ada@example.org"));
});

test("the address that is mailed to keeps the local part as it was typed and has a domain in ASCII", () => {
  assert.deepEqual(readEmail("Grace.Hopper+navy@BÜCHER.example"), {
    address: "Grace.Hopper+navy@xn--bcher-kva.example",
    folded: "grace.hopper+navy@xn--bcher-kva.example",
  });
});

test("what a mail program could read as another or a second address is none", () => {
  const hostile = [
    ...[...'x,;<>()":\\[] \t\r\n\u0000\u007f\u00a0\u2028']
      .slice(1)
      .flatMap((sign) => [
        `x${sign}victim@corp.dev`,
        `victim@corp${sign}x.dev`,
        `${sign}victim@corp.dev`,
        `victim@corp.dev${sign}`,
      ]),
    "vİctim@corp.dev",
    "victım@corp.dev",
    "\u212aate@corp.dev",
    "müller@corp.dev",
    "a<b@corp.dev",
    "ceo@corp.dev,x@y.dev",
    "ceo@corp.dev;x.dev",
    "a@b@corp.dev",
    "@corp.dev",
    ".a@corp.dev",
    "a.@corp.dev",
    "a..b@corp.dev",
    "a@",
    "a@corp",
    "a@corp.",
    "a@.corp.dev",
    "a@corp..dev",
    "a@-corp.dev",
    "a@corp-.dev",
    "a@127.0.0.1",
    "a@0x7f.1",
    "a@corp.1",
    "a@[127.0.0.1]",
    "a@corp.dev/x",
    "a@corp.dev:25",
    "a@corp%2edev.x",
    "a@user:pw@corp.dev",
    `${"a".repeat(65)}@corp.dev`,
    `a@${"b".repeat(64)}.dev`,
    `a@${"b.".repeat(130)}dev`,
  ];
  for (const text of hostile) assert.equal(readEmail(text), null, JSON.stringify(text));
});

test("folding what is folded changes nothing, and what comes out is ASCII without capitals", () => {
  const alphabet = [..."aAzZ09._-+'@@@..İıßẞſKÅéÜü例え。．ａＺ\u00ad\u200d\u0301\u{1f600}\u{1d400} ,;<"];
  // A fixed sequence (a linear congruential generator), so that a failure can be repeated.
  let state = 20_260_301;
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const piece = (length: number) => Array.from({ length }, () => alphabet[next(alphabet.length)]).join("");
  let folded = 0;
  for (let i = 0; i < 50_000; i++) {
    const text =
      i % 2 === 0 ? piece(1 + next(16)) : `a${piece(next(3))}@${piece(1 + next(4))}b.${piece(1 + next(2))}c`;
    const once = foldEmail(text);
    if (once === null) continue;
    folded += 1;
    assert.equal(foldEmail(once), once, JSON.stringify(text));
    assert.match(once, /^[\x21-\x40\x5b-\x7e]+$/, JSON.stringify(text));
    assert.equal(foldEmail(readEmail(text)?.address ?? ""), once, JSON.stringify(text));
  }
  assert.ok(folded > 500, `only ${folded} of the texts were addresses`);
});
