import assert from "node:assert/strict";
import test from "node:test";
import { Type } from "typebox";
import { createExcessSearch } from "./find-excess.ts";

const search = createExcessSearch(
  Type.Object(
    {
      name: Type.Optional(Type.String({ maxLength: 3, pattern: "^a*$" })),
      tags: Type.Optional(Type.Array(Type.String({ maxLength: 2 }), { maxItems: 2 })),
      notes: Type.Optional(
        Type.Unsafe({
          type: "object",
          additionalProperties: Type.Object({ text: Type.String() }, { additionalProperties: false }),
          maxProperties: 2,
          propertyNames: { maxLength: 4 },
        }),
      ),
      person: Type.Optional(
        Type.Unsafe({ anyOf: [Type.Object({ id: Type.String({ maxLength: 1 }) }), { type: "null" }] }),
      ),
    },
    { additionalProperties: false },
  ),
);

test("what is too large is found with its place and its limit, and what merely does not fit is not", () => {
  const size = (kind: string, limit: number, names: string[], ofName = false) => {
    return { kind, limit, names, ofName };
  };
  assert.deepEqual(search({ name: "zzzz" }), size("maxLength", 3, ["name"]));
  assert.deepEqual(search({ tags: ["a", "b", "c"] }), size("maxItems", 2, ["tags"]));
  assert.deepEqual(search({ tags: ["a", "bbb"] }), size("maxLength", 2, ["tags", "1"]));
  assert.deepEqual(search({ notes: { a: 1, b: 2, c: 3 } }), size("maxProperties", 2, ["notes"]));
  assert.deepEqual(search({ notes: { abcde: {} } }), size("maxLength", 4, ["notes", "abcde"], true));
  assert.deepEqual(search({ person: { id: "ab" } }), size("maxLength", 1, ["person", "id"]));
  for (const value of [null, 7, "text", [], { name: "zzz" }, { name: 5, tags: "ab", person: null }])
    assert.equal(search(value), null);
});

test("a length counts characters, not the units in which JavaScript keeps them", () => {
  assert.equal(search({ name: "😀😀😀" }), null);
  assert.notEqual(search({ name: "😀😀😀😀" }), null);
});

test("an unknown field is told rather than a size, and at any depth", () => {
  assert.deepEqual(search({ name: "zzzz", colour: 1 }), { kind: "unknownField", names: ["colour"] });
  assert.deepEqual(search({ notes: { a: { text: "", size: 1 } } }), {
    kind: "unknownField",
    names: ["notes", "a", "size"],
  });
  assert.deepEqual(search({ constructor: 1 }), { kind: "unknownField", names: ["constructor"] });
});

test("a schema in which excess could be overlooked is refused", () => {
  for (const schema of [
    Type.Array(Type.String()),
    Type.Object({ list: Type.Array(Type.String()) }),
    Type.Union([Type.String(), Type.Number()]),
    Type.Unsafe({ allOf: [{ type: "string" }] }),
    Type.Record(Type.String({ pattern: "^x" }), Type.String()),
  ])
    assert.throws(() => createExcessSearch(schema), /request schema/);
});
