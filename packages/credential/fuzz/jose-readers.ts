import { CompactSign, type CryptoKey, importJWK } from "jose";
import type { FuzzReader } from "../../../scripts/fuzz/fuzz-target.ts";
import { fromBase64, fromBase64Url, toBase64, toBase64Url } from "../src/base64url.ts";
import { digest, utf8 } from "../src/bytes.ts";
import { isJsonArray, isJsonObject, readJson, readJsonBytes, readJsonObject } from "../src/json.ts";
import { certificatesOf, claimsOf, readJws } from "../src/jws/read-jws.ts";
import { readLote, readLoteContent } from "../src/lote/read-lote.ts";
import { judgeAnswer, readAnswer } from "../src/openid4vp/answer.ts";
import { applyDisclosures } from "../src/sd-jwt/apply-disclosures.ts";
import { judgeSdJwt } from "../src/sd-jwt/judge-sd-jwt.ts";
import { keyBinding } from "../src/sd-jwt/present-sd-jwt.ts";
import { readJwtStatusContent, readStatusList } from "../src/status-list/read-status-list.ts";
import type { TrustAnchor } from "../src/trust-anchor.ts";
import { asked, binding, now } from "../test/support/pid.ts";
import { damageText } from "./damage-text.ts";
import seeds from "./jose-seeds.json" with { type: "json" };

const authority = fromBase64(seeds.authority);
const anchors: readonly TrustAnchor[] = [
  { purpose: "pid", certificate: authority, list: "eu_list", stale: false },
];
const context = { asked, binding, anchors, now, holderProof: "required" } as const;
const statusOptions = { uri: "https://pid.example/status/1", anchors, purpose: "pid", now } as const;
const loteOptions = { signers: [authority], now };
const encryption = { privateKey: seeds.encryptionKey };

const latin1 = (bytes: Uint8Array) => new TextDecoder("latin1").decode(bytes);
const payloadOf = (jws: string) => fromBase64Url(jws.split(".")[1] ?? "");
const credential = seeds.presentation.split("~");
const disclosures = credential.slice(1, -1);

/** A reader that returns a verdict throws nothing; what it accepts has to be a seed, letter by letter. */
async function onlySeeds(text: string, isAccepted: boolean): Promise<void> {
  if (isAccepted && text !== seeds.presentation) throw new Error("accepted a changed presentation");
}

const signerKey = importJWK(seeds.signerKey, "ES256") as Promise<CryptoKey>;
const holderKey = importJWK(seeds.holderKey, "ES256") as Promise<CryptoKey>;

/** This payload is judged only if its signatures are right, so the fuzzer signs what it damaged. */
async function signed(payload: Uint8Array): Promise<string> {
  return new CompactSign(payload)
    .setProtectedHeader({ alg: "ES256", typ: "dc+sd-jwt", x5c: [toBase64(fromBase64(seeds.signer))] })
    .sign(await signerKey);
}

async function judgePayload(payload: Uint8Array): Promise<void> {
  const bound = `${await signed(payload)}~${disclosures.map((text) => `${text}~`).join("")}`;
  const privateKey = await holderKey;
  const proof = { privateKey, audience: binding.clientId, nonce: binding.nonce, issuedAt: now };
  await judgeSdJwt(bound + (await keyBinding(bound, "sha-256", proof)), context);
}

/**
 * `[payload, contents, contents…]`:
 * replaces `"digest 0"` and so on in the payload by digests of the contents.
 */
async function applyFrom(bytes: Uint8Array): Promise<void> {
  const input = readJsonBytes(bytes);
  if (!isJsonArray(input)) return;
  const [payload, ...contents] = input;
  let text = JSON.stringify(payload ?? null);
  const texts = contents.map((content) => toBase64Url(utf8(JSON.stringify(content))));
  for (const [index, disclosure] of texts.entries()) {
    text = text.replaceAll(`digest ${index}`, toBase64Url(await digest("SHA-256", utf8(disclosure))));
  }
  const read = readJson(text);
  if (isJsonObject(read)) await applyDisclosures(read, texts, "sha-256");
}

const nested = [
  { _sd: ["digest 0", "digest 2"], list: [{ "...": "digest 1" }, 1], a: { b: null } },
  ["salt", "name", { _sd: ["digest 3"] }],
  ["salt", "element"],
  ["salt", "other", [true, 1.5, "text"]],
  ["salt", "inner", {}],
];

const readers: readonly Omit<FuzzReader, "damage">[] = [
  {
    name: "json",
    read: readJsonBytes,
    seeds: () => [payloadOf(seeds.lote), utf8(JSON.stringify(nested))],
  },
  {
    name: "jws",
    read: (bytes: Uint8Array) => {
      const jws = readJws(latin1(bytes), 100_000);
      return [certificatesOf(jws), claimsOf(jws)];
    },
    seeds: () => [utf8(seeds.statusList), utf8(seeds.lote)],
  },
  {
    name: "sd-jwt",
    isCostly: true,
    read: async (bytes: Uint8Array) => {
      const text = latin1(bytes);
      await onlySeeds(text, (await judgeSdJwt(text, context)).kind === "accepted");
    },
    seeds: () => [utf8(seeds.presentation)],
  },
  {
    name: "sd-jwt-payload",
    isCostly: true,
    read: judgePayload,
    seeds: () => [payloadOf(credential[0] ?? "")],
  },
  { name: "disclosures", read: applyFrom, seeds: () => [utf8(JSON.stringify(nested))] },
  {
    name: "answer-encrypted",
    read: (bytes: Uint8Array) => readAnswer({ response: latin1(bytes) }, { encryption, state: "state" }),
    seeds: () => [utf8(seeds.response)],
  },
  {
    name: "answer-plain",
    isCostly: true,
    read: async (bytes: Uint8Array) => {
      const answer = await readAnswer({ vp_token: latin1(bytes) }, { encryption: null });
      if (answer.kind === "presented") await judgeAnswer(answer.presentations, [asked], context);
    },
    seeds: () => [utf8(JSON.stringify({ pid_sd: [seeds.presentation] })), utf8('{"pid_sd":["a~"],"b":[]}')],
  },
  {
    name: "status-list",
    isCostly: true,
    read: (bytes: Uint8Array) => readStatusList(bytes, statusOptions),
    seeds: () => [utf8(seeds.statusList)],
  },
  {
    name: "status-list-payload",
    read: (bytes: Uint8Array) => readJwtStatusContent(readJsonObject(bytes), statusOptions),
    seeds: () => [payloadOf(seeds.statusList)],
  },
  {
    name: "lote",
    isCostly: true,
    read: (bytes: Uint8Array) => readLote(bytes, loteOptions),
    seeds: () => [utf8(seeds.lote)],
  },
  {
    name: "lote-payload",
    isCostly: true,
    read: (bytes: Uint8Array) => readLoteContent(readJsonObject(bytes)),
    seeds: () => [payloadOf(seeds.lote)],
  },
];

/** Readers of JOSE and JSON. */
export const joseReaders: readonly FuzzReader[] = readers.map((reader) => ({
  ...reader,
  damage: damageText,
}));
