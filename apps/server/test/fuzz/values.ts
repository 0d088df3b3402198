import { generateKeyPairSync, type JsonWebKey } from "node:crypto";
import { ageClaim, claimKeys } from "@assay/contract/sessions";
import { TOTP } from "otpauth";
import type { Dice } from "../../../../scripts/fuzz/dice.ts";
import type { Schema } from "./operations.ts";
import type { Things } from "./things.ts";

/** Accounts are made and opened with it, so that signing in succeeds now and then. */
export const password = "correct horse battery";

const jwk: JsonWebKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({
  format: "jwk",
});
const maxDepth = 6;

/** The purpose of a value: its name decides what fits where the schema does not. */
export type Place = { name: string; path: string };

/** A value that fits the schema, made of things that exist where there are some. */
export function fitting(schema: Schema, place: Place, dice: Dice, things: Things, depth = 0): unknown {
  if (schema.const !== undefined) return schema.const;
  const known = knownValue(schema, place, dice, things);
  if (known !== undefined) return known;
  if (schema.enum !== undefined) return dice.pick(schema.enum);
  if (schema.anyOf !== undefined) return fitting(dice.pick(schema.anyOf), place, dice, things, depth);
  const types = [schema.type ?? "object"].flat();
  const type = types.includes("null") && dice.chance(4) ? "null" : types.find((one) => one !== "null");
  switch (type) {
    case "null":
      return null;
    case "boolean":
      return dice.chance(2);
    case "integer":
    case "number":
      return dice.pick([schema.minimum ?? 0, schema.maximum ?? 100, (schema.minimum ?? 0) + 1]);
    case "array": {
      const count = Math.min(schema.maxItems ?? 3, Math.max(schema.minItems ?? 0, dice.below(4)));
      const items = Array.from({ length: count }, () =>
        fitting(schema.items ?? {}, place, dice, things, depth + 1),
      );
      return schema.uniqueItems ? [...new Set(items)] : items;
    }
    case "string":
      return fittingText(schema, dice);
    default:
      return depth > maxDepth ? {} : fittingObject(schema, place, dice, things, depth);
  }
}

function fittingObject(schema: Schema, place: Place, dice: Dice, things: Things, depth: number) {
  const properties = Object.entries(schema.properties ?? {});
  const given = properties.filter(([name]) => schema.required?.includes(name) || dice.chance(2));
  if (given.length === 0 && schema.minProperties && properties.length > 0) given.push(dice.pick(properties));
  return Object.fromEntries(
    given.map(([name, inner]) => [name, fitting(inner, { ...place, name }, dice, things, depth + 1)]),
  );
}

function fittingText(schema: Schema, dice: Dice): string {
  const least = schema.minLength ?? 0;
  const most = Math.min(schema.maxLength ?? 60, dice.chance(20) ? 100_000 : 60);
  const fits = (text: string) => schema.pattern === undefined || new RegExp(schema.pattern, "u").test(text);
  const length = Math.max(least, Math.min(most, dice.pick([least, most, 1 + dice.below(40)])));
  const texts = [
    textOf(dice.pick(["a", "Zoë ", "日本", "🪪", "<b>", "'\"; --", "\u202eabc"]), length),
    "a".repeat(length),
    String(schema.examples?.[0] ?? "a"),
  ];
  return texts.find(fits) ?? String(schema.examples?.[0] ?? "a");
}

/** A text of `length` code points, as the schema counts them. */
function textOf(piece: string, length: number): string {
  return [...piece.repeat(Math.ceil(length / [...piece].length))].slice(0, length).join("");
}

/** A value for what the name stands for; undefined where the schema says all. */
function knownValue(schema: Schema, { name, path }: Place, dice: Dice, things: Things): unknown {
  const prefix = /^\^([a-z]+)_\[/.exec(schema.pattern ?? "")?.[1];
  if (prefix !== undefined && prefix !== "whsec")
    return (
      things.pick(prefix, dice) ??
      `${prefix}_${"0".repeat(Number(/\{(\d+)\}/.exec(schema.pattern ?? "")?.[1] ?? 32))}`
    );
  if (schema.format === "uuid") {
    const kind =
      name === "organizationId"
        ? "/v1/auth/orgs"
        : name === "id" || name === "starting_after"
          ? collectionOf(path)
          : name;
    return things.pick(kind, dice) ?? "00000000-0000-7000-8000-000000000000";
  }
  if (schema.format === "date-time")
    return new Date(Date.UTC(2026, dice.below(24), 1 + dice.below(28), dice.below(24))).toISOString();
  const fresh = things.next();
  switch (name) {
    case "email":
      return (dice.chance(2) ? things.pick("email", dice) : null) ?? `n${fresh}@${things.mailHost}`;
    case "support_email":
      return dice.chance(3) ? null : `help@${things.mailHost}`;
    case "password":
    case "current_password":
    case "new_password":
      return dice.chance(8) ? "another password" : password;
    case "slug":
      return `${things.word}-${fresh}`;
    case "url":
      return dice.pick(["https://hook.example/in", "https://hook.example:8443/", "https://nobody.example/"]);
    case "logo_url":
    case "website_url":
    case "privacy_url":
    case "terms_url":
      return dice.chance(3) ? null : `https://hook.example/${name}`;
    case "redirect_url":
      return dice.pick([
        `https://${things.domain(dice)}/done?a=1`,
        "http://localhost:3000/",
        "https://shop.example/x",
      ]);
    case "apex_domain":
      return dice.pick([
        `${things.word}-${dice.below(4)}.example`,
        `www.${things.word}.example`,
        `müller-${things.word}.example`,
      ]);
    case "pattern":
      return dice.pick([
        `https://${things.domain(dice)}/done`,
        `https://*.${things.domain(dice)}/`,
        "https://nobody.example/",
      ]);
    case "share_fields":
      return askedFields(dice);
    case "selected_field_keys":
      return ["service_document_id", ...(dice.chance(3) ? [] : things.asked)];
    case "metadata":
      return Object.fromEntries(
        Array.from({ length: dice.below(4) }, (_, index) => [`key ${index}`, "välue"]),
      );
    case "n":
    case "e":
      return jwk[name];
    case "from":
    case "to":
      return dice.pick(["2026-03-01", "2026-11-15", "2026-11-15T10:00:00+02:00", "2027-01-01"]);
    case "code":
      return things.pick("deletion_code", dice) ?? codeOf(things, dice);
    case "key_id":
      return (dice.chance(2) ? things.pick("key_id", dice) : null) ?? `key ${fresh}`;
    case "device_id":
      return `device-${dice.below(3)}`;
    case "token":
    case "cancel_token":
    case "handoff_token":
    case "terms_version":
    case "terms_hash":
    case "client_reference_id":
    case "actor_id":
      return things.pick(name, dice) ?? undefined;
  }
  return undefined;
}

/** The path that the items are listed and created at. */
export function collectionOf(path: string): string {
  return path.split("/{")[0] ?? path;
}

function codeOf(things: Things, dice: Dice): string {
  const secret = things.pick("secret", dice);
  return secret === null || dice.chance(3) ? "123456" : new TOTP({ secret }).generate();
}

function askedFields(dice: Dice): Record<string, unknown> {
  const keys = new Set(Array.from({ length: dice.below(4) }, () => dice.pick(claimKeys)));
  const fields: [string, unknown][] = [...keys].map((key) => [
    key,
    { required: dice.chance(2), reason: dice.pick(["We must know.", "Zoë", "x".repeat(200)]) },
  ]);
  if (dice.chance(3)) fields.push([`${ageClaim.prefix}18`, { required: true, reason: "Of age." }]);
  return Object.fromEntries(fields);
}

const oddTexts = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "x\udc00y",
  "\u202e\u2066abc\u2069",
  "👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿",
  "\u0301\u0301",
  "\ufeff",
  "\uffff\ufffe",
  "İıſK",
  "ａｄｍｉｎ",
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "' or 1=1 --",
  "{{7*7}}",
  "\r\nX-Odd: 1",
  "null",
  "true",
  "1e309",
  "%00",
  "a@exam\u0000ple.com",
  "2026-02-30T25:61:61Z",
  "+275760-09-13T00:00:00.001Z",
  "0000-01-01T00:00:00.000Z",
  "294277-01-01T00:00:00Z",
  "https://127.0.0.1/",
  "https://[::1]/",
  "https://user:pass@hook.example/",
  "https://hook.example:99999/",
  "https://xn--/",
  "javascript:alert(1)",
  "http://169.254.169.254/latest",
];

const oddValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  1,
  -1,
  0.5,
  1e308,
  -1e308,
  5e-324,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  [],
  {},
  [[]],
  [null],
  { a: 1 },
];

/** A value that the schema hardly allows: of another kind, one beyond a bound, or an odd text. */
export function unfitting(schema: Schema, dice: Dice): unknown {
  switch (dice.below(5)) {
    case 0:
      return dice.pick(oddValues);
    case 1:
      return dice.pick(oddTexts);
    case 2:
      return beyondBound(schema, dice) ?? dice.pick(oddValues);
    case 3:
      return dice
        .pick(["x", "é", "💥", "\\", '"', "\n"])
        .repeat(dice.pick([1, 255, 256, 1000, 5000, 20_000]));
    default:
      return schema.type === "string" ? dice.pick(oddTexts) : String(dice.pick(oddTexts));
  }
}

function beyondBound(schema: Schema, dice: Dice): unknown {
  const values: unknown[] = [];
  if (schema.minLength !== undefined) values.push("a".repeat(Math.max(0, schema.minLength - 1)));
  if (schema.maxLength !== undefined)
    values.push(
      "a".repeat(schema.maxLength + 1),
      "é".repeat(schema.maxLength),
      "💥".repeat(schema.maxLength),
    );
  if (schema.minimum !== undefined) values.push(schema.minimum - 1, schema.minimum - 0.5);
  if (schema.maximum !== undefined) values.push(schema.maximum + 1, schema.maximum + 0.5);
  if (schema.maxItems !== undefined) values.push(Array.from({ length: schema.maxItems + 1 }, () => "a"));
  if (schema.maxProperties !== undefined)
    values.push(
      Object.fromEntries(Array.from({ length: schema.maxProperties + 1 }, (_, index) => [`k${index}`, "v"])),
    );
  if (schema.enum !== undefined)
    values.push(`${String(schema.enum[0])} `, String(schema.enum[0]).toUpperCase());
  return values.length === 0 ? undefined : dice.pick(values);
}

type Spot = { holder: Record<string, unknown> | unknown[]; key: string | number; schema: Schema };

/** The value with one thing wrong somewhere in it. */
export function breakOne(schema: Schema, value: unknown, dice: Dice): unknown {
  const root: unknown[] = [structuredClone(value)];
  const spots: Spot[] = [];
  const collect = (holder: Spot["holder"], key: string | number, inner: Schema) => {
    spots.push({ holder, key, schema: inner });
    const here = (holder as Record<string | number, unknown>)[key];
    if (Array.isArray(here)) for (const index of here.keys()) collect(here, index, inner.items ?? {});
    else if (typeof here === "object" && here !== null)
      for (const name of Object.keys(here))
        collect(here as Record<string, unknown>, name, inner.properties?.[name] ?? {});
  };
  collect(root, 0, schema);
  const { holder, key, schema: inner } = dice.pick(spots);
  const at = holder as Record<string | number, unknown>;
  switch (dice.below(5)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete at[key];
      break;
    case 1: {
      const name = dice.pick([
        "extra",
        "__proto__",
        "constructor",
        "toString",
        "",
        "id",
        "\u0000",
        "x".repeat(300),
      ]);
      const target = at[key];
      if (typeof target === "object" && target !== null && !Array.isArray(target))
        Object.defineProperty(target, name, { value: 1, enumerable: true, configurable: true });
      else at[key] = { [name]: 1 };
      break;
    }
    case 2:
      at[key] = [at[key]];
      break;
    default:
      at[key] = unfitting(inner, dice);
  }
  return root[0];
}

export function oddText(dice: Dice): string {
  return dice.pick(oddTexts);
}
