import { hash, verify } from "@node-rs/argon2";
import { badField } from "../../platform/kernel/api-error.ts";
import { weakness } from "./weak-password.ts";

// Argon2id with 19 MiB and two passes takes about 40 ms: guessing is slow, signing in is not.
let parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** A cheap hash for tests, which sign up thousands of people. */
export function hashPasswordsCheaply(): void {
  parameters = { memoryCost: 64, timeCost: 1, parallelism: 1 };
}

/** For a new password; an existing weak one still signs in. `about`: e-mail and name of its owner. */
export function refuseWeakPassword(field: string, password: string, about: readonly string[]): void {
  const problem = weakness(password, about);
  if (problem !== null) throw badField(field, `is too easy to guess: it ${problem}`);
}

export async function hashPassword(password: string): Promise<string> {
  return hash(password.normalize("NFKC"), parameters);
}

let decoy: Promise<string> | undefined;

/**
 * Without a stored hash a decoy is checked, so that an unknown account takes as long as a wrong password (no
 * timing oracle).
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  decoy ??= hashPassword("not the password of anybody");
  const matches = await verify(stored ?? (await decoy), password.normalize("NFKC"));
  return stored !== null && matches;
}
