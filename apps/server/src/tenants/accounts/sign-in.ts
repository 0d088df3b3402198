import type { UserId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { requireEmail } from "../../platform/kernel/email.ts";
import { hashToken } from "../../platform/kernel/ids.ts";
import type { RequestInfo } from "../../platform/kernel/request-info.ts";
import { acceptCode, hasSecondFactor } from "./check-second-factor.ts";
import { countGuess, countLink, rememberOrigin } from "./limit-guesses.ts";
import { mailNotice } from "./mail-link.ts";
import { findMailedToken, type MailedTokenRow, takeMailedToken } from "./mailed-token.store.ts";
import { isPassword } from "./password.ts";
import { removeSignInMethods } from "./remove-sign-in-methods.ts";
import { isFirstProof } from "./require-verified-email.ts";
import {
  findUserByEmail,
  findUserById,
  lockUser,
  markEmailVerified,
  setPasswordHash,
  type UserRow,
} from "./user.store.ts";
import { openUserSession } from "./user-session.ts";

export type OpenedSession = { user: UserRow; token: string };

export async function signInWithPassword(
  core: Core,
  given: { email: string; password: string; code?: string; verificationToken: string | undefined },
  request: RequestInfo,
): Promise<OpenedSession> {
  const { folded } = requireEmail("email", given.email);
  const guess = await countGuess(core, "password", folded, request);
  const user = await findUserByEmail(core.db, folded);
  if (!(await isPassword(given.password, user?.passwordHash ?? null)) || user === null) {
    throw wrongCredentials();
  }
  const now = core.clock.now();
  const proofHash = isFirstProof(core, user) ? hashToken(given.verificationToken ?? "") : null;
  // The answer must not reveal to a new user whether the account is theirs. So a correct password without the
  // mailed link is answered and counted as a wrong one.
  if (proofHash !== null && !isProofOf(await findMailedToken(core.db, "verify_email", proofHash, now), user))
    throw wrongCredentials();
  await guess.succeeded();
  const asksForCode = await hasSecondFactor(core, user.id);
  return openSession(core, user.id, asksForCode, given.code, request, async (tx) => {
    const current = await lockUser(tx, user.id);
    // The password changed between the check and this lock. That change ended all sessions, so this sign-in
    // must fail, too.
    if (current === null || current.passwordHash !== user.passwordHash) throw wrongCredentials();
    if (proofHash === null) return current;
    if (!isProofOf(await takeMailedToken(tx, "verify_email", proofHash, now), current))
      throw wrongCredentials();
    await markEmailVerified(tx, current.id, now);
    return { ...current, emailVerifiedAt: now };
  });
}

function isProofOf(token: MailedTokenRow | null, user: UserRow): boolean {
  return token !== null && token.userId === user.id && token.email === user.email;
}

export async function signInWithLink(
  core: Core,
  given: { token: string; code?: string },
  request: RequestInfo,
): Promise<OpenedSession> {
  const now = core.clock.now();
  const hash = hashToken(given.token);
  const attempt = await countLink(core, request.address);
  const found = await findMailedToken(core.db, "magic_link", hash, now);
  const owner = found && (await findUserById(core.db, found.userId));
  if (found === null || owner === null || owner.email !== found.email) throw deadLink();
  await attempt.succeeded();
  const takesOver = isFirstProof(core, owner);
  const prepare = async (tx: Tx) => {
    const taken = await takeMailedToken(tx, "magic_link", hash, now);
    const user = taken && (await lockUser(tx, taken.userId));
    if (taken === null || user === null || user.email !== taken.email) throw deadLink();
    // The address was proven between the check and this lock, so its second factor must be checked.
    if (takesOver !== isFirstProof(core, user)) throw deadLink();
    return user.emailVerifiedAt === null ? takeOver(core, tx, user) : user;
  };
  // The second factor of the earlier, unproven user is about to be removed; the owner of the address does not
  // have it.
  const asksForCode = !takesOver && (await hasSecondFactor(core, owner.id));
  return openSession(core, owner.id, asksForCode, given.code, request, prepare);
}

/**
 * If addresses must be proven, the first proof removes everything of the earlier user: password, sessions,
 * passkeys, second factor.
 */
async function takeOver(core: Core, tx: Tx, user: UserRow): Promise<UserRow> {
  const now = core.clock.now();
  await markEmailVerified(tx, user.id, now);
  if (!isFirstProof(core, user)) return { ...user, emailVerifiedAt: now };
  const removed = await removeSignInMethods(tx, user.id, { isFirstProof: true });
  await setPasswordHash(tx, user.id, null, now);
  await mailNotice(core, tx, user, "email_verified", removed);
  return { ...user, emailVerifiedAt: now, passwordHash: null };
}

/**
 * Checks the second factor if `needed`, then opens a session. `prepare` and the code are in one transaction.
 */
async function openSession(
  core: Pick<Core, "db" | "clock" | "ring">,
  userId: UserId,
  needed: boolean,
  code: string | undefined,
  request: RequestInfo,
  prepare: (tx: Tx) => Promise<UserRow>,
): Promise<OpenedSession> {
  if (needed && code === undefined) throw new ApiError("SECOND_FACTOR_REQUIRED");
  const guess = needed ? await countGuess(core, "code", userId, request) : null;
  const opened = await core.db.transaction(async (tx) => {
    const user = await prepare(tx);
    if (needed && !(await acceptCode(core, tx, userId, code ?? ""))) {
      throw new ApiError("UNAUTHORIZED", {
        message: "`code` is wrong or was already used.",
        hint: "Wait for the next code of the app, or use a backup code.",
      });
    }
    const token = await openUserSession(tx, userId, request, core.clock.now());
    return { user, token };
  });
  await guess?.succeeded();
  await rememberOrigin(core, opened.user, request.address);
  return opened;
}

function wrongCredentials(): ApiError {
  return new ApiError("UNAUTHORIZED", {
    message: "The e-mail or the password is wrong.",
    hint: "Check both, or reset the password. A new account signs in with the link in its mail first.",
  });
}

function deadLink(): ApiError {
  return new ApiError("UNAUTHORIZED", {
    message: "The link is not valid: it was used, is too old, or never existed.",
    hint: "Request a new link with POST /v1/auth/sign-in/magic-link.",
  });
}
