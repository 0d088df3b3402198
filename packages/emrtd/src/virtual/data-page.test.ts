import assert from "node:assert/strict";
import test from "node:test";
import { buildMrz, type MrzContent } from "../mrz/build-mrz.ts";
import { drawDataPage } from "./data-page.ts";
import { ocrBOutlines } from "./ocr-b-outlines.ts";

const now = new Date("2026-06-01T00:00:00Z");
const content: MrzContent = {
  format: "TD3",
  documentCode: "P",
  issuingState: "UTO",
  nationality: "UTO",
  documentNumber: "L898902C3",
  dateOfBirth: "740812",
  dateOfExpiry: "321215",
  sex: "F",
  primaryName: "ERIKSSON",
  secondaryName: "ANNA MARIA",
};

test("the page of a test document shows every character of its zone, in each format", () => {
  for (const format of ["TD1", "TD2", "TD3"] as const) {
    const lines = buildMrz({ ...content, format, documentCode: format === "TD3" ? "P" : "ID" });
    const drawn = drawDataPage(lines, now, null);
    for (const character of new Set(lines.join(""))) {
      const count = lines.join("").split(character).length - 1;
      assert.equal(drawn.split(`d="${ocrBOutlines[character]}"`).length - 1, count, `${format} ${character}`);
    }
    assert.ok(drawn.includes("SPECIMEN") && drawn.includes("ERIKSSON"));
  }
});

test("nothing of a portrait's address can leave its attribute", () => {
  const drawn = drawDataPage(buildMrz(content), now, `x"/><script>alert(1)</script>`);
  assert.ok(!drawn.includes("<script") && !drawn.includes('x"/>'));
});

test("lines that are no zone have no page", () => {
  assert.throws(() => drawDataPage(["P<"], now, null), { code: "MRZ_INVALID" });
});
