import * as contract from "@assay/contract/accounts";
import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { type Binding, bind } from "../http/mount.ts";
import { ApiError } from "../kernel/api-error.ts";
import type { UserCaller } from "../kernel/caller.ts";
import { acceptCode, hasSecondFactor, wrongCode } from "./check-second-factor.ts";
import { countGuess } from "./limit-guesses.ts";
import { mailNotice } from "./mail-link.ts";
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

export function secondFactorRoutes(core: Core): Binding[] {
  const { db, clock, ring } = core;

  /** Runs `work` in the transaction that uses the code up. */
  const withCode = async <T>(caller: UserCaller, code: string, work: (tx: Tx) => Promise<T>): Promise<T> => {
    const guess = await countGuess(core, "code", caller.userId, caller);
    const result = await db.transaction(async (tx) => {
      if (!(await acceptCode(core, tx, caller.userId, code))) throw wrongCode();
      return work(tx);
    });
    await guess.succeeded();
    return result;
  };

  const writeBackupCodes = async (tx: Tx, userId: string) => {
    const codes = Array.from({ length: backupCodeCount }, newBackupCode);
    const hashes = codes.map((code) => backupCodeHash(userId, code));
    await replaceBackupCodes(tx, userId, hashes, clock.now());
    return { backup_codes: codes };
  };

  const requireOn = async (caller: UserCaller) => {
    if (await hasSecondFactor(core, caller.userId)) return;
    throw new ApiError("CONFLICT", {
      message: "The account has no second factor.",
      hint: "Turn it on with POST /v1/auth/account/totp/start.",
    });
  };

  const alreadyOn = () =>
    new ApiError("CONFLICT", {
      message: "The second factor is on.",
      hint: "Turn it off with POST /v1/auth/account/totp/disable before setting up another.",
    });

  return [
    bind(contract.startTotp, async ({ caller }) => {
      await requireVerifiedEmail(core, caller);
      const secret = newTotpSecret();
      const sealed = ring.seal("second-factor", secret, caller.userId);
      if (!(await putUnconfirmedSecret(db, caller.userId, sealed, clock.now()))) throw alreadyOn();
      return describeTotp(secret, caller.email);
    }),

    bind(contract.confirmTotp, async ({ caller, body }) => {
      const factor = await findSecondFactor(db, caller.userId);
      if (factor === null) {
        throw new ApiError("CONFLICT", {
          message: "There is nothing to confirm.",
          hint: "Begin with POST /v1/auth/account/totp/start.",
        });
      }
      if (factor.confirmed_at !== null) throw alreadyOn();
      return withCode(caller, body.code, async (tx) => {
        if (!(await confirmSecret(tx, caller.userId, clock.now()))) throw alreadyOn();
        await mailNotice(core, tx, caller, {
          subject: "The second factor was turned on",
          happened: "From now on your account asks for a code of the authenticator app.",
        });
        return writeBackupCodes(tx, caller.userId);
      });
    }),

    bind(contract.disableTotp, async ({ caller, body }) => {
      await requireOn(caller);
      await withCode(caller, body.code, async (tx) => {
        await removeSecondFactor(tx, caller.userId);
        await mailNotice(core, tx, caller, {
          subject: "The second factor was turned off",
          happened: "Your account no longer asks for a code.",
        });
      });
    }),

    bind(contract.regenerateBackupCodes, async ({ caller, body }) => {
      await requireOn(caller);
      return withCode(caller, body.code, (tx) => writeBackupCodes(tx, caller.userId));
    }),
  ];
}
