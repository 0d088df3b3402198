import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Text } from "./schema.ts";
import { isolated, shownText } from "./shown-text.ts";

test("what nobody sees is left out of a stored text; everything else stays", () => {
  assert.equal(shownText("Acme \u202eknab\u202c \u200bevil\u0085"), "Acme knab evil");
  assert.equal(shownText("two\nlines\tand more"), "two\nlines\tand more");
  assert.equal(shownText("کتاب\u200cخانه 👩\u200d🔬"), "کتاب\u200cخانه 👩\u200d🔬");
});

test("a name that is written from right to left is set apart from the sentence around it", () => {
  assert.equal(isolated("בנק 7"), "\u2068בנק 7\u2069");
  assert.equal(isolated("Acme Bank"), "Acme Bank");
});

const code = fc.integer({ min: 0, max: 0x10ffff }).filter((at) => at < 0xd800 || at > 0xdfff);
const allowed = new Set([0x200c, 0x200d, 0xfe0e, 0xfe0f]);
const fits = new RegExp((Text({ max: 100 }) as { pattern?: string }).pattern ?? "", "u");

test("no text holds what Unicode says is not drawn, a tag or a noncharacter; joiners and the selectors of emoji stay", () => {
  const isUnseen = (at: number) =>
    /[\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Cc}]/u.test(String.fromCodePoint(at)) &&
    !allowed.has(at);
  for (let at = 0; at <= 0x10ffff; at++) {
    if (at >= 0xd800 && at <= 0xdfff) continue;
    if (isUnseen(at)) assert.ok(!fits.test(`a${String.fromCodePoint(at)}b`), `U+${at.toString(16)}`);
  }
  fc.assert(
    fc.property(fc.array(code, { maxLength: 12 }), (codes) => {
      const text = `a${String.fromCodePoint(...codes)}`;
      if (codes.some(isUnseen)) assert.ok(!fits.test(text));
      assert.ok(
        fits.test(shownText(text).replace(/[\n\r\t]/g, "")),
        "what is shown of a text may be sent again",
      );
    }),
  );
});

test("emoji, Persian, the scripts of India and letters beyond the basic plane are texts as before", () => {
  for (const text of ["👩‍🔬", "❤️ Acme", "☎︎", "👍🏽", "🇩🇪", "کتاب‌خانه", "क्‍ष", "𠮷野家", "𝔘nicode", "가나다"])
    assert.ok(fits.test(text), text);
  assert.ok(!fits.test("️"), "a selector alone is nothing to read");
});
