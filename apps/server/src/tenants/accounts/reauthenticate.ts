import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { UserCaller } from "../../platform/kernel/caller.ts";
import { acceptCode, hasSecondFactor, wrongCode } from "./check-second-factor.ts";
import { countGuess } from "./limit-guesses.ts";
import { isPassword } from "./password.ts";
import { findUserById, type UserRow } from "./user.store.ts";

export type UserProof = { password?: string; code?: string };

/**
 * Step-up authentication: makes sure that the owner is at the keyboard, not somebody who found an open session. Then
 * `work` runs, in the transaction that consumes the code.
 */
export async function reauthenticated<T>(
  core: Pick<Core, "db" | "clock" | "ring">,
  caller: UserCaller,
  proof: UserProof,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const { code, password } = proof;
  if (code !== undefined) {
    if (!(await hasSecondFactor(core, caller.userId))) {
      throw new ApiError("REAUTHENTICATION_CODE_UNUSABLE");
    }
    return withCode(core, caller, code, work);
  }
  if (password === undefined) {
    throw new ApiError("REAUTHENTICATION_REQUIRED");
  }
  await checkPassword(core, caller, "password", password);
  return core.db.transaction(work);
}

/** Runs `work` in the transaction that consumes the code. */
export async function withCode<T>(
  core: Pick<Core, "db" | "clock" | "ring">,
  caller: UserCaller,
  code: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const guess = await countGuess(core, "code", caller.userId, caller);
  const result = await core.db.transaction(async (tx) => {
    if (!(await acceptCode(core, tx, caller.userId, code))) throw wrongCode();
    return work(tx);
  });
  await guess.succeeded();
  return result;
}

/** Returns the user if the password is correct; otherwise throws an error that names `field`. */
export async function checkPassword(
  core: Pick<Core, "db" | "clock" | "ring">,
  caller: UserCaller,
  field: string,
  password: string,
): Promise<UserRow> {
  const guess = await countGuess(core, "password", caller.userId, caller);
  const user = await findUserById(core.db, caller.userId);
  if (user === null) throw new ApiError("UNAUTHORIZED");
  if (!(await isPassword(password, user.passwordHash))) {
    throw new ApiError("REAUTHENTICATION_FAILED", {
      message: `\`${field}\` is wrong.`,
      hint: "Check it, or reset the password with POST /v1/auth/password/forgot.",
    });
  }
  await guess.succeeded();
  return user;
}
