import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

/** Enough DER to write an authority and certificates that Node accepts, without any tool but Node. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const integer = (bytes: Uint8Array) =>
  der(0x02, (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const bitString = (bytes: Uint8Array) => der(0x03, Buffer.from([0]), bytes);
const octets = (bytes: Uint8Array) => der(0x04, bytes);
const truth = der(0x01, Buffer.from([0xff]));
const utcTime = (date: Date) =>
  der(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replace(/[-:T]/g, "")}Z`, "latin1"));
const nameParts = (parts: Record<string, string>) =>
  sequence(
    ...Object.entries(parts).map(([id, text]) =>
      der(0x31, sequence(oid(id), der(0x0c, Buffer.from(text, "utf8")))),
    ),
  );
const name = (commonName: string) => nameParts({ "550403": commonName });
const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"));

const extension = (id: string, critical: boolean, value: Uint8Array) =>
  sequence(oid(id), ...(critical ? [truth] : []), octets(value));

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  if (address === "::1") return Buffer.concat([Buffer.alloc(15), Buffer.from([1])]);
  throw new Error(`no bytes for ${address}`);
}

function write(options: {
  subject: Uint8Array;
  issuer: Uint8Array;
  publicKey: KeyObject;
  signWith: KeyObject;
  extensions: readonly Uint8Array[];
}): Buffer {
  const dayMs = 86_400_000;
  const serial = randomBytes(12);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 1;
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    ecdsaWithSha256,
    options.issuer,
    sequence(utcTime(new Date(Date.now() - dayMs)), utcTime(new Date(Date.now() + 30 * dayMs))),
    options.subject,
    options.publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...options.extensions)),
  );
  return sequence(body, ecdsaWithSha256, bitString(sign("sha256", body, options.signWith)));
}

function toPem(certificate: Buffer): string {
  const text = certificate
    .toString("base64")
    .match(/.{1,64}/g)
    ?.join("\n");
  return `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
}

/** Signs the attestations of a passkey model, with a certificate as WebAuthn (section 8.2.1) requires. */
export function createAttestor(): { certificate: Buffer; key: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const subject = nameParts({
    "550406": "UT",
    "55040a": "Test keys",
    "55040b": "Authenticator Attestation",
    "550403": "Test key",
  });
  const extensions = [extension("551d13", true, sequence())];
  const certificate = write({ subject, issuer: subject, publicKey, signWith: privateKey, extensions });
  return { certificate, key: privateKey };
}

const keyIdentifier = (key: KeyObject) =>
  createHash("sha1")
    .update(key.export({ type: "spki", format: "der" }))
    .digest();

export type Authority = {
  /** The authority's own certificate, to be trusted. */
  certificate: string;
  issue(hosts: readonly string[]): { cert: string; key: string };
};

/** An authority that only the test trusts. */
export function createAuthority(subject = "Assay test authority"): Authority {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ownId = keyIdentifier(own.publicKey);
  const certificate = write({
    subject: name(subject),
    issuer: name(subject),
    publicKey: own.publicKey,
    signWith: own.privateKey,
    extensions: [
      extension("551d13", true, sequence(truth)),
      extension("551d0f", true, der(0x03, Buffer.from([1, 0x06]))),
      extension("551d0e", false, octets(ownId)),
    ],
  });
  return {
    certificate: toPem(certificate),
    issue(hosts) {
      const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const names = hosts.map((host) =>
        isIP(host) === 0 ? der(0x82, Buffer.from(host, "latin1")) : der(0x87, addressBytes(host)),
      );
      const cert = write({
        subject: name(hosts[0] ?? "receiver"),
        issuer: name(subject),
        publicKey: pair.publicKey,
        signWith: own.privateKey,
        extensions: [
          extension("551d13", true, sequence()),
          extension("551d11", false, sequence(...names)),
          extension("551d0e", false, octets(keyIdentifier(pair.publicKey))),
          extension("551d23", false, sequence(der(0x80, ownId))),
        ],
      });
      return { cert: toPem(cert), key: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
    },
  };
}
