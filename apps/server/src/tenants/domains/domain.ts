import { dayMs, hourMs, later } from "../../platform/kernel/clock.ts";
import { hashToken } from "../../platform/kernel/ids.ts";

export const challengeLifetimeMs = 7 * dayMs;
export const recheckEveryMs = dayMs;
const retryAfterFailureMs = hourMs;
const missesUntilDowngrade = 3;

const valuePrefix = "service-verification=";

export function recordName(apex: string): string {
  return `_service-verification.${apex}`;
}

export function recordValue(token: string): string {
  return `${valuePrefix}${token}`;
}

/** Whether one of the TXT values proves the token with this hash. */
export function provesToken(values: readonly string[], tokenHash: Buffer): boolean {
  return values.some((value) => {
    const text = value.trim();
    return text.startsWith(valuePrefix) && hashToken(text.slice(valuePrefix.length)).equals(tokenHash);
  });
}

/**
 * The TXT values that were found instead, for the hint of the error. They are public DNS records of the
 * caller, shortened for display.
 */
export function describeFound(name: string, values: readonly string[]): string {
  if (values.length === 0) return `There is no TXT record at ${name} yet.`;
  const shown = values
    .slice(0, 5)
    .map((value) => `"${value.replace(/[^\x20-\x7e]/g, "?").slice(0, 100)}"`)
    .join(", ");
  const more = values.length > 5 ? ` and ${values.length - 5} more` : "";
  return `Found at ${name}: ${shown}${more}.`;
}

export type DomainState = { missCount: number; downgradedAt: Date | null };

/** `unknown`: no resolver answered. That never counts against the domain. */
export type CheckOutcome = "found" | "missing" | "unknown";

type CheckedDomain = DomainState & {
  nextCheckAt: Date;
  concluded: boolean;
  change: "downgraded" | "restored" | null;
};

/** The next state of a domain after its daily check. */
export function afterCheck(state: DomainState, outcome: CheckOutcome, now: Date): CheckedDomain {
  switch (outcome) {
    case "unknown":
      return { ...state, nextCheckAt: later(now, retryAfterFailureMs), concluded: false, change: null };
    case "found":
      return {
        missCount: 0,
        downgradedAt: null,
        nextCheckAt: later(now, recheckEveryMs),
        concluded: true,
        change: state.downgradedAt === null ? null : "restored",
      };
    case "missing": {
      const missCount = state.missCount + 1;
      const downgrades = state.downgradedAt === null && missCount >= missesUntilDowngrade;
      return {
        missCount,
        downgradedAt: downgrades ? now : state.downgradedAt,
        nextCheckAt: later(now, recheckEveryMs),
        concluded: true,
        change: downgrades ? "downgraded" : null,
      };
    }
  }
}
