import { anyMap } from "../cbor/closed-map.ts";
import { decode } from "../cbor/decode.ts";
import { CborTag, type CborValue } from "../cbor/value.ts";
import { type CoseKey, readCoseKey } from "../cose/cose-key.ts";
import { CredentialError, malformedIn } from "../credential-error.ts";
import type { StatusReference } from "../verdict.ts";
import { readEmbedded } from "./read-device-response.ts";

const malformed = malformedIn("MSO");

/** ISO/IEC 18013-5, 9.1.2.4. The issuer signed all of it, so members that are unknown here are left alone. */
export type MobileSecurityObject = {
  docType: string;
  digestAlgorithm: DigestAlgorithm;
  /** By namespace and id of the digest. */
  digests: ReadonlyMap<string, ReadonlyMap<number, Uint8Array>>;
  /** Null where the credential is bound to no key. */
  deviceKey: CoseKey | null;
  signed: Date;
  validFrom: Date;
  validUntil: Date;
  status: StatusReference | null;
};

export type DigestAlgorithm = "SHA-256" | "SHA-384" | "SHA-512";
const digestBytes = { "SHA-256": 32, "SHA-384": 48, "SHA-512": 64 } as const;
const maxObjectBytes = 128 * 1024;
const maxUriCharacters = 2048;

export function readMobileSecurityObject(payload: Uint8Array): MobileSecurityObject {
  const maxBytes = maxObjectBytes;
  const mso = anyMap(decode(readEmbedded(decode(payload, { maxBytes })), { maxBytes }));
  if (mso.get("version") !== "1.0") throw malformed("unknown version");
  const docType = mso.get("docType");
  if (typeof docType !== "string") throw malformed("type");
  const digestAlgorithm = readDigestAlgorithm(mso.get("digestAlgorithm"));
  const validity = anyMap(mso.get("validityInfo"));
  return {
    docType,
    digestAlgorithm,
    digests: readDigests(mso.get("valueDigests"), digestBytes[digestAlgorithm]),
    deviceKey: mso.has("deviceKeyInfo")
      ? readCoseKey(anyMap(mso.get("deviceKeyInfo")).get("deviceKey"))
      : null,
    signed: readTime(validity.get("signed")),
    validFrom: readTime(validity.get("validFrom")),
    validUntil: readTime(validity.get("validUntil")),
    status: mso.has("status") ? readStatus(mso.get("status")) : null,
  };
}

function readDigestAlgorithm(value: CborValue | undefined): DigestAlgorithm {
  if (value === "SHA-256" || value === "SHA-384" || value === "SHA-512") return value;
  throw new CredentialError("not_supported", "mdoc: digest algorithm");
}

function readDigests(value: CborValue | undefined, size: number): MobileSecurityObject["digests"] {
  return new Map(
    [...anyMap(value)].map(([nameSpace, digests]) => {
      if (typeof nameSpace !== "string") throw malformed("namespace");
      const byId = [...anyMap(digests)].map(([id, digest]) => {
        if (typeof id !== "number" || !(digest instanceof Uint8Array) || digest.length !== size) {
          throw malformed("digest");
        }
        return [id, digest] as const;
      });
      return [nameSpace, new Map(byId)];
    }),
  );
}

/** `tdate`: tag 0 on a time of RFC 3339. */
export function readTime(value: CborValue | undefined): Date {
  const text = value instanceof CborTag && value.tag === 0 ? value.content : null;
  if (typeof text !== "string") throw malformed("time");
  const match = /^(\d{4}-\d{2}-\d{2})[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/.exec(text);
  const time = new Date(text.toUpperCase());
  const day = new Date(`${match?.[1]}T00:00:00Z`);
  // Engines roll a 30 February over instead of refusing it.
  if (
    Number.isNaN(time.getTime()) ||
    Number.isNaN(day.getTime()) ||
    !day.toISOString().startsWith(match?.[1] ?? "-")
  ) {
    throw malformed("time");
  }
  return time;
}

/** A credential may name a list by another mechanism (`identifier_list`), which is not read here. */
function readStatus(value: CborValue | undefined): StatusReference | null {
  const status = anyMap(value);
  if (!status.has("status_list")) return null;
  const list = anyMap(status.get("status_list"));
  const uri = list.get("uri");
  const index = list.get("idx");
  if (typeof uri !== "string" || uri.length > maxUriCharacters || typeof index !== "number" || index < 0) {
    throw malformed("status");
  }
  return { uri, index };
}
