import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { textBlocks } from "./text-blocks.ts";

test("headings, lists and paragraphs are distinguished, and lines that only end at the margin are one", () => {
  assert.deepEqual(
    textBlocks("# Terms\nBetween us\nand you.\r\n\n## 1. Use\n\n- fair,\n  and *kind*\n- rare\n"),
    [
      { kind: "heading", level: 1, text: "Terms" },
      { kind: "paragraph", text: "Between us and you." },
      { kind: "heading", level: 2, text: "1. Use" },
      { kind: "list", items: ["fair, and *kind*", "rare"] },
    ],
  );
});

test("no word of a text is lost, whatever it is written in", () => {
  const terms = readFileSync(
    new URL("../../../server/terms/relying-party-terms.md", import.meta.url),
    "utf8",
  );
  const odd = "1) first\n| a | b |\n<b>bold</b>\n\n####### seven\n---\n* x\n  - y";
  for (const text of [terms, odd]) {
    const shown = textBlocks(text).map((block) =>
      block.kind === "list" ? block.items.join(" ") : block.text,
    );
    const words = (from: string) => from.split(/\s+/).filter((word) => !/^(#{1,4}|[-*]|)$/.test(word));
    assert.deepEqual(words(shown.join(" ")), words(text));
  }
});
