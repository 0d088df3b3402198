import { anyMap } from "../cbor/closed-map.ts";
import { decode } from "../cbor/decode.ts";
import { CborFloat, CborSimple, CborTag, type CborValue } from "../cbor/value.ts";
import { algorithmOf, label, readSingle, x5chainOf } from "../cose/headers.ts";
import { verifySign1 } from "../cose/sign1.ts";
import { CredentialError, malformedIn } from "../credential-error.ts";
import { isInFuture, maxSeconds } from "../jws/numeric-date.ts";
import { checkChain } from "../x509/chain.ts";
import { openStatusList, type StatusList, type StatusListOptions } from "./status-list.ts";

const malformed = malformedIn("Status list");

/** CWT claims (RFC 8392), and those of the Token Status List specification. */
const claim = { subject: 2, expiration: 4, issuedAt: 6, statusList: 65533, timeToLive: 65534 } as const;
const types = new Set<CborValue | undefined>(["application/statuslist+cwt", "statuslist+cwt"]);
const maxTokenBytes = 24 * 1024 * 1024;

/** A status list token as CWT: COSE_Sign1, with or without the tags of COSE and CWT. */
export async function readCwtStatusList(token: Uint8Array, options: StatusListOptions): Promise<StatusList> {
  const sign1 = readSingle(untagged(decode(token, { maxBytes: maxTokenBytes })));
  if (!types.has(sign1.protected.get(label.type))) throw malformed("another token");
  if (sign1.payload === null) throw malformed("no content");
  const chain = await checkChain(x5chainOf(sign1), options.anchors, {
    purpose: options.purpose,
    now: options.now,
    leaf: "status_signer",
  });
  if (chain.kind === "untrusted") throw new CredentialError("signature", "Status list: signer not trusted");
  if (algorithmOf(sign1) !== chain.algorithm || !(await verifySign1(sign1, chain, sign1.payload))) {
    throw new CredentialError("signature", "Status list: wrong signature");
  }
  return readCwtStatusContent(sign1.payload, options);
}

/** Reads the signed content. */
export function readCwtStatusContent(
  payload: Uint8Array,
  { uri, now }: Pick<StatusListOptions, "uri" | "now">,
): Promise<StatusList> {
  const claims = anyMap(decode(payload, { maxBytes: maxTokenBytes }));
  if (claims.get(claim.subject) !== uri) throw malformed("of another address");
  const issuedAt = timeOf(claims.get(claim.issuedAt));
  if (isInFuture(issuedAt, now)) throw malformed("issued in the future");
  const list = anyMap(claims.get(claim.statusList));
  const compressed = list.get("lst");
  if (!(compressed instanceof Uint8Array)) throw malformed("no list");
  return openStatusList(
    {
      uri,
      bits: list.get("bits"),
      compressed,
      issuedAt,
      expiresAt: isGiven(claims.get(claim.expiration)) ? timeOf(claims.get(claim.expiration)) : null,
      ttlSeconds: isGiven(claims.get(claim.timeToLive)) ? numberOf(claims.get(claim.timeToLive)) : null,
    },
    now,
  );
}

/** 61 is CWT, 18 is COSE_Sign1. */
function untagged(value: CborValue): CborValue {
  const inner = value instanceof CborTag && value.tag === 61 ? value.content : value;
  return inner instanceof CborTag && inner.tag === 18 ? inner.content : inner;
}

/** Some issuers write `undefined` for a claim that they leave out. */
function isGiven(value: CborValue | undefined): boolean {
  return value !== undefined && !(value instanceof CborSimple && value.value === 23);
}

function timeOf(value: CborValue | undefined): Date {
  const seconds = numberOf(value);
  if (!(seconds >= 0 && seconds <= maxSeconds)) throw malformed("no time");
  return new Date(Math.floor(seconds * 1000));
}

function numberOf(value: CborValue | undefined): number {
  if (typeof value === "number") return value;
  if (value instanceof CborFloat) return value.value;
  throw malformed("no number");
}
