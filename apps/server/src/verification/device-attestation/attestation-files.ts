import { X509Certificate } from "node:crypto";

/** The public keys of all certificates in a file of PEM blocks. */
export function readRootKeys(pem: string): Uint8Array[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => {
    const { publicKey } = new X509Certificate(block);
    return new Uint8Array(publicKey.export({ format: "der", type: "spki" }));
  });
}

/** The serial numbers of Google's revocation list (`{"entries": {"<serial>": {"status": "REVOKED"}}}`). */
export function readRevokedSerials(json: string): ReadonlySet<string> {
  const { entries } = JSON.parse(json) as { entries?: unknown };
  if (typeof entries !== "object" || entries === null) throw new Error("the list has no `entries`");
  return new Set(Object.keys(entries).map((serial) => serial.toLowerCase().replace(/^0+(?=.)/, "")));
}
