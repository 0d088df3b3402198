import { type TProperties, Type } from "typebox";
import { emailPattern, maxEmailLength } from "./email.ts";
import { mailLanguages } from "./facts.ts";
import type { OrganizationId, PasskeyId, UserId, UserSessionId } from "./ids.ts";
import { pageQuery } from "./page.ts";
import { routesOf } from "./route.ts";
import { closed, Nullable, named, OneOf, open, Text, Timestamp, UuidOf } from "./schema.ts";

const route = routesOf("Account");
const signInRoute = routesOf("Sign-in");

export const Email = Type.String({
  maxLength: maxEmailLength,
  pattern: emailPattern,
  description:
    "An ASCII local part without quotes, and a domain, which may be internationalized. Capital letters make no difference; the domain is kept in its ASCII form.",
  examples: ["ada@example.com"],
});

export const Password = Type.String({
  minLength: 10,
  maxLength: 200,
  description:
    "At least 10 characters. Easily guessed passwords are refused: repetitions, sequences such as `1234567890`, the most common passwords, your name or e-mail.",
});

/** A password as it was set: rules of today must not refuse one that was set under other rules. */
const ExistingPassword = Type.String({ minLength: 1, maxLength: 200 });

export const PersonName = Text({ max: 120, examples: ["Ada Lovelace"] });

const Code = Type.String({
  minLength: 6,
  maxLength: 40,
  description: "A code of the authenticator app, or a backup code. Each works once.",
  examples: ["492039"],
});

/** Either one shows that the account's owner makes the request, not a person who found an open session. */
const proof = {
  password: Type.Optional(ExistingPassword),
  code: Type.Optional(Code),
};

const MailedToken = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "The token at the end of the mailed link.",
});

export const User = open("User", {
  id: UuidOf<UserId>(),
  name: PersonName,
  email: Email,
  email_verified: Type.Boolean(),
  created_at: Timestamp,
});

export const SignedIn = open("SignedIn", {
  token: Type.String({
    description: "Access token for `Authorization: Bearer`. The session cookie holds the same.",
  }),
  user: User,
});

export const MailRequested = open("MailRequested", {
  accepted: Type.Boolean({
    description: "Always true, whether or not a mail is sent.",
  }),
});

export const SignUpBody = closed("SignUpBody", { name: PersonName, email: Email, password: Password });

export const SignedUp = open("SignedUp", {
  token: Nullable(
    Type.String({
      description:
        "Access token, as from signing in. Null with 202: the new account signs in with the link in its mail.",
    }),
  ),
  user: Nullable(User),
});

export const signUpModes = ["open", "invited", "closed"] as const;

export const readSignUp = signInRoute("GET /v1/auth/sign-up", {
  id: "readSignUp",
  summary: "Read who may sign up",
  access: { public: true },
  reply: {
    status: 200,
    data: open("SignUpRules", {
      mode: OneOf(signUpModes, {
        description:
          "`invited`: only an address that an organization has invited. `closed`: sign-ups are off.",
      }),
      email_verification_required: Type.Boolean({
        description: "Whether a new account signs in with a mailed link first.",
      }),
    }),
  },
});

/** Codes of routes that require the password or a code again. */
const reauthenticationErrors = [
  "REAUTHENTICATION_REQUIRED",
  "REAUTHENTICATION_FAILED",
  "REAUTHENTICATION_CODE_UNUSABLE",
  "SECOND_FACTOR_CODE_INVALID",
] as const;

export const signUp = signInRoute("POST /v1/auth/sign-up/email", {
  id: "signUp",
  summary: "Create an account",
  description:
    "If the service sends no mail: 201 and signed in, or 409 `EMAIL_TAKEN` for an address that has an account. If it does: always 202 without token and user. A new account gets a link that verifies the address; signing in with its `verification_token` needs the password too. An existing account gets a notice of the attempt.",
  access: { public: true },
  body: SignUpBody,
  reply: { status: 201, data: SignedUp, also: 202 },
  errors: ["EMAIL_TAKEN", "INVITATION_REQUIRED", "RATE_LIMITED", "SIGN_UP_CLOSED"],
});

export const signIn = signInRoute("POST /v1/auth/sign-in/email", {
  id: "signIn",
  summary: "Sign in with e-mail and password",
  description:
    "With a second factor the first answer to the right password is `SECOND_FACTOR_REQUIRED`; repeat the request with `code`.",
  access: { public: true },
  body: closed({
    email: Email,
    password: ExistingPassword,
    code: Type.Optional(Code),
    verification_token: Type.Optional({
      ...MailedToken,
      description:
        "The token of the link that verifies the e-mail. If the service sends mail, an account with an unverified e-mail signs in with it, and is then verified.",
    }),
  }),
  reply: { status: 200, data: SignedIn },
  errors: ["UNAUTHORIZED", "SECOND_FACTOR_REQUIRED", "RATE_LIMITED"],
});

export const signOut = signInRoute("POST /v1/auth/sign-out", {
  id: "signOut",
  summary: "Sign out",
  description: "Ends the session of this access token or cookie.",
  access: { user: true },
  reply: { status: 204 },
});

export const requestMagicLink = signInRoute("POST /v1/auth/sign-in/magic-link", {
  id: "requestMagicLink",
  summary: "Mail a link that signs in",
  description:
    "The answer is the same whether or not the address has an account. The link works once, for 15 minutes.",
  access: { public: true },
  body: closed({ email: Email }),
  reply: { status: 202, data: MailRequested },
  errors: ["RATE_LIMITED"],
});

export const verifyMagicLink = signInRoute("POST /v1/auth/sign-in/magic-link/verify", {
  id: "verifyMagicLink",
  summary: "Sign in with a mailed link",
  description: "A missing or wrong second factor does not use the link up.",
  access: { public: true },
  body: closed({ token: MailedToken, code: Type.Optional(Code) }),
  reply: { status: 200, data: SignedIn },
  errors: ["UNAUTHORIZED", "SECOND_FACTOR_REQUIRED", "RATE_LIMITED"],
});

// Browsers add fields to these objects as the standard grows, so unlisted fields are accepted and ignored.
const bytes = (maxLength: number) => Type.String({ maxLength, pattern: "^[A-Za-z0-9_-]*$" });
const credential = <T extends TProperties>(response: T) =>
  open({
    id: Type.String({ minLength: 1, maxLength: 1400, pattern: "^[A-Za-z0-9_-]+$" }),
    rawId: Type.String({ minLength: 1, maxLength: 1400, pattern: "^[A-Za-z0-9_-]+$" }),
    type: Type.Literal("public-key"),
    response: open(response),
    clientExtensionResults: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    authenticatorAttachment: Type.Optional(Nullable(Type.String({ maxLength: 40 }))),
  });

const PasskeyAssertion = named(
  "PasskeyAssertion",
  credential({
    clientDataJSON: bytes(8000),
    authenticatorData: bytes(8000),
    signature: bytes(8000),
    userHandle: Type.Optional(Nullable(bytes(200))),
  }),
);

const PasskeyAttestation = named(
  "PasskeyAttestation",
  credential({
    clientDataJSON: bytes(8000),
    attestationObject: bytes(40_000),
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 40 }), { maxItems: 10 })),
  }),
);

export const PasskeyOptions = open("PasskeyOptions", {
  options: Type.Record(Type.String(), Type.Unknown(), {
    description: "For `PublicKeyCredential.parseRequestOptionsFromJSON` or `parseCreationOptionsFromJSON`.",
  }),
});

const PasskeyName = Text({ max: 80, examples: ["Work laptop"] });

export const Passkey = open("Passkey", {
  id: UuidOf<PasskeyId>(),
  name: PasskeyName,
  synced: Type.Boolean({ description: "Whether the passkey is backed up beyond one device." }),
  created_at: Timestamp,
  last_used_at: Nullable(Timestamp),
});

export const startPasskeySignIn = signInRoute("POST /v1/auth/sign-in/passkey/options", {
  id: "startPasskeySignIn",
  summary: "Begin to sign in with a passkey",
  description: "The challenge works once, for 5 minutes.",
  access: { public: true },
  reply: { status: 200, data: PasskeyOptions },
  errors: ["PASSKEYS_UNAVAILABLE", "RATE_LIMITED"],
});

export const finishPasskeySignIn = signInRoute("POST /v1/auth/sign-in/passkey/verify", {
  id: "finishPasskeySignIn",
  // What the fields may hold together.
  maxBodyBytes: 32 * 1024,
  summary: "Sign in with a passkey",
  description: "A passkey is unlocked on its device, so it counts as both factors: no code is asked for.",
  access: { public: true },
  body: closed({ response: PasskeyAssertion }),
  reply: { status: 200, data: SignedIn },
  errors: ["UNAUTHORIZED", "PASSKEYS_UNAVAILABLE", "RATE_LIMITED"],
});

export const startPasskeyRegistration = route("POST /v1/auth/passkeys/options", {
  id: "startPasskeyRegistration",
  summary: "Begin to add a passkey",
  description:
    "Needs `password` or `code`. The challenge works once, for 5 minutes. Where the service sends mail, the e-mail must be verified.",
  access: { user: true },
  body: closed(proof),
  bodyOptional: true,
  reply: { status: 200, data: PasskeyOptions },
  errors: [
    ...reauthenticationErrors,
    "PASSKEYS_UNAVAILABLE",
    "PASSKEY_LIMIT_REACHED",
    "EMAIL_NOT_VERIFIED",
    "RATE_LIMITED",
  ],
});

export const registerPasskey = route("POST /v1/auth/passkeys", {
  id: "registerPasskey",
  // What the fields may hold together.
  maxBodyBytes: 64 * 1024,
  summary: "Add a passkey",
  access: { user: true },
  body: closed({ name: PasskeyName, response: PasskeyAttestation }),
  reply: { status: 201, data: Passkey },
  errors: [
    "PASSKEYS_UNAVAILABLE",
    "PASSKEY_KNOWN",
    "PASSKEY_LIMIT_REACHED",
    "PASSKEY_RESPONSE_INVALID",
    "EMAIL_NOT_VERIFIED",
  ],
});

export const listPasskeys = route("GET /v1/auth/passkeys", {
  id: "listPasskeys",
  summary: "List own passkeys",
  access: { user: true },
  query: pageQuery(UuidOf<PasskeyId>(), {}),
  reply: { status: 200, list: Passkey },
});

export const renamePasskey = route("PATCH /v1/auth/passkeys/:id", {
  id: "renamePasskey",
  summary: "Rename a passkey",
  access: { user: true },
  params: closed({ id: UuidOf<PasskeyId>() }),
  body: closed({ name: PasskeyName }),
  reply: { status: 200, data: Passkey },
  errors: ["NOT_FOUND"],
});

export const deletePasskey = route("DELETE /v1/auth/passkeys/:id", {
  id: "deletePasskey",
  summary: "Delete a passkey",
  access: { user: true },
  params: closed({ id: UuidOf<PasskeyId>() }),
  reply: { status: 204 },
  errors: ["NOT_FOUND"],
});

const TotpCodeBody = closed("TotpCodeBody", { code: Code });

const BackupCodes = open("BackupCodes", {
  backup_codes: Type.Array(Type.String(), {
    description: "Ten codes, each of which replaces one code of the app. Shown only here.",
  }),
});

export const startTotp = route("POST /v1/auth/account/totp/start", {
  id: "startTotp",
  summary: "Begin to turn on the second factor",
  description:
    "Needs `password` or `code`. Gives a new secret for an authenticator app. Nothing changes until it is confirmed with a code. Where the service sends mail, the e-mail must be verified.",
  access: { user: true },
  body: closed(proof),
  bodyOptional: true,
  reply: {
    status: 200,
    data: open("TotpSecret", {
      secret: Type.String({ description: "Base32, for typing it in. Shown only here." }),
      otpauth_uri: Type.String({ description: "For a QR code." }),
    }),
  },
  errors: [...reauthenticationErrors, "SECOND_FACTOR_ON", "EMAIL_NOT_VERIFIED", "RATE_LIMITED"],
});

export const confirmTotp = route("POST /v1/auth/account/totp/confirm", {
  id: "confirmTotp",
  summary: "Turn on the second factor",
  access: { user: true },
  body: TotpCodeBody,
  reply: { status: 200, data: BackupCodes },
  errors: ["SECOND_FACTOR_CODE_INVALID", "SECOND_FACTOR_NOT_STARTED", "SECOND_FACTOR_ON", "RATE_LIMITED"],
});

export const disableTotp = route("POST /v1/auth/account/totp/disable", {
  id: "disableTotp",
  summary: "Turn off the second factor",
  description: "Its secret and backup codes are deleted.",
  access: { user: true },
  body: TotpCodeBody,
  reply: { status: 204 },
  errors: ["SECOND_FACTOR_CODE_INVALID", "SECOND_FACTOR_OFF", "RATE_LIMITED"],
});

export const regenerateBackupCodes = route("POST /v1/auth/account/totp/backup-codes", {
  id: "regenerateBackupCodes",
  summary: "Replace the backup codes",
  description: "The previous codes stop working.",
  access: { user: true },
  body: TotpCodeBody,
  reply: { status: 200, data: BackupCodes },
  errors: ["SECOND_FACTOR_CODE_INVALID", "SECOND_FACTOR_OFF", "RATE_LIMITED"],
});

export const Account = open("Account", {
  id: UuidOf<UserId>(),
  name: PersonName,
  email: Email,
  email_verified: Type.Boolean(),
  email_verification_required: Type.Boolean({
    description: "Whether this service demands a verified e-mail before an organization can be created.",
  }),
  language: Nullable(
    OneOf(mailLanguages, {
      description:
        "The language of mails to the account: at first that of the browser that signed up. Null: unknown, mails are in English.",
    }),
  ),
  has_password: Type.Boolean(),
  totp_enabled: Type.Boolean(),
  backup_codes_left: Type.Integer(),
  passkey_count: Type.Integer(),
  is_operator: Type.Boolean({
    description: "Whether the operator of this service lets the account see the operator's page.",
  }),
  created_at: Timestamp,
});

export const getAccount = route("GET /v1/auth/account", {
  id: "getAccount",
  summary: "Get own account",
  access: { user: true },
  reply: { status: 200, data: Account },
});

export const updateAccount = route("PATCH /v1/auth/account", {
  id: "updateAccount",
  summary: "Change your name and the language of mails",
  access: { user: true },
  body: closed({ name: PersonName, language: Type.Optional(OneOf(mailLanguages)) }),
  reply: { status: 200, data: Account },
});

export const changePassword = route("POST /v1/auth/account/password", {
  id: "changePassword",
  summary: "Change own password",
  description: "Every other session is signed out.",
  access: { user: true },
  body: closed({ current_password: ExistingPassword, new_password: Password }),
  reply: { status: 204 },
  errors: ["REAUTHENTICATION_FAILED", "PASSWORD_NOT_SET", "CONFLICT", "RATE_LIMITED"],
});

export const requestPasswordReset = signInRoute("POST /v1/auth/password/forgot", {
  id: "requestPasswordReset",
  summary: "Mail a link that resets the password",
  description:
    "The answer is the same whether or not the address has an account. The link works once, for an hour.",
  access: { public: true },
  body: closed({ email: Email }),
  reply: { status: 202, data: MailRequested },
  errors: ["RATE_LIMITED"],
});

export const resetPassword = signInRoute("POST /v1/auth/password/reset", {
  id: "resetPassword",
  summary: "Set a new password with a mailed link",
  description:
    "Every session of the account is signed out, and its passkeys are removed: they would sign in without the password. A second factor stays on, unless the e-mail was never proven before.",
  access: { public: true },
  body: closed({ token: MailedToken, password: Password }),
  reply: { status: 204 },
  errors: ["MAILED_TOKEN_INVALID", "RATE_LIMITED"],
});

export const requestEmailChange = route("POST /v1/auth/account/email", {
  id: "requestEmailChange",
  summary: "Ask to change your e-mail",
  description:
    "Needs `password` or `code`. A link goes to the new address, a notice to the present one; nothing changes until the link is confirmed.",
  access: { user: true },
  body: closed({ email: Email, ...proof }),
  reply: { status: 202, data: MailRequested },
  errors: [...reauthenticationErrors, "EMAIL_UNCHANGED", "RATE_LIMITED"],
});

const TokenBody = closed("MailedTokenBody", { token: MailedToken });

export const confirmEmailChange = route("POST /v1/auth/account/email/confirm", {
  id: "confirmEmailChange",
  summary: "Confirm the new e-mail",
  description:
    "By the signed-in user who asked for it, with the token mailed to the new address. It works once, for an hour.",
  access: { user: true },
  body: TokenBody,
  reply: { status: 200, data: Account },
  errors: ["EMAIL_TAKEN", "MAILED_TOKEN_INVALID"],
});

export const requestEmailVerification = route("POST /v1/auth/account/email/verification", {
  id: "requestEmailVerification",
  summary: "Mail a link that verifies your e-mail",
  access: { user: true },
  reply: { status: 202, data: MailRequested },
  errors: ["RATE_LIMITED"],
});

export const verifyEmail = route("POST /v1/auth/account/email/verify", {
  id: "verifyEmail",
  summary: "Verify own e-mail",
  description:
    "Only the signed-in user of the account can confirm. So a person whose address was used by another does not verify it with a click. The link works for a day.",
  access: { user: true },
  body: TokenBody,
  reply: { status: 200, data: Account },
  errors: ["MAILED_TOKEN_INVALID"],
});

export const UserSession = open("UserSession", {
  id: UuidOf<UserSessionId>(),
  current: Type.Boolean({ description: "Whether it is the session of this request." }),
  user_agent: Type.String(),
  created_at: Timestamp,
  last_seen_at: Timestamp,
});

export const listUserSessions = route("GET /v1/auth/account/sessions", {
  id: "listUserSessions",
  summary: "List where you are signed in",
  access: { user: true },
  query: pageQuery(UuidOf<UserSessionId>(), {}),
  reply: { status: 200, list: UserSession },
});

export const revokeUserSession = route("DELETE /v1/auth/account/sessions/:id", {
  id: "revokeUserSession",
  summary: "Sign out one session",
  access: { user: true },
  params: closed({ id: UuidOf<UserSessionId>() }),
  reply: { status: 204 },
  errors: ["NOT_FOUND"],
});

export const revokeOtherUserSessions = route("POST /v1/auth/account/sessions/revoke-others", {
  id: "revokeOtherUserSessions",
  summary: "Sign out everywhere else",
  access: { user: true },
  reply: { status: 204 },
});

export const deleteAccount = route("POST /v1/auth/account/delete", {
  id: "deleteAccount",
  summary: "Delete own account",
  description:
    "Needs `password` or `code`. Refused while you are the sole owner of an organization: hand it over or delete it first.",
  access: { user: true },
  body: closed(proof),
  reply: { status: 204 },
  errors: [...reauthenticationErrors, "SOLE_OWNER", "RATE_LIMITED"],
});

export const listOwnedOrganizations = route("GET /v1/auth/account/owned-organizations", {
  id: "listOwnedOrganizations",
  summary: "List the organizations of which you are the sole owner",
  access: { user: true },
  reply: {
    status: 200,
    data: open("OwnedOrganizations", {
      organizations: Type.Array(
        open("OwnedOrganization", { id: UuidOf<OrganizationId>(), name: Type.String(), slug: Type.String() }),
      ),
    }),
  },
});

export const accountRoutes = [...signInRoute.declared, ...route.declared];
