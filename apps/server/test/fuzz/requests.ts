import type { Dice } from "../../../../scripts/fuzz/dice.ts";
import type { Operation, Parameter } from "./operations.ts";
import type { Things } from "./things.ts";
import { breakOne, fitting, oddText, unfitting } from "./values.ts";
import type { WireRequest } from "./wire.ts";

/** The credentials of a request. */
export type Who =
  | "owner"
  | "owner by cookie"
  | "another user"
  | "key"
  | "nobody"
  | "garbage"
  | "cancel token";

export type FuzzRequest = WireRequest & {
  /** What was done to it: `valid`, or in which way it is not. */
  kind: string;
  who: Who;
  requestId: string | null;
};

export type Credentials = { token: string; key: string };

/** Hashing a password costs a hundred times as much; requests that end a life make it start over. */
const weights: Readonly<Record<string, number>> = {
  signUp: 1,
  signIn: 2,
  changePassword: 1,
  resetPassword: 1,
  requestEmailChange: 1,
  deleteAccount: 1,
  signOut: 1,
  leaveOrganization: 2,
  createSession: 30,
  giveConsent: 25,
  createHandoff: 20,
  claimHandoff: 20,
  createWebhookEndpoint: 12,
  testWebhookEndpoint: 12,
  streamVerifyEvents: 3,
  registerWebhookKey: 12,
  startDomainChallenge: 12,
  verifyDomain: 16,
  createRedirectUri: 12,
  acceptRpTerms: 12,
  updateBusinessDetails: 12,
  confirmOrganizationDeletion: 3,
  cancelOrganizationDeletion: 12,
};
const usualWeight = 8;

export function createPicker(operations: readonly Operation[]): (dice: Dice) => Operation {
  const tickets = operations.flatMap((operation) =>
    Array.from({ length: weights[operation.id] ?? usualWeight }, () => operation),
  );
  return (dice) => dice.pick(tickets);
}

/** The parts of a request before it is serialized, so that each can be altered. */
type Draft = {
  method: string;
  segments: string[];
  query: [string, string][];
  headers: [string, string][];
  body: unknown;
  raw: Buffer | null;
  chunkBytes: number | null;
  bare: boolean;
};

export function makeRequest(
  operation: Operation,
  dice: Dice,
  life: { things: Things; credentials: Credentials; foreign: Things },
  requestId: string,
): FuzzRequest {
  const who = chooseCaller(operation, dice);
  // Sometimes the identifiers are another organization's.
  const things = dice.chance(25) ? life.foreign : life.things;
  const draft = draftOf(operation, dice, things);
  const credential = credentialOf(who, life.credentials, life.things, dice);
  if (credential !== null) draft.headers.push(credential);
  const ownId = dice.chance(5) ? null : requestId;
  if (ownId !== null) draft.headers.push(["x-request-id", ownId]);
  if (!dice.chance(10)) draft.headers.push(["x-forwarded-for", address(dice)]);
  if (dice.chance(6))
    draft.headers.push(["accept-encoding", dice.pick(["gzip", "br", "gzip, br", "*", "identity;q=0"])]);
  if (operation.parameters.some((parameter) => parameter.in === "header") && dice.chance(4))
    draft.headers.push(["idempotency-key", dice.pick(["same", `key-${dice.below(5)}`, "x".repeat(255)])]);
  const roll = dice.below(100);
  let kind = "valid";
  if (roll >= 55 && roll < 80) kind = breakPart(operation, draft, dice);
  else if (roll >= 80) kind = bend(draft, dice);
  return { ...writeDown(draft), kind, who, requestId: ownId };
}

function chooseCaller(operation: Operation, dice: Dice): Who {
  const roll = dice.below(100);
  if (roll < 6) return "nobody";
  if (roll < 11) return "garbage";
  if (roll < 15) return "key";
  if (roll < 19) return "another user";
  if (operation.security.includes("cancelToken")) return "cancel token";
  if (operation.security.includes("apiKey") && dice.chance(2)) return "key";
  if (operation.security.length === 0 && dice.chance(2)) return "nobody";
  return dice.chance(10) ? "owner by cookie" : "owner";
}

const garbage = [
  "Bearer",
  "Bearer ",
  "Bearer kk_00000000000000000000000000000000",
  "Bearer kk_",
  "bearer x",
  "Basic YTpi",
  "Bearer \xff\xfe",
  "Bearer a b",
  `Bearer ${"x".repeat(4000)}`,
  "Bearer kk_%00",
  ",",
  "",
];

function credentialOf(
  who: Who,
  { token, key }: Credentials,
  things: Things,
  dice: Dice,
): [string, string] | null {
  switch (who) {
    case "nobody":
      return null;
    case "garbage":
      return dice.chance(4)
        ? [
            "cookie",
            dice.pick(["assay_session=", "assay_session=%00", "assay_session=a; assay_session=b", ";;=;"]),
          ]
        : ["authorization", dice.pick(garbage)];
    case "owner":
      return ["authorization", `Bearer ${token}`];
    case "another user":
      return ["authorization", `Bearer ${things.pick("token", dice) ?? "none"}`];
    case "owner by cookie":
      return ["cookie", `assay_session=${token}`];
    case "key":
      return ["authorization", `Bearer ${key}`];
    case "cancel token":
      return ["authorization", `Bearer ${things.pick("cancel_token", dice) ?? "none"}`];
  }
}

/** Limits count by address, so most requests come from a separate one. */
function address(dice: Dice): string {
  if (dice.chance(12))
    return dice.pick([
      "198.51.100.7",
      "not an address",
      "",
      "2001:db8::1",
      "1.2.3.4, 5.6.7.8",
      "::ffff:1.2.3.4",
    ]);
  return `10.${dice.below(256)}.${dice.below(256)}.${dice.below(256)}`;
}

function draftOf(operation: Operation, dice: Dice, things: Things): Draft {
  const value = (parameter: Parameter) =>
    String(fitting(parameter.schema, { name: parameter.name, path: operation.path }, dice, things));
  const query = operation.parameters
    .filter((parameter) => parameter.in === "query" && (parameter.required || dice.chance(3)))
    .map((parameter): [string, string] => [parameter.name, value(parameter)]);
  const segments = operation.path.split("/").map((segment) => {
    const parameter = operation.parameters.find(
      (candidate) => candidate.in === "path" && segment === `{${candidate.name}}`,
    );
    return parameter === undefined ? segment : encodeURIComponent(value(parameter));
  });
  const sendsBody = operation.body !== null && (operation.bodyRequired || !dice.chance(4));
  const body =
    sendsBody && operation.body !== null
      ? fitting(operation.body, { name: "", path: operation.path }, dice, things)
      : undefined;
  nameKeyAlike(body);
  return {
    method: operation.method,
    segments,
    query,
    headers: [],
    body,
    raw: null,
    chunkBytes: null,
    bare: false,
  };
}

/** The only rule about two fields that a random value would hardly ever meet. */
function nameKeyAlike(body: unknown): void {
  const { key_id, jwk } = (body ?? {}) as { key_id?: string; jwk?: { kid?: string } };
  if (jwk !== undefined && key_id !== undefined) jwk.kid = key_id;
}

/** One field, parameter or part of the path that is wrong. */
function breakPart(operation: Operation, draft: Draft, dice: Dice): string {
  const parts: (() => string)[] = [];
  if (draft.body !== undefined && operation.body !== null) {
    const schema = operation.body;
    const breakBody = () => {
      draft.body = breakOne(schema, draft.body, dice);
      return "a field of the body is wrong";
    };
    parts.push(breakBody, breakBody, breakBody);
  }
  const inPath = operation.path
    .split("/")
    .flatMap((segment, index) => (segment.startsWith("{") ? [index] : []));
  if (inPath.length > 0)
    parts.push(() => {
      draft.segments[dice.pick(inPath)] = oddSegment(dice);
      return "a part of the path is wrong";
    });
  const named = operation.parameters.filter((parameter) => parameter.in === "query");
  parts.push(() => {
    const parameter = named.length > 0 && !dice.chance(4) ? dice.pick(named) : null;
    const wrong = String(unfitting(parameter?.schema ?? {}, dice));
    draft.query.push([
      parameter?.name ?? dice.pick(["extra", "__proto__", "constructor", "limit[]", "a[b]"]),
      wrong,
    ]);
    return "a parameter of the query is wrong";
  });
  return dice.pick(parts)();
}

function oddSegment(dice: Dice): string {
  return dice.chance(2)
    ? dice.pick([
        "%00",
        "%zz",
        "%ff",
        "%ED%A0%80",
        "%2e%2e",
        "%2F",
        "..",
        ".",
        "%",
        "a%00b",
        "x".repeat(1100),
        "%F0%9F%92%A5",
        "*",
        ";a=b",
        "%0d%0a",
      ])
    : encodeURIComponent(oddText(dice).toWellFormed());
}

type Bend = readonly [name: string, bend: (draft: Draft, dice: Dice) => void];

const bends: readonly Bend[] = [
  [
    "another method",
    (draft, dice) => {
      draft.method = dice.pick([
        "GET",
        "PUT",
        "POST",
        "PATCH",
        "DELETE",
        "OPTIONS",
        "TRACE",
        "PROPFIND",
        "HEAD",
      ]);
    },
  ],
  [
    "HEAD",
    (draft) => {
      draft.method = "HEAD";
      draft.body = undefined;
    },
  ],
  [
    "another path",
    (draft, dice) => {
      const at = 1 + dice.below(draft.segments.length);
      draft.segments.splice(
        at,
        dice.below(2),
        dice.pick(["", "..", "%2e", "V1", "v2", "%76%31", "x", "attempts", "%00", "\\", "%5c"]),
      );
    },
  ],
  [
    "a slash at the end",
    (draft) => {
      draft.segments.push("");
    },
  ],
  [
    "another content type",
    (draft, dice) => {
      const type = dice.pick([
        "text/plain",
        "application/xml",
        "application/json; charset=iso-8859-1",
        "application/json;charset=utf-16",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "application/vnd.api+json",
        "application/jsonx",
        "",
        "json",
        "application/json, text/plain",
        `application/json; a=${"b".repeat(500)}`,
      ]);
      draft.headers.push(["content-type", type]);
    },
  ],
  [
    "a content encoding",
    (draft, dice) => {
      draft.headers.push([
        "content-encoding",
        dice.pick(["gzip", "br", "deflate", "identity", "x", "gzip, gzip"]),
      ]);
    },
  ],
  [
    "chunks",
    (draft, dice) => {
      draft.chunkBytes = dice.pick([1, 7, 1000, 70_000]);
    },
  ],
  [
    "invalid JSON",
    (draft, dice) => {
      const text = JSON.stringify(draft.body ?? {});
      draft.raw = Buffer.from(
        dice.pick([
          text.slice(0, -1),
          `${text},`,
          `${text}${text}`,
          "",
          " ",
          "{",
          "[",
          "nul",
          "NaN",
          "'a'",
          "{a:1}",
          '{"a":1,}',
          "\ufeff{}",
          '{"a":01}',
          '"\\u12"',
          "//x\n{}",
        ]),
      );
    },
  ],
  [
    "invalid UTF-8",
    (draft, dice) => {
      const bytes = Buffer.from(JSON.stringify(draft.body ?? { name: "a" }));
      bytes[dice.below(bytes.length)] = dice.pick([0xff, 0xc0, 0x80, 0xed, 0x00]);
      draft.raw = bytes;
    },
  ],
  [
    "another JSON value",
    (draft, dice) => {
      draft.raw = Buffer.from(
        dice.pick([
          "null",
          "true",
          "0",
          "-0",
          "1e400",
          '""',
          "[]",
          "[{}]",
          '{"__proto__":{"a":1}}',
          '{"constructor":{"prototype":{}}}',
          '{"\\u005f_proto__":1}',
          '{"":""}',
          '{"a":1,"a":2}',
          "123456789012345678901234567890",
        ]),
      );
    },
  ],
  [
    "deep nesting",
    (draft, dice) => {
      const depth = dice.pick([50, 1000, 7000]);
      draft.raw = Buffer.from(
        dice.chance(2)
          ? "[".repeat(depth) + "]".repeat(depth)
          : `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`,
      );
    },
  ],
  [
    "a large body",
    (draft, dice) => {
      const size = dice.pick([16, 32, 64, 100]) * 1024 + dice.pick([-1, 0, 1]);
      draft.raw = Buffer.from(`{"name":"${"x".repeat(size - 11)}"}`);
    },
  ],
  [
    "a body where none belongs",
    (draft, dice) => {
      draft.body = dice.pick([{}, { a: 1 }, [], null, "x"]);
    },
  ],
  [
    "a repeated parameter",
    (draft, dice) => {
      const [name, value] = draft.query[0] ?? ["limit", "1"];
      draft.query.push([name, value], [dice.pick([name, `${name}[]`, `${name}[0]`, `${name}.a`]), "2"]);
    },
  ],
  [
    "an altered cursor",
    (draft, dice) => {
      draft.query.push([
        "starting_after",
        dice.pick([
          "",
          "x",
          "0",
          `vs_${"0".repeat(64)}`,
          `whe_${"z".repeat(32)}`,
          "00000000-0000-7000-8000-000000000000",
          "ffffffff-ffff-ffff-ffff-ffffffffffff",
          "%00",
          "💥",
        ]),
      ]);
    },
  ],
  [
    "an odd query",
    (draft, dice) => {
      draft.segments.push(
        `${draft.segments.pop()}${dice.pick(["?", "??", "?&&", "?=", "?a", "?%", "?%zz=1", "?limit=%31", "?limit=+1", "?limit=1%00", "?__proto__=1", "?__proto__[a]=1", "?limit=1e2", "?limit=0x10", "?limit=%D9%A1", "?limit=-0", "#x", "?limit=999999999999999"])}`,
      );
    },
  ],
  [
    "an odd Idempotency-Key",
    (draft, dice) => {
      const key = dice.pick(["", " ", "é", "\xff", "x".repeat(256), "a b", "same"]);
      draft.headers.push(["idempotency-key", key]);
      if (dice.chance(3)) draft.headers.push(["idempotency-key", "second"]);
    },
  ],
  [
    "a conditional or partial request",
    (draft, dice) => {
      draft.headers.push(
        dice.pick([
          ["if-none-match", "*"],
          ["if-match", '"x"'],
          ["range", "bytes=0-5"],
          ["if-modified-since", "Sun, 15 Nov 2037 00:00:00 GMT"],
          ["if-range", "x"],
          ["expect", "100-continue"],
          ["expect", "x"],
          ["accept", "application/xml"],
          ["accept", ""],
          ["accept-language", "\xff"],
          ["te", "trailers"],
        ] as [string, string][]),
      );
    },
  ],
  [
    "headers of browsers and proxies",
    (draft, dice) => {
      draft.headers.push(
        dice.pick([
          ["origin", "https://evil.example"],
          ["origin", "null"],
          ["sec-fetch-site", "cross-site"],
          ["x-forwarded-proto", "https"],
          ["x-forwarded-host", "evil.example"],
          ["forwarded", "for=x"],
          ["x-http-method-override", "DELETE"],
          ["access-control-request-method", "POST"],
          ["upgrade", "h2c"],
          ["upgrade", "websocket"],
          ["connection", "upgrade"],
          ["cookie", "a=".repeat(500)],
          ["x-request-id", "x"],
          ["x-request-id", "\xff".repeat(20)],
        ] as [string, string][]),
      );
    },
  ],
  [
    "a header twice",
    (draft, dice) => {
      draft.headers.push(
        dice.pick([
          ["authorization", "Bearer x"],
          ["content-type", "text/plain"],
          ["x-request-id", "anothernumber"],
          ["x-forwarded-for", "1.2.3.4"],
          ["accept-encoding", "br"],
        ] as [string, string][]),
      );
    },
  ],
  [
    "large headers",
    (draft, dice) => {
      draft.headers.push(["x-filler", "x".repeat(dice.pick([8000, 16_000, 17_000, 40_000]))]);
      draft.bare = true;
    },
  ],
  [
    "not quite HTTP",
    (draft, dice) => {
      draft.headers.push(
        dice.pick([
          ["content-length", "-1"],
          ["content-length", "x"],
          ["transfer-encoding", "gzip"],
          ["bad name", "x"],
          ["x-nul", "a\u0000b"],
          ["host", "second"],
          ["", "x"],
        ] as [string, string][]),
      );
      if (dice.chance(6)) draft.method = dice.pick(["get", "G@T", "BREW", ""]);
      draft.bare = true;
    },
  ],
];

function bend(draft: Draft, dice: Dice): string {
  const [name, apply] = dice.pick(bends);
  apply(draft, dice);
  return name;
}

function writeDown(draft: Draft): WireRequest {
  const query = draft.query
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`)
    .join("&");
  const path = draft.segments.join("/");
  const target = query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`;
  const body = draft.raw ?? (draft.body === undefined ? null : Buffer.from(JSON.stringify(draft.body)));
  const headers = [...draft.headers];
  if (body !== null && !headers.some(([name]) => name === "content-type"))
    headers.push(["content-type", "application/json"]);
  // A bare request has only these headers, and its connection is closed with the answer.
  if (draft.bare) {
    headers.push(["host", "127.0.0.1"], ["connection", "close"]);
    if (body !== null && !headers.some(([name]) => name === "content-length"))
      headers.push(["content-length", String(body.length)]);
  }
  return {
    method: draft.method,
    target,
    headers,
    body,
    ...(draft.chunkBytes === null || body === null || draft.bare ? {} : { chunkBytes: draft.chunkBytes }),
    ...(draft.bare ? { bare: true as const } : {}),
  };
}
