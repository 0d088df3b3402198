import type { UserId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { findSecondFactor, takeBackupCode, takeStep } from "./second-factor.store.ts";
import { backupCodeHash, matchingStep, readCode } from "./second-factor.ts";

export async function hasSecondFactor({ db }: Pick<Core, "db">, userId: UserId): Promise<boolean> {
  const factor = await findSecondFactor(db, userId);
  return factor !== null && factor.confirmedAt !== null;
}

/**
 * Whether the code is correct. It is consumed in the transaction of the action that it allows, so it is used
 * up only if the action happens.
 */
export async function acceptCode(
  { ring, clock }: Pick<Core, "ring" | "clock">,
  tx: Tx,
  userId: UserId,
  text: string,
): Promise<boolean> {
  const given = readCode(text);
  // Backup codes exist only with a confirmed factor.
  if (given.kind === "backup") return takeBackupCode(tx, userId, backupCodeHash(userId, given.code));
  const factor = await findSecondFactor(tx, userId);
  if (factor === null) return false;
  const secret = ring.open("second-factor", factor.secret, userId);
  const step = matchingStep(secret, given.code, clock.now());
  return step !== null && (await takeStep(tx, userId, step));
}

export function wrongCode(): ApiError {
  return new ApiError("SECOND_FACTOR_CODE_INVALID");
}
