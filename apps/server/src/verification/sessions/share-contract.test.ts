import assert from "node:assert/strict";
import test from "node:test";
import { claimKeys } from "@assay/contract/sessions";
import fc from "fast-check";
import { ageOf, isClaimKey } from "../evidence/claim-keys.ts";
import { buildShareFields, type ShareFields } from "./share-contract.ts";

function fieldsOf(asked: Parameters<typeof buildShareFields>[0]): ShareFields {
  const built = buildShareFields(asked);
  assert.ok("fields" in built, JSON.stringify(built));
  return built.fields;
}

function problemOf(asked: Parameters<typeof buildShareFields>[0]) {
  const built = buildShareFields(asked);
  assert.ok("problem" in built, JSON.stringify(built));
  return built.problem;
}

const reason = fc
  .string({ minLength: 1, maxLength: 150, unit: "grapheme-ascii" })
  .filter((text) => text.trim() !== "");
const padding = fc.constantFrom("", " ", "\n\t ");
const field = fc.record({ required: fc.boolean(), reason });

test("every claim and at most one age may be asked for, and is marked as asked for", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...claimKeys), field),
      fc.option(fc.tuple(fc.integer({ min: 12, max: 130 }), field)),
      padding,
      (claims, age, around) => {
        const asked: Record<string, { required: boolean; reason: string }> = {
          ...claims,
          ...(age ? { [`age_over_${age[0]}`]: age[1] } : {}),
        };
        const padded = Object.fromEntries(
          Object.entries(asked).map(([key, value]) => [
            key,
            { ...value, reason: `${around}${value.reason}${around}` },
          ]),
        );
        const fields = fieldsOf(padded);
        for (const [key, value] of Object.entries(asked)) {
          assert.deepEqual(fields[key], {
            required: value.required || key === "service_document_id",
            reason: value.reason.trim(),
            source: "rc",
          });
        }
        assert.equal(fields.service_document_id?.required, true);
        assert.deepEqual(
          Object.keys(fields).filter((key) => fields[key]?.source === "default"),
          "service_document_id" in asked ? [] : ["service_document_id"],
        );
        assert.equal(
          Object.keys(fields).length,
          new Set([...Object.keys(asked), "service_document_id"]).size,
        );
      },
    ),
  );
});

test("nothing asked for means the document identifier alone", () => {
  assert.deepEqual(fieldsOf(undefined), fieldsOf({}));
  assert.deepEqual(Object.keys(fieldsOf({})), ["service_document_id"]);
});

test("a key outside the list is named, whatever it looks like", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((text) => `age_over_${text}`),
        fc.constantFrom("__proto__", "constructor", "toString", "age_over_", "age_over_1e2", "age_over_١٨"),
      ),
      (key) => {
        fc.pre(!claimKeys.includes(key as never));
        fc.pre(!/^age_over_(1[2-9]|[2-9]\d|1[0-2]\d|130)$/.test(key));
        assert.equal(isClaimKey(key), false);
        const asked = Object.fromEntries([[key, { required: true, reason: "x" }]]);
        assert.deepEqual(problemOf(asked), { kind: "unknown_key", key });
      },
    ),
  );
});

test("ages from 12 to 130 and no other", () => {
  for (let years = -1; years <= 1000; years++) {
    const expected = years >= 12 && years <= 130 ? years : null;
    assert.equal(ageOf(`age_over_${years}`), expected);
    assert.equal(ageOf(`age_over_0${years}`), null);
  }
});

test("two ages are refused, because together they say more than either", () => {
  const asked = { required: true, reason: "x" };
  assert.deepEqual(problemOf({ age_over_18: asked, sex_marker: asked, age_over_65: asked }), {
    kind: "several_ages",
    keys: ["age_over_18", "age_over_65"],
  });
});

test("a reason has 1 to 200 characters after trimming, counted as people count, and no control characters", () => {
  const ask = (text: string) => ({ sex_marker: { required: true, reason: text } });
  assert.equal(fieldsOf(ask(` ${"🦓".repeat(200)} `)).sex_marker?.reason, "🦓".repeat(200));
  for (const [text, problem] of [
    ["", /empty/],
    [" \n ", /empty/],
    ["🦓".repeat(201), /at most 200/],
    ["a\u0000b", /control/],
    ["a\u0085b", /control/],
  ] as const) {
    const found = problemOf(ask(text));
    assert.equal(found.kind, "bad_reason");
    if (found.kind === "bad_reason") assert.match(found.problem, problem);
  }
});

test("reasons in other languages are trimmed and kept, those that are missing are left out, and a bad one is named", () => {
  const ask = (reasons: Record<string, string>) => ({
    sex_marker: { required: false, reason: "To address you.", reasons },
  });
  assert.deepEqual(fieldsOf(ask({ de: " Für die Anrede. ", fr: "Pour vous saluer." })).sex_marker, {
    ...{ required: false, reason: "To address you.", source: "rc" },
    reasons: { de: "Für die Anrede.", fr: "Pour vous saluer." },
  });
  assert.deepEqual(fieldsOf(ask({})).sex_marker, {
    required: false,
    reason: "To address you.",
    source: "rc",
  });
  const { problem: _, ...named } = problemOf(ask({ de: "Gut.", fr: " " })) as { problem: string };
  assert.deepEqual(named, { kind: "bad_reason", key: "sex_marker", at: "reasons.fr" });
  const own = problemOf({ sex_marker: { required: false, reason: "" } });
  assert.ok(own.kind === "bad_reason" && own.at === "reason");
});
