import { isIP } from "node:net";
import type { UserId } from "@assay/contract/ids";
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import type { Core } from "../../platform/core.ts";
import type { Queryable } from "../../platform/db/db.ts";
import { violates } from "../../platform/db/errors.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { UserCaller } from "../../platform/kernel/caller.ts";
import { later, minuteMs } from "../../platform/kernel/clock.ts";
import { hashToken, newUuid } from "../../platform/kernel/ids.ts";
import type { RequestInfo } from "../../platform/kernel/request-info.ts";
import { queueMail } from "../../platform/mails/queue-mail.ts";
import { countLink, countWork, rememberOrigin } from "./limit-guesses.ts";
import {
  findPasskeyByCredential,
  insertPasskey,
  insertPasskeyChallenge,
  listAllPasskeys,
  markPasskeyUsed,
  type PasskeyRow,
  takeChallenge,
} from "./passkey.store.ts";
import { reauthenticated, type UserProof } from "./reauthenticate.ts";
import type { OpenedSession } from "./sign-in.ts";
import { lockUser } from "./user.store.ts";
import { openUserSession } from "./user-session.ts";

const challengeLifetimeMs = 5 * minuteMs;
const maxPasskeys = 20;
// EdDSA, ES256 and RS256: the algorithms of authenticators.
const algorithms = [-8, -7, -257];

/** Imported on first use: its 300 modules are a tenth of what the start would load. */
const webAuthn = () => import("@simplewebauthn/server");

/** The relying party id. Browsers bind a passkey to a host name and refuse IP addresses. */
function relyingParty({ publicUrl }: Pick<Core, "publicUrl">): { id: string; origin: string } {
  const url = new URL(publicUrl());
  if (isIP(url.hostname) !== 0 || url.hostname.startsWith("[")) {
    throw new ApiError("PASSKEYS_UNAVAILABLE");
  }
  return { id: url.hostname, origin: url.origin };
}

async function keepChallenge(
  { clock }: Pick<Core, "clock">,
  db: Queryable,
  challenge: string,
  userId: UserId | null,
): Promise<void> {
  await insertPasskeyChallenge(db, {
    hash: hashToken(challenge),
    userId,
    expiresAt: later(clock.now(), challengeLifetimeMs),
  });
}

/** A passkey replaces password and code, so an open session alone must not add one. */
export async function offerRegistration(
  core: Core,
  caller: UserCaller,
  proof: UserProof,
): Promise<Record<string, unknown>> {
  const party = relyingParty(core);
  const known = await listAllPasskeys(core.db, caller.userId);
  if (known.length >= maxPasskeys) throw tooManyPasskeys();
  const options = await (await webAuthn()).generateRegistrationOptions({
    rpName: "Assay",
    rpID: party.id,
    userID: Uint8Array.from(handleOf(caller.userId)),
    userName: caller.email,
    userDisplayName: caller.name,
    timeout: challengeLifetimeMs,
    attestationType: "none",
    excludeCredentials: known.map((passkey) => ({
      id: passkey.credentialId.toString("base64url"),
      transports: passkey.transports,
    })),
    // A discoverable credential with user verification: found without an e-mail and unlocked by its owner, so
    // it is a complete sign-in.
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: algorithms,
  });
  await reauthenticated(core, caller, proof, (tx) =>
    keepChallenge(core, tx, options.challenge, caller.userId),
  );
  return { ...options };
}

export async function registerPasskey(
  core: Core,
  caller: UserCaller,
  name: string,
  response: RegistrationResponseJSON,
): Promise<PasskeyRow> {
  const party = relyingParty(core);
  const now = core.clock.now();
  if (!(await carriesNoCertificates(response))) throw unansweredChallenge();
  const verified = await (await webAuthn())
    .verifyRegistrationResponse({
      response,
      expectedChallenge: (challenge) => takeChallenge(core.db, hashToken(challenge), caller.userId, now),
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    })
    .catch((error: unknown) => refusedCeremony(error));
  if (!verified.verified) throw unansweredChallenge();
  const { credential, credentialBackedUp } = verified.registrationInfo;
  try {
    return await core.db.transaction(async (tx) => {
      const user = await lockUser(tx, caller.userId);
      if (user === null) throw new ApiError("UNAUTHORIZED");
      if ((await listAllPasskeys(tx, user.id)).length >= maxPasskeys) throw tooManyPasskeys();
      const passkey = await insertPasskey(tx, {
        id: newUuid(now),
        userId: user.id,
        name,
        credentialId: Buffer.from(credential.id, "base64url"),
        publicKey: Buffer.from(credential.publicKey),
        signatureCount: credential.counter,
        transports: response.response.transports ?? [],
        synced: credentialBackedUp,
        now,
      });
      await queueMail(core, tx, { to: user.email }, { kind: "passkey_added", fill: { name } });
      return passkey;
    });
  } catch (error) {
    if (violates(error, "passkeys_credential")) {
      throw new ApiError("PASSKEY_KNOWN");
    }
    throw error;
  }
}

export async function offerSignIn(core: Core, address: string): Promise<Record<string, unknown>> {
  const party = relyingParty(core);
  await countWork(core, "challenge", address);
  const options = await (await webAuthn()).generateAuthenticationOptions({
    rpID: party.id,
    timeout: challengeLifetimeMs,
    userVerification: "required",
  });
  await keepChallenge(core, core.db, options.challenge, null);
  return { ...options };
}

export async function signInWithPasskey(
  core: Core,
  response: AuthenticationResponseJSON,
  request: RequestInfo,
): Promise<OpenedSession> {
  const party = relyingParty(core);
  const now = core.clock.now();
  const attempt = await countLink(core, request.address);
  const passkey = await findPasskeyByCredential(core.db, Buffer.from(response.id, "base64url"));
  const handle = response.response.userHandle;
  if (passkey === null || (handle && handle !== handleOf(passkey.userId).toString("base64url"))) {
    throw unknownPasskey();
  }
  const verified = await (await webAuthn())
    .verifyAuthenticationResponse({
      response,
      expectedChallenge: (challenge) => takeChallenge(core.db, hashToken(challenge), null, now),
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      credential: {
        id: passkey.credentialId.toString("base64url"),
        publicKey: Uint8Array.from(passkey.publicKey),
        counter: passkey.signatureCount,
      },
    })
    .catch((error: unknown) => refusedCeremony(error));
  if (!verified.verified) throw unknownPasskey();
  const { newCounter, credentialBackedUp } = verified.authenticationInfo;
  const opened = await core.db.transaction(async (tx) => {
    const user = await lockUser(tx, passkey.userId);
    const use = { signatureCount: newCounter, synced: credentialBackedUp, now };
    if (user === null || !(await markPasskeyUsed(tx, passkey.id, use))) throw unknownPasskey();
    return { user, token: await openUserSession(tx, user.id, request, now) };
  });
  await attempt.succeeded();
  await rememberOrigin(core, opened.user, request.address);
  return opened;
}

/** The name of the account inside the authenticator. */
function handleOf(userId: UserId): Buffer {
  return Buffer.from(userId.replaceAll("-", ""), "hex");
}

/**
 * The library throws for every wrong answer, with messages that quote the input; our own error replaces them.
 * Database errors pass through.
 */
function refusedCeremony(error: unknown): { verified: false } {
  if (error instanceof Error && "severity" in error) throw error;
  return { verified: false };
}

/**
 * We request no attestation, so a valid answer has none, or one signed by the passkey itself. Certificates
 * are refused unread: checking them would fetch revocation lists from addresses in them.
 */
async function carriesNoCertificates(response: RegistrationResponseJSON): Promise<boolean> {
  const { decodeAttestationObject } = await import("@simplewebauthn/server/helpers");
  try {
    const bytes = Uint8Array.from(Buffer.from(response.response.attestationObject, "base64url"));
    const attestation = decodeAttestationObject(bytes);
    const format = attestation.get("fmt");
    return format === "none" || (format === "packed" && attestation.get("attStmt").get("x5c") === undefined);
  } catch {
    return false;
  }
}

function unansweredChallenge(): ApiError {
  return new ApiError("PASSKEY_RESPONSE_INVALID");
}

function unknownPasskey(): ApiError {
  return new ApiError("UNAUTHORIZED", {
    message: "The passkey is unknown, or its answer is not valid.",
    hint: "Start again with POST /v1/auth/sign-in/passkey/options, or sign in another way.",
  });
}

function tooManyPasskeys(): ApiError {
  return new ApiError("PASSKEY_LIMIT_REACHED", {
    message: `An account has at most ${maxPasskeys} passkeys.`,
    hint: "Delete one that you no longer use.",
  });
}
