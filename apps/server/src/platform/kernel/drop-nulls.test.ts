import assert from "node:assert/strict";
import test from "node:test";
import { nullIsAbsent } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { Type } from "typebox";
import { withOneNull } from "../../../test/support/one-null.ts";
import { dropNulls } from "./drop-nulls.ts";
import { createValidator } from "./validate.ts";

/** The same schema without required fields, so that a body may hold a single field. */
function withoutRequired<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (name, value) =>
    name === "required" && Array.isArray(value) ? undefined : value,
  );
}

test("null is taken like a field that is left out, for every optional field of every body that is no change", () => {
  let fields = 0;
  for (const { id, body: schema, ...route } of routes) {
    if (schema === undefined || !nullIsAbsent({ id, ...route })) continue;
    const check = createValidator(withoutRequired(schema), "body", { nullIsAbsent: true });
    for (const { field, body } of withOneNull(schema)) {
      fields += 1;
      assert.doesNotThrow(() => check(structuredClone(body)), `${id}: ${field}`);
    }
  }
  assert.ok(fields >= 15, `${fields} fields were tried`);
});

test("only what may be left out and does not take null itself is dropped, however deep", () => {
  const schema = Type.Object({
    name: Type.String(),
    note: Type.Optional(Type.String()),
    colour: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    rows: Type.Optional(Type.Array(Type.Object({ text: Type.Optional(Type.String()) }))),
    byName: Type.Optional(
      Type.Record(Type.String(), Type.Object({ text: Type.Optional(Type.String()) }), {
        additionalProperties: Type.Object({ text: Type.Optional(Type.String()) }),
      }),
    ),
  });
  const value = {
    name: null,
    note: null,
    colour: null,
    other: null,
    rows: [{ text: null }, null],
    byName: { a: { text: null }, b: null },
  };
  dropNulls(schema, value);
  assert.deepEqual(value, {
    name: null,
    colour: null,
    other: null,
    rows: [{}, null],
    byName: { a: {}, b: null },
  });
});
