import type { UserId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { UserCaller } from "../../platform/kernel/caller.ts";
import { hasSecondFactor } from "./check-second-factor.ts";
import { mailNotice } from "./mail-link.ts";
import { reauthenticated, type UserProof, withCode } from "./reauthenticate.ts";
import { requireVerifiedEmail } from "./require-verified-email.ts";
import {
  confirmSecret,
  findSecondFactor,
  putUnconfirmedSecret,
  removeSecondFactor,
  replaceBackupCodes,
} from "./second-factor.store.ts";
import {
  backupCodeCount,
  backupCodeHash,
  describeTotp,
  newBackupCode,
  newTotpSecret,
} from "./second-factor.ts";

/**
 * Creates an unconfirmed secret, which has no effect until the user enters a code from it. Needs
 * reauthentication: with only an open session, a stranger could lock the owner out.
 */
export async function startSecondFactor(core: Core, caller: UserCaller, proof: UserProof) {
  const { clock, ring } = core;
  await requireVerifiedEmail(core, caller);
  if (await hasSecondFactor(core, caller.userId)) throw alreadyOn();
  const secret = newTotpSecret();
  const sealed = ring.seal("second-factor", secret, caller.userId);
  await reauthenticated(core, caller, proof, async (tx) => {
    if (!(await putUnconfirmedSecret(tx, caller.userId, sealed, clock.now()))) throw alreadyOn();
  });
  return describeTotp(secret, caller.email);
}

/** Turns the second factor on and returns the backup codes, which are shown only once. */
export async function confirmSecondFactor(core: Core, caller: UserCaller, code: string): Promise<string[]> {
  const factor = await findSecondFactor(core.db, caller.userId);
  if (factor === null) {
    throw new ApiError("SECOND_FACTOR_NOT_STARTED");
  }
  if (factor.confirmedAt !== null) throw alreadyOn();
  return withCode(core, caller, code, async (tx) => {
    if (!(await confirmSecret(tx, caller.userId, core.clock.now()))) throw alreadyOn();
    await mailNotice(core, tx, caller, "second_factor_on");
    return writeBackupCodes(core, tx, caller.userId);
  });
}

export async function turnOffSecondFactor(core: Core, caller: UserCaller, code: string): Promise<void> {
  await requireOn(core, caller);
  await withCode(core, caller, code, async (tx) => {
    await removeSecondFactor(tx, caller.userId);
    await mailNotice(core, tx, caller, "second_factor_off");
  });
}

export async function renewBackupCodes(
  core: Pick<Core, "db" | "clock" | "ring">,
  caller: UserCaller,
  code: string,
): Promise<string[]> {
  await requireOn(core, caller);
  return withCode(core, caller, code, (tx) => writeBackupCodes(core, tx, caller.userId));
}

async function writeBackupCodes({ clock }: Pick<Core, "clock">, tx: Tx, userId: UserId): Promise<string[]> {
  const codes = Array.from({ length: backupCodeCount }, newBackupCode);
  const hashes = codes.map((code) => backupCodeHash(userId, code));
  await replaceBackupCodes(tx, userId, hashes, clock.now());
  return codes;
}

async function requireOn(core: Pick<Core, "db">, caller: UserCaller): Promise<void> {
  if (await hasSecondFactor(core, caller.userId)) return;
  throw new ApiError("SECOND_FACTOR_OFF");
}

function alreadyOn(): ApiError {
  return new ApiError("SECOND_FACTOR_ON");
}
