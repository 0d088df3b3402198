import { CompactSign } from "jose";
import { toBase64, toBase64Url } from "../base64url.ts";
import { utf8 } from "../bytes.ts";
import type { SdJwtIssuer } from "../sd-jwt/issue-sd-jwt.ts";
import type { StatusBits } from "./status-list.ts";

export type StatusListOrder = {
  uri: string;
  bits: StatusBits;
  /** Capacity of the list in credentials. */
  size: number;
  /** By index. Those that are left out are valid. */
  statuses: ReadonlyMap<number, number>;
  issuedAt: Date;
  expiresAt?: Date;
  ttlSeconds?: number;
};

/** A status list token in its JWT form. For tests and for the test country. */
export async function issueStatusList(order: StatusListOrder, issuer: SdJwtIssuer): Promise<string> {
  const claims = {
    sub: order.uri,
    iat: Math.floor(order.issuedAt.getTime() / 1000),
    ...(order.expiresAt === undefined ? {} : { exp: Math.floor(order.expiresAt.getTime() / 1000) }),
    ...(order.ttlSeconds === undefined ? {} : { ttl: order.ttlSeconds }),
    status_list: { bits: order.bits, lst: toBase64Url(await deflate(packStatuses(order))) },
  };
  return new CompactSign(utf8(JSON.stringify(claims)))
    .setProtectedHeader({
      alg: issuer.algorithm ?? "ES256",
      typ: "statuslist+jwt",
      x5c: issuer.chain.map(toBase64),
    })
    .sign(issuer.privateKey);
}

/** The first status in the lowest bits of the first byte. */
export function packStatuses({
  bits,
  size,
  statuses,
}: Pick<StatusListOrder, "bits" | "size" | "statuses">): Uint8Array<ArrayBuffer> {
  const perByte = 8 / bits;
  const bytes = new Uint8Array(Math.ceil(size / perByte));
  for (const [index, status] of statuses) {
    const at = Math.floor(index / perByte);
    bytes[at] = (bytes[at] ?? 0) | (status << ((index % perByte) * bits));
  }
  return bytes;
}

export async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
