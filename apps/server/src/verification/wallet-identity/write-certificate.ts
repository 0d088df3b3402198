import { createHash, createPublicKey, type KeyObject, randomBytes, sign } from "node:crypto";
import {
  bitString,
  boolean,
  certificateTime,
  contextTag,
  contextValue,
  integer,
  octetString,
  oid,
  printableString,
  sequence,
  setOf,
  unsignedInteger,
  utf8String,
} from "@assay/emrtd/ber/write";

export type Subject = {
  commonName: string;
  organization: string | null;
  /** ISO 3166-1 alpha-2. */
  country: string | null;
  /** As the register writes it, such as `VATDE-123456789`: what a registration certificate names as its subject. */
  identifier: string | null;
};

const ecdsaWithSha256 = sequence(oid("1.2.840.10045.4.3.2"));
const extensionRequest = "1.2.840.113549.1.9.14";
const mdocReaderAuthentication = "1.0.18013.5.1.6";

/** A request for the certificate of a key (PKCS #10). */
export function writeCertificateRequest(subject: Subject, host: string | null, key: KeyObject): Uint8Array {
  const extensions = sequence(...leafExtensions(host));
  const info = sequence(
    integer(0),
    nameOf(subject),
    spkiOf(key),
    contextTag(0, sequence(oid(extensionRequest), setOf(extensions))),
  );
  return signed(info, key);
}

/** A certificate for `key` by an authority whose own certificate is written nowhere: wallets of the sandbox do not ask for it. */
export function writeSandboxLeaf(
  host: string | null,
  key: KeyObject,
  authority: KeyObject,
  validity: { from: Date; until: Date },
): Uint8Array {
  const by = (commonName: string) =>
    nameOf({ commonName, organization: "Assay sandbox", country: null, identifier: null });
  const authorityId = keyIdOf(authority);
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const body = sequence(
    contextTag(0, integer(2)),
    unsignedInteger(serial),
    ecdsaWithSha256,
    by("Assay sandbox authority"),
    sequence(certificateTime(validity.from), certificateTime(validity.until)),
    by("Assay sandbox"),
    spkiOf(key),
    contextTag(
      3,
      sequence(
        ...leafExtensions(host),
        extension("2.5.29.14", octetString(keyIdOf(key))),
        extension("2.5.29.35", sequence(contextValue(0, authorityId))),
      ),
    ),
  );
  return signed(body, authority);
}

function leafExtensions(host: string | null): Uint8Array[] {
  const isName = host !== null && /[a-z]/i.test(host) && !host.includes(":");
  return [
    // digitalSignature
    extension("2.5.29.15", bitString(new Uint8Array([0x80]), 7), true),
    extension("2.5.29.37", sequence(oid(mdocReaderAuthentication))),
    ...(isName ? [extension("2.5.29.17", sequence(contextValue(2, new TextEncoder().encode(host))))] : []),
  ];
}

function extension(id: string, value: Uint8Array, isCritical = false): Uint8Array {
  return sequence(oid(id), ...(isCritical ? [boolean(true)] : []), octetString(value));
}

function nameOf({ commonName, organization, country, identifier }: Subject): Uint8Array {
  const part = (id: string, value: Uint8Array | null) =>
    value === null ? [] : [setOf(sequence(oid(id), value))];
  const text = (value: string | null) => (value === null ? null : utf8String(value));
  return sequence(
    ...part("2.5.4.6", country === null ? null : printableString(country)),
    ...part("2.5.4.10", text(organization)),
    ...part("2.5.4.97", text(identifier)),
    ...part("2.5.4.3", text(commonName)),
  );
}

function spkiOf(key: KeyObject): Uint8Array {
  return new Uint8Array(createPublicKey(key).export({ type: "spki", format: "der" }));
}

function keyIdOf(key: KeyObject): Uint8Array {
  return new Uint8Array(createHash("sha1").update(spkiOf(key)).digest());
}

function signed(body: Uint8Array, key: KeyObject): Uint8Array {
  return sequence(body, ecdsaWithSha256, bitString(new Uint8Array(sign("sha256", body, key))));
}
