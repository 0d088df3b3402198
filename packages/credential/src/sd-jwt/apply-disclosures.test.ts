import assert from "node:assert/strict";
import { test } from "node:test";
import { toBase64Url } from "../base64url.ts";
import { digest, utf8 } from "../bytes.ts";
import { CredentialError } from "../credential-error.ts";
import type { Json, JsonObject } from "../json.ts";
import { applyDisclosures } from "./apply-disclosures.ts";

/** A part that the issuer lets the holder keep back, and whether the holder discloses it. */
class Concealed {
  readonly value: Marked;
  readonly isDisclosed: boolean;

  constructor(value: Marked, isDisclosed: boolean) {
    this.value = value;
    this.isDisclosed = isDisclosed;
  }
}
type Marked = null | boolean | number | string | Concealed | Marked[] | { [name: string]: Marked };
const shown = (value: Marked) => new Concealed(value, true);
const kept = (value: Marked) => new Concealed(value, false);

let salts = 0;
async function hashOf(text: string): Promise<string> {
  return toBase64Url(await digest("SHA-256", utf8(text)));
}
const disclosureOf = (...contents: readonly Json[]) => toBase64Url(utf8(JSON.stringify(contents)));

async function conceal(value: Marked, disclosures: string[]): Promise<Json> {
  const hide = async (part: Concealed, ...name: readonly string[]) => {
    const inner: string[] = [];
    const text = disclosureOf(`salt ${salts++}`, ...name, await conceal(part.value, inner));
    if (part.isDisclosed) disclosures.push(text, ...inner);
    return hashOf(text);
  };
  if (value instanceof Concealed) throw new Error("only members and elements are concealed");
  if (Array.isArray(value)) {
    const elements: Json[] = [];
    for (const element of value) {
      elements.push(
        element instanceof Concealed ? { "...": await hide(element) } : await conceal(element, disclosures),
      );
    }
    return elements;
  }
  if (typeof value !== "object" || value === null) return value;
  const members: [string, Json][] = [];
  const digests: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member instanceof Concealed) digests.push(await hide(member, name));
    else members.push([name, await conceal(member, disclosures)]);
  }
  return Object.fromEntries(digests.length > 0 ? [...members, ["_sd", digests]] : members);
}

async function applied(claims: { [name: string]: Marked }): Promise<Json | string> {
  const disclosures: string[] = [];
  const payload = (await conceal(claims, disclosures)) as JsonObject;
  const result = await applyDisclosures(payload, disclosures.reverse(), "sha-256");
  return result.kind === "applied" ? result.claims : result.reason;
}

async function outcome(payload: JsonObject, ...disclosures: readonly string[]): Promise<string> {
  try {
    const result = await applyDisclosures(payload, disclosures, "sha-256");
    return result.kind === "applied" ? "applied" : result.reason;
  } catch (error) {
    assert.ok(error instanceof CredentialError, String(error));
    return error.code;
  }
}

// openwallet-foundation-labs/sd-jwt-python, tests/testcases (Apache-2.0), by their names.
test("the cases of sd-jwt-python give the claims that they expect", async () => {
  const cases: Record<string, readonly [{ [name: string]: Marked }, Json]> = {
    array_full_sd: [
      { is_over: { "13": kept(false), "18": shown(true), "21": kept(false) } },
      { is_over: { "18": true } },
    ],
    array_in_sd: [{ sd_array: shown([32, 23]) }, { sd_array: [32, 23] }],
    array_nested_in_plain: [
      {
        nested_array: [
          [shown("foo"), kept("bar")],
          [kept("baz"), shown("qux")],
        ],
      },
      { nested_array: [["foo"], ["qux"]] },
    ],
    array_none_disclosed: [{ is_over: { "13": kept(false), "18": kept(true) } }, { is_over: {} }],
    array_of_nulls: [{ null_values: [null, kept(null), kept(null), null] }, { null_values: [null, null] }],
    array_recursive_sd: [
      {
        array_with_recursive_sd: [
          "boring",
          kept({ foo: "bar", baz: kept({ qux: "quux" }) }),
          [kept("foo"), kept("bar")],
        ],
        test2: [kept("foo"), kept("bar")],
      },
      { array_with_recursive_sd: ["boring", []], test2: [] },
    ],
    array_recursive_sd_some_disclosed: [
      {
        array_with_recursive_sd: [
          "boring",
          { foo: "bar", baz: shown({ qux: "quux" }) },
          [kept("foo"), shown("bar")],
        ],
        test2: [shown("foo"), shown("bar")],
      },
      {
        array_with_recursive_sd: ["boring", { foo: "bar", baz: { qux: "quux" } }, ["bar"]],
        test2: ["foo", "bar"],
      },
    ],
    object_data_types: [
      {
        value_data_types: {
          test_null: shown(null),
          test_float: shown(3.14),
          test_arr: shown(["Test"]),
          test_object: shown({ foo: "bar" }),
        },
        key_data_types: {
          null: shown("key_null"),
          "42": shown("key_int"),
          '{"foo": "bar"}': shown("key_object"),
        },
      },
      {
        value_data_types: {
          test_null: null,
          test_float: 3.14,
          test_arr: ["Test"],
          test_object: { foo: "bar" },
        },
        key_data_types: { null: "key_null", "42": "key_int", '{"foo": "bar"}': "key_object" },
      },
    ],
    recursions: [
      {
        foo: [kept("one"), shown("two")],
        qux: [shown([kept("blue"), shown("yellow")])],
        baz: [shown([kept("orange"), shown("purple")]), shown([shown("black"), shown("white")])],
        animals: {
          snake: shown({ name: kept("python"), age: shown(10) }),
          bird: shown({ name: kept("eagle"), age: shown(20) }),
        },
      },
      {
        foo: ["two"],
        qux: [["yellow"]],
        baz: [["purple"], ["black", "white"]],
        animals: { snake: { age: 10 }, bird: { age: 20 } },
      },
    ],
    no_sd: [{ a: { b: [1, "c"] } }, { a: { b: [1, "c"] } }],
  };
  for (const [name, [claims, expected]] of Object.entries(cases))
    assert.deepEqual(await applied(claims), expected, name);
});

test("the place of every disclosure is known", async () => {
  const disclosures: string[] = [];
  const claims = { a: shown({ b: shown(1) }), list: [kept(0), shown({ c: shown(2) })] };
  const result = await applyDisclosures(
    (await conceal(claims, disclosures)) as JsonObject,
    disclosures,
    "sha-256",
  );
  assert.deepEqual(result.kind === "applied" && [...result.disclosed].map((path) => path.join(".")).sort(), [
    "a",
    "a.b",
    "list.0",
    "list.0.c",
  ]);
});

test("a disclosure belongs to exactly one digest", async () => {
  const text = disclosureOf("salt", "name", "value");
  const hash = await hashOf(text);
  assert.equal(await outcome({ _sd: [hash] }, text), "applied");
  assert.equal(await outcome({ _sd: [hash] }, text, text), "repeated_element");
  assert.equal(await outcome({ _sd: [hash, hash] }, text), "repeated_element");
  assert.equal(await outcome({ _sd: [hash, hash] }), "repeated_element", "also where it is kept back");
  assert.equal(await outcome({ _sd: [hash], a: { _sd: [hash] } }, text), "repeated_element");
  assert.equal(await outcome({ _sd: [hash], a: [{ "...": hash }] }), "repeated_element");
  assert.equal(await outcome({ _sd: [] }, text), "digest_mismatch");
  const outer = disclosureOf("salt", "outer", { _sd: [hash] });
  assert.equal(
    await outcome({ _sd: [await hashOf(outer)] }, text),
    "digest_mismatch",
    "below something kept back",
  );
  assert.equal(await outcome({ _sd: [await hashOf(outer)] }, text, outer), "applied");
});

test("a disclosed member never takes the place of another, nor of the digests", async () => {
  const text = disclosureOf("salt", "name", "value");
  assert.equal(await outcome({ name: "signed", _sd: [await hashOf(text)] }, text), "repeated_element");
  const other = disclosureOf("other salt", "name", "other value");
  assert.equal(
    await outcome({ _sd: [await hashOf(text), await hashOf(other)] }, text, other),
    "repeated_element",
  );
  for (const name of ["_sd", "..."]) {
    const reserved = disclosureOf("salt", name, []);
    assert.equal(await outcome({ _sd: [await hashOf(reserved)] }, reserved), "malformed", name);
  }
});

test("members and elements are disclosed each in their own form", async () => {
  const member = disclosureOf("salt", "name", "value");
  const element = disclosureOf("salt", "value");
  assert.equal(await outcome({ list: [{ "...": await hashOf(member) }] }, member), "malformed");
  assert.equal(await outcome({ _sd: [await hashOf(element)] }, element), "malformed");
  for (const contents of [[], ["salt"], ["salt", "a", 1, 2], [1, "a", 1], ["salt", 1, 1]] as Json[][]) {
    const text = disclosureOf(...contents);
    assert.equal(await outcome({ _sd: [await hashOf(text)] }, text), "malformed", JSON.stringify(contents));
  }
  for (const text of [
    toBase64Url(utf8("{}")),
    toBase64Url(utf8("[")),
    toBase64Url(Uint8Array.of(0x5b, 0xff)),
  ]) {
    assert.equal(await outcome({ _sd: [await hashOf(text)] }, text), "malformed");
  }
});

test("digests in the wrong place are refused", async () => {
  const payloads: readonly JsonObject[] = [
    { _sd: "text" },
    { _sd: [1] },
    { a: { _sd: {} } },
    { "...": "x" },
    { a: { "...": "x" } },
    { a: [{ "...": 1 }] },
    { a: [{ "...": "x", b: 1 }] },
  ];
  for (const payload of payloads) assert.equal(await outcome(payload), "malformed", JSON.stringify(payload));
});

test("names that mean something to JavaScript are names", async () => {
  const payload = JSON.parse('{"_sd":[]}');
  const text = disclosureOf("salt", "__proto__", { polluted: true });
  payload._sd.push(await hashOf(text));
  const result = await applyDisclosures(payload, [text], "sha-256");
  assert.equal(result.kind, "applied");
  assert.equal(result.kind === "applied" && (result.claims as { polluted?: boolean }).polluted, undefined);
});

test("disclosures inside of disclosures end somewhere", async () => {
  let inner = disclosureOf("salt", "x", 1);
  const all = [inner];
  for (let depth = 0; depth < 200; depth++) {
    inner = disclosureOf("salt", "x", { _sd: [await hashOf(inner)] });
    all.push(inner);
  }
  assert.equal(await outcome({ _sd: [await hashOf(inner)] }, ...all), "malformed");
  assert.equal(await outcome({}, ...Array.from({ length: 1001 }, (_, index) => String(index))), "malformed");
});
