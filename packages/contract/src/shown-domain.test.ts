import assert from "node:assert/strict";
import { test } from "node:test";
import { domainToASCII, domainToUnicode } from "node:url";
import fc from "fast-check";
import { decodePunycode } from "./punycode.ts";
import { shownDomain, shownLink } from "./shown-domain.ts";

const isAscii = (text: string) => /^[\x20-\x7e]*$/.test(text);

function shownOf(name: string): string {
  const ascii = domainToASCII(name);
  assert.notEqual(ascii, "", `${name} is no domain`);
  return shownDomain(ascii);
}

test("an honest name is shown as people write it", () => {
  for (const name of [
    "münchen.de",
    "straße.de",
    "łódź.pl",
    "việt.vn",
    "poznań.pl",
    "café.com",
    "señor.org",
    "tűzoltó.hu",
    "ışık.tr",
    "пример.рф",
    "пример.рус",
    "пример.com",
    "сайт123.ru",
    "ελλάδα.gr",
    "κατα.ελ",
    "例え.jp",
    "東京タワー.jp",
    "日本hotel.jp",
    "食狮.公司.cn",
    "한국.kr",
    "ไทย.com",
    "भारत.भारत",
    "مثال.com",
    "אתר.ישראל",
  ])
    assert.equal(shownOf(name), name);
  assert.equal(shownDomain("example.com"), "example.com");
  assert.equal(shownDomain("127.0.0.1"), "127.0.0.1");
  assert.equal(shownDomain("[::1]"), "[::1]");
});

test("a name that can be taken for another one is shown in its ASCII form", () => {
  for (const [name, why] of [
    ["аpple.com", "one Cyrillic letter among Latin ones"],
    ["аррӏе.com", "Cyrillic letters that all look Latin"],
    ["раypal.com", "two Cyrillic letters among Latin ones"],
    ["аррӏе.рус", "the TLD looks Latin too"],
    ["apple.сом", "only the TLD is Cyrillic, and looks Latin"],
    ["пример.аррӏе.com", "what stands in front does not vouch for the name"],
    ["ορα.com", "Greek letters that all look Latin"],
    ["օս.com", "Armenian letters that all look Latin"],
    ["דוח.com", "Hebrew letters that all look Latin"],
    ["αбв.com", "Greek and Cyrillic"],
    ["gıthub.com", "a Latin letter that is easily missed"],
    ["ɡoogle.com", "a Latin letter that nobody writes"],
    ["ạpple.com", "a mark below the line, outside of Viet Nam"],
    ["a\u0338pple.com", "a combining mark that makes no letter"],
    ["ab\u0307\u0307.com", "the same mark twice"],
    ["amazoń.com", "an accent that is usual in Poland, elsewhere easily missed"],
    ["faceḃook.com", "a dot above a letter that hardly anybody writes"],
    ["gőőgle.com", "a letter of Hungarian outside of Hungary"],
    ["१२३.com", "digits that are not 0 to 9"],
    ["wwwノexample.jp", "a stroke like a slash"],
    ["ー.jp", "a stroke like a hyphen"],
    ["ꙅ.com", "a letter that is no longer written"],
    ["ሴሴa.com", "Ethiopic and Latin"],
    ["אתר.אתר.com", "two labels that change places"],
    ["ᚠᚢ.com", "a script of inscriptions"],
  ] as const) {
    const ascii = domainToASCII(name);
    assert.match(ascii, /xn--/, name);
    assert.equal(shownDomain(ascii), ascii, `${name}: ${why}`);
  }
});

const latinInOtherScripts: readonly Readonly<Record<string, string>>[] = [
  { a: "а", c: "с", e: "е", h: "һ", i: "і", j: "ј", k: "к", l: "ӏ", m: "м", n: "п", o: "о" },
  { p: "р", q: "ԛ", r: "г", s: "ѕ", t: "т", w: "ԝ", x: "х", y: "у", d: "ԁ", b: "ь", v: "ѵ" },
  { a: "α", e: "ε", i: "ι", k: "κ", n: "η", o: "ο", p: "ρ", t: "τ", u: "υ", v: "ν", w: "ω", y: "γ", x: "χ" },
  { o: "օ", u: "ս", n: "ո", h: "հ", j: "յ", l: "լ", g: "ց", q: "գ" },
];

test("no ASCII name with letters of another script in it is shown as that name", () => {
  const name = fc.stringMatching(/^[a-y]{1,20}$/);
  const table = fc.constantFrom(...latinInOtherScripts, {
    ...latinInOtherScripts[0],
    ...latinInOtherScripts[1],
  });
  fc.assert(
    fc.property(name, table, fc.infiniteStream(fc.boolean()), (latin, other, choices) => {
      const spoof = [...latin].map((letter) => (choices.next().value ? (other[letter] ?? letter) : letter));
      const shown = shownOf(`${spoof.join("")}.com`);
      assert.ok(isAscii(shown), `${latin} as ${spoof.join("")}`);
    }),
  );
});

test("what is shown leads back to the domain, and holds nothing that is not seen", () => {
  const unit = fc.oneof(
    fc.constantFrom(..."abcозпаэαλ例えノ한ก้א\u200c\u200d\u0301\u0338·٣३-0"),
    fc
      .integer({ min: 0x80, max: 0x2ffff })
      .map((code) => String.fromCodePoint(code >= 0xd800 && code < 0xe000 ? 0xe9 : code)),
  );
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit, minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 3 }),
      (labels) => {
        const ascii = domainToASCII(`${labels.join(".")}.com`);
        const shown = shownDomain(ascii);
        assert.equal(domainToASCII(shown), ascii);
        // The ASCII form of a label is whatever the name server holds, a plus sign included.
        for (const label of shown.split(".").filter((part) => !/^[\x21-\x7e]*$/.test(part)))
          assert.doesNotMatch(label, /[\p{C}\p{Z}\p{S}]/u);
      },
    ),
    { numRuns: 2000 },
  );
});

test("labels are decoded as Node does, and what is no label is not", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }), (text) => {
      const ascii = domainToASCII(text);
      if (!ascii.startsWith("xn--") || ascii.includes(".")) return;
      assert.equal(decodePunycode(ascii.slice(4)), domainToUnicode(ascii));
    }),
  );
  for (const text of ["0", "a-", "99999999", "é", "A", "a-9999999999", "-", "zzzzzzzzzzzzzzzzzz"]) {
    const decoded = decodePunycode(text);
    if (decoded !== null) assert.ok(isAscii(decoded) || domainToASCII(decoded) !== text, text);
  }
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9-]{0,59}$/), (text) => {
      const shown = shownDomain(`xn--${text}.com`);
      assert.ok(isAscii(shown) || domainToASCII(shown) === `xn--${text}.com`);
    }),
  );
});

test("a link is shown by where it leads", () => {
  assert.equal(shownLink("https://www.example.com/"), "www.example.com");
  assert.equal(shownLink("https://münchen.de:8443/a?b#c"), "münchen.de:8443/a?b#c");
  assert.equal(
    shownLink("https://www.apple.com\u2215privacy.evil.dev/"),
    "www.apple.xn--comprivacy-9g1f.evil.dev",
  );
  assert.equal(shownLink("https://evil.dev/\u202emoc.elppa.www"), "evil.dev/%E2%80%AEmoc.elppa.www");
  assert.equal(shownLink("https://аррӏе.com/privacy"), "xn--80ak6aa92e.com/privacy");
  assert.equal(shownLink("no link"), "no link");
});
