import { issueStatusList, packStatuses } from "../status-list/issue-status-list.ts";
import type { StatusList } from "../status-list/status-list.ts";
import { type Purpose, purposes } from "../trust-anchor.ts";
import { testStatusSigner } from "./test-signer.ts";

/** Index of each credential of the test country in its issuer's list. */
export const testStatusIndexes = { valid: 4, revoked: 5, suspended: 6 } as const;

const order = {
  bits: 2,
  /** A very short list would reveal which credential was looked up. */
  size: 1024,
  statuses: new Map<number, number>([
    [testStatusIndexes.revoked, 1],
    [testStatusIndexes.suspended, 2],
  ]),
  ttlSeconds: 60 * 60,
} as const;
const lifetimeMs = 24 * 60 * 60 * 1000;

/** Below it, the name of a list is the purpose of its credentials. */
export const testStatusPath = "/oid4vp/test-country/status";

export function testStatusUri(publicUrl: string, purpose: Purpose): string {
  return `${publicUrl}${testStatusPath}/${purpose}`;
}

/** The decoded list at this address; null if it is no list of the test country at this service. */
export function testStatusList(publicUrl: string, uri: string, now: Date): StatusList | null {
  if (!purposes.some((purpose) => testStatusUri(publicUrl, purpose) === uri)) return null;
  const { bits, ttlSeconds } = order;
  return { uri, bits, entries: packStatuses(order), issuedAt: now, expiresAt: later(now), ttlSeconds };
}

/** The token that a reader fetches. */
export async function testStatusToken(publicUrl: string, purpose: Purpose, now: Date): Promise<string> {
  return await issueStatusList(
    { ...order, uri: testStatusUri(publicUrl, purpose), issuedAt: now, expiresAt: later(now) },
    await testStatusSigner(purpose),
  );
}

function later(now: Date): Date {
  return new Date(now.getTime() + lifetimeMs);
}
