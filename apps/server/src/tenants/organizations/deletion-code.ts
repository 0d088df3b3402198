import { randomInt } from "node:crypto";
import type { OrganizationId, UserId } from "@assay/contract/ids";

// Letters and digits without look-alikes: no 0 and O, no 1, I and L.
const alphabet = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";
const codeLength = 8;
const wrongTriesAllowed = 5;

export function newDeletionCode(): string {
  return Array.from({ length: codeLength }, () => alphabet[randomInt(alphabet.length)]).join("");
}

/**
 * The hashed text: code, organization and requester, so that the code works only for the organization and
 * person it was mailed for.
 */
export function boundCode(organizationId: OrganizationId, userId: UserId, code: string): string {
  return `deletion ${organizationId} ${userId} ${code.toUpperCase()}`;
}

type StoredCode = { wrongTries: number; expiresAt: Date };

/** An expired code, or one without tries left, counts as no code. */
export function isDead(code: StoredCode, now: Date): boolean {
  return code.expiresAt <= now || code.wrongTries >= wrongTriesAllowed;
}
