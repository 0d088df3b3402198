import assert from "node:assert/strict";
import { test } from "node:test";
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
