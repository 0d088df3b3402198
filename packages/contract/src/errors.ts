import { idLengths, templatesPerEnvironment } from "./facts.ts";

/**
 * Every error code with its status, message and hint. Code that raises an error may give a more precise
 * message. Codes are stable, the sentences are not.
 */
export type ErrorDefinition = { status: number; message: string; hint: string };

export const errorTable = {
  // Everywhere
  UNAUTHORIZED: {
    status: 401,
    message: "The credentials are missing or not valid.",
    hint: "Send `Authorization: Bearer <API key>` with a key that exists and is enabled, or sign in again.",
  },
  FORBIDDEN: {
    status: 403,
    message: "The caller may not do this.",
    hint: "Use a key with the scope, or a user with the role, that this operation needs.",
  },
  ROLE_REQUIRED: {
    status: 403,
    message: "This needs a higher role in the organization.",
    hint: "Ask an owner of the organization to do it, or to give you the role.",
  },
  API_KEY_NOT_ALLOWED: {
    status: 403,
    message: "API keys cannot use this route.",
    hint: "Sign in as a user of the organization.",
  },
  FOREIGN_ORIGIN: {
    status: 403,
    message: "Pages of other sites may not call this route.",
    hint: "Call the API from a server with an API key or an access token.",
  },
  NOT_FOUND: {
    status: 404,
    message: "There is no such resource.",
    hint: "Check the path and the identifier, and that the resource belongs to your organization.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: "This path does not support this method.",
    hint: "Use one of the methods that the header `Allow` names.",
  },
  BAD_REQUEST: {
    status: 400,
    message: "The request is not well formed.",
    hint: "Correct the field that the message names.",
  },
  INVALID_REQUEST: {
    status: 400,
    message: "The request is well formed but cannot be carried out.",
    hint: "Correct the value that the message names.",
  },
  PERIOD_INVALID: {
    status: 400,
    message: "The period is empty or too long.",
    hint: "Choose a start before the end, or a shorter period.",
  },
  OTHER_ENVIRONMENT: {
    status: 400,
    message: "The request names an environment that is not the caller's.",
    hint: "Use a key of that environment. Users choose it with a header.",
  },
  CONFLICT: {
    status: 409,
    message: "The resource is not in a state that allows this.",
    hint: "Read the resource again and decide by its current state.",
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: "The request body is larger than this route accepts.",
    hint: "Send a smaller body.",
  },
  REQUEST_HEADERS_TOO_LARGE: {
    status: 431,
    message: "The address and the headers of the request are larger than 16 KiB.",
    hint: "Send fewer or shorter headers; cookies of other services on the same host are the usual cause.",
  },
  REQUEST_TIMEOUT: {
    status: 408,
    message: "The request did not arrive in time.",
    hint: "Send the whole request within 20 seconds.",
  },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    message: "Something went wrong on our side.",
    hint: "Try again after a short wait. If the error persists, give the operator the X-Request-Id of this answer. The API log in the dashboard finds the request by it.",
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: "The service cannot answer right now.",
    hint: "Try again after a short wait.",
  },
  REQUEST_RATE_EXCEEDED: {
    status: 503,
    message: "The organization exceeds its limit of requests per second.",
    hint: "Nothing was done. Try again after the time in `Retry-After`, and send fewer requests at once. The API log in the dashboard shows the limit.",
  },
  ORGANIZATION_FROZEN: {
    status: 410,
    message: "The organization is scheduled for deletion.",
    hint: "An owner or admin can cancel the deletion with POST /v1/auth/orgs/cancel-delete; keys then work again.",
  },
  ORGANIZATION_REQUIRED: {
    status: 400,
    message: "No organization is selected.",
    hint: "Create one with POST /v1/auth/orgs or choose one with POST /v1/auth/orgs/active.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 409,
    message: "This Idempotency-Key was used with another request.",
    hint: "Use a new key for a new request; repeat a key only with the same body.",
  },
  RATE_LIMITED: {
    status: 429,
    message: "Too many attempts.",
    hint: "Wait for the number of seconds in Retry-After.",
  },

  // Accounts
  SECOND_FACTOR_REQUIRED: {
    status: 401,
    message: "The account has a second factor.",
    hint: "Repeat the request with `code`: a code of the authenticator app, or a backup code.",
  },
  EMAIL_NOT_VERIFIED: {
    status: 403,
    message: "The e-mail of the account is not verified.",
    hint: "Open the link in the mail that came after signing up, or ask for a new one with POST /v1/auth/account/email/verification.",
  },
  SIGN_UP_CLOSED: {
    status: 403,
    message: "This service does not accept sign-ups.",
    hint: "Ask the operator for an account.",
  },
  INVITATION_REQUIRED: {
    status: 403,
    message: "Signing up requires an invitation to `email`.",
    hint: "Ask an organization to invite this address, and sign up while the invitation is valid.",
  },
  EMAIL_TAKEN: {
    status: 409,
    message: "An account with this `email` exists already.",
    hint: "Sign in, reset the password of that account, or choose another e-mail.",
  },
  EMAIL_UNCHANGED: {
    status: 400,
    message: "The account already has this `email`.",
    hint: "Send another e-mail.",
  },
  MAILED_TOKEN_INVALID: {
    status: 400,
    message: "`token` is not valid: it was used, is too old, or belongs to another account.",
    hint: "Ask for a new mail and use its link.",
  },
  REAUTHENTICATION_REQUIRED: {
    status: 400,
    message: "`password` or `code` is required.",
    hint: "Send the password, or a code of the second factor. An account without either sets a password with POST /v1/auth/password/forgot.",
  },
  REAUTHENTICATION_FAILED: {
    status: 400,
    message: "`password` or `code` is wrong.",
    hint: "Check it, or reset the password with POST /v1/auth/password/forgot.",
  },
  REAUTHENTICATION_CODE_UNUSABLE: {
    status: 400,
    message: "`code` cannot be used: the account has no second factor.",
    hint: "Send `password` instead.",
  },
  PASSWORD_NOT_SET: {
    status: 409,
    message: "The account has no password.",
    hint: "Set one with POST /v1/auth/password/forgot.",
  },
  SECOND_FACTOR_NOT_STARTED: {
    status: 409,
    message: "There is nothing to confirm.",
    hint: "Begin with POST /v1/auth/account/totp/start.",
  },
  SECOND_FACTOR_OFF: {
    status: 409,
    message: "The account has no second factor.",
    hint: "Turn it on with POST /v1/auth/account/totp/start.",
  },
  SECOND_FACTOR_ON: {
    status: 409,
    message: "The second factor is on.",
    hint: "Turn it off with POST /v1/auth/account/totp/disable before setting up another.",
  },
  SECOND_FACTOR_CODE_INVALID: {
    status: 400,
    message: "`code` is wrong or was used before.",
    hint: "Wait for the next code of the app, or use a backup code.",
  },
  PASSKEYS_UNAVAILABLE: {
    status: 409,
    message: "Passkeys do not work with an IP address.",
    hint: "Ask the operator to set PUBLIC_URL to an address with a host name, for example http://localhost:3000.",
  },
  PASSKEY_KNOWN: {
    status: 409,
    message: "This passkey was added before.",
    hint: "Use another device or another security key.",
  },
  PASSKEY_LIMIT_REACHED: {
    status: 409,
    message: "The account has reached its limit of passkeys.",
    hint: "Delete one that is no longer used.",
  },
  PASSKEY_RESPONSE_INVALID: {
    status: 400,
    message: "`response` does not answer a challenge of this service.",
    hint: "Begin again with POST /v1/auth/passkeys/options; a challenge works once, for 5 minutes.",
  },
  SOLE_OWNER: {
    status: 409,
    message: "You are the sole owner of an organization.",
    hint: "Make another member an owner, or delete the organization, then try again.",
  },

  // Sessions
  UNKNOWN_CLAIM_KEY: {
    status: 400,
    message: "A key of `share_fields` is not one that can be shared.",
    hint: "Use only the keys that the reference lists for `share_fields`.",
  },
  UNKNOWN_TEMPLATE: {
    status: 400,
    message: "`template` names no template of your organization in this environment.",
    hint: "Use the id or the name of a template; GET /v1/templates lists them.",
  },
  TEMPLATE_NAME_TAKEN: {
    status: 409,
    message: "Another template has this `name`; case makes no difference.",
    hint: "Choose another name, or change the template that has it.",
  },
  TEMPLATE_LIMIT_REACHED: {
    status: 409,
    message: "The organization has reached its limit of templates in this environment.",
    hint: `An organization may have ${templatesPerEnvironment} templates in each environment. Delete one that is not used.`,
  },
  SESSION_NOT_FOUND: {
    status: 404,
    message: "There is no such session.",
    hint: "Check the session id, and that the session belongs to your organization.",
  },
  INVALID_SESSION_ID: {
    status: 400,
    message: "The session id is not well formed.",
    hint: `A session id is \`vs_\` and ${idLengths.vs} letters and digits.`,
  },
  SESSION_EXPIRED: {
    status: 409,
    message: "The session has expired.",
    hint: "Create a new session.",
  },
  SESSION_IN_PROGRESS: {
    status: 409,
    message: "A device is working on this session.",
    hint: "Wait for the outcome, or try again once the device has been silent for 60 seconds.",
  },

  // Verify flow
  SESSION_ENDED: {
    status: 409,
    message: "The session has ended.",
    hint: "Read its status; for another verification the partner creates a new session.",
  },
  CONSENT_REQUIRED: {
    status: 409,
    message: "The person has not agreed yet.",
    hint: "Send POST …/consent first.",
  },
  CONSENT_TEXTS_CHANGED: {
    status: 409,
    message: "The texts that the person agreed to have changed.",
    hint: "Show the current texts and ask again.",
  },
  FIELD_NOT_ASKED: {
    status: 400,
    message: "A chosen field was not requested.",
    hint: "Choose only keys of `share_fields`.",
  },
  REQUIRED_FIELD_DECLINED: {
    status: 400,
    message: "A required field was left out.",
    hint: "Include it. A person who does not want to share it can cancel the session.",
  },
  CONSENT_FIXED: {
    status: 409,
    message: "A device has claimed the session, so the choice can no longer change.",
    hint: "Cancel the session to share nothing.",
  },
  HANDOFF_TOKEN_INVALID: {
    status: 401,
    message: "`handoff_token` is not a token of this session.",
    hint: "Show a fresh QR code with POST …/handoff and scan it again.",
  },
  HANDOFF_TOKEN_EXPIRED: {
    status: 401,
    message: "`handoff_token` is older than 5 minutes.",
    hint: "Show a fresh QR code with POST …/handoff and scan it again.",
  },
  HANDOFF_TOKEN_CONSUMED: {
    status: 409,
    message: "A `handoff_token` of this session was claimed already.",
    hint: "If that was not you, cancel the session. To continue, scan a fresh QR code.",
  },
  HANDOFF_DEVICE_MISMATCH: {
    status: 403,
    message: "Another device has claimed this session.",
    hint: "Continue on that device. To change devices, make a handoff with the `cancel_token` of the consent.",
  },
  OTHER_BROWSER: {
    status: 403,
    message: "The organization requires one browser for the whole session, and another one opened it first.",
    hint: "Continue in the browser that opened the session first, or ask the organization for a new link.",
  },
  WALLET_NOT_OFFERED: {
    status: 409,
    message: "The session cannot be answered by a wallet in this way.",
    hint: "Use a channel and a method of `ways` in the details of the session.",
  },
  WALLET_REQUEST_NOT_FOUND: {
    status: 404,
    message: "There is no such request to a wallet.",
    hint: "Ask the wallet again with POST …/wallet.",
  },
  WALLET_REQUEST_EXPIRED: {
    status: 409,
    message: "The request to the wallet has expired, or a newer one took its place.",
    hint: "Ask the wallet again with POST …/wallet.",
  },
  WALLET_ANSWERED: {
    status: 409,
    message: "The request to the wallet was answered already.",
    hint: "Read the outcome with GET …/status, or ask the wallet again with POST …/wallet.",
  },
  WALLET_OTHER_BROWSER: {
    status: 403,
    message: "Another browser made the request to the wallet.",
    hint: "Continue in the browser that made the request, or ask the wallet again in this one. The wallet's answer was erased.",
  },
  CANCEL_TOKEN_INVALID: {
    status: 401,
    message: "`cancel_token` is not a token of this session.",
    hint: "Send the token from agreeing or from creating the session.",
  },
  CANCEL_TOKEN_USED: {
    status: 409,
    message: "`cancel_token` was used already.",
    hint: "Read the session's status; there is nothing more to cancel with this token.",
  },
  LOGO_NOT_FOUND: {
    status: 404,
    message: "There is no logo to show.",
    hint: "Show the organization's name. A logo needs an active verified domain and a `logo_url`. The URL must return a PNG, JPEG or WebP of at most 256 kB and 2000 pixels a side with status 200.",
  },
  WEBSOCKET_REQUIRED: {
    status: 426,
    message: "This address is a WebSocket.",
    hint: "Connect with `Upgrade: websocket` and the sub-protocol that the documentation names.",
  },

  // Organization administration
  ORGANIZATION_LIMIT_REACHED: {
    status: 409,
    message: "This account has reached its limit of organizations.",
    hint: "Delete an organization that you do not need, or ask the operator to raise ORGANIZATIONS_PER_USER.",
  },
  DOMAIN_CHALLENGE_LIMIT_REACHED: {
    status: 409,
    message: "The limit of domain challenges is reached.",
    hint: "Publish the records of the challenges that are open, or wait until some expire.",
  },
  APEX_INVALID: {
    status: 422,
    message: "`apex_domain` does not belong to a registrable domain.",
    hint: "Give a domain like example.com: not an address, not a public suffix like co.uk, no scheme or path.",
  },
  CHALLENGE_NOT_FOUND: {
    status: 404,
    message: "There is no such challenge.",
    hint: "Begin again with POST /v1/auth/orgs/domains/challenges/dns.",
  },
  CHALLENGE_EXPIRED: {
    status: 409,
    message: "The challenge is older than 7 days.",
    hint: "Begin again with POST /v1/auth/orgs/domains/challenges/dns and publish the new record.",
  },
  DNS_NOT_PROPAGATED: {
    status: 409,
    message: "The TXT record was not found.",
    hint: "A new record can take from minutes to a day to become visible. Try again later.",
  },
  APEX_TAKEOVER_REQUIRED: {
    status: 409,
    message: "Another organization holds this domain.",
    hint: "Send `acknowledge_takeover: true` to take the domain over. The owners of that organization get a mail.",
  },
  UPSTREAM_ERROR: {
    status: 502,
    message: "The DNS resolvers answered with an error.",
    hint: "Check that the domain's name servers work, then try again.",
  },
  UPSTREAM_UNAVAILABLE: {
    status: 503,
    message: "No DNS resolver answered.",
    hint: "Try again after a short wait.",
  },
  DOMAIN_NOT_VERIFIED: {
    status: 422,
    message: "`pattern` is not on a verified domain of the organization.",
    hint: "Verify the domain first with POST /v1/auth/orgs/domains/challenges/dns.",
  },

  // Webhooks
  WEBHOOK_URL_REJECTED: {
    status: 400,
    message: "`url` is not a safe address to send to.",
    hint: "Give an https:// URL without credentials whose host is a public name or address.",
  },
  ENDPOINT_DISABLED: {
    status: 409,
    message: "The endpoint is disabled.",
    hint: "Enable it, then try again.",
  },
  SAMPLE_NOT_IN_LIVE: {
    status: 409,
    message: "Samples of this event are sent in the sandbox only.",
    hint: "Send `webhook.endpoint.test`, or use the sandbox.",
  },
  DELIVERY_NOT_WAITING: {
    status: 409,
    message: "The delivery is not waiting for this answer.",
    hint: "It has timed out, was answered, or is being sent again.",
  },
  LISTENER_LIMIT_REACHED: {
    status: 409,
    message: "The limit of listener streams is reached.",
    hint: "End a listener that is not needed.",
  },
  SANDBOX_KEY_REQUIRED: {
    status: 409,
    message: "This works with a sandbox key only.",
    hint: "Use a sandbox key.",
  },
  SESSION_IS_LIVE: {
    status: 403,
    message: "Only the person can finish a live session.",
    hint: "Create a sandbox session for a test.",
  },
  TEST_DEVICE_REFUSED: {
    status: 400,
    message: "The test device could not continue.",
    hint: "Read the session. If it has ended, create another one.",
  },
  WEBHOOK_PAYLOAD_EXPIRED: {
    status: 409,
    message: "The payload is no longer stored.",
    hint: "Payloads are scrubbed once delivered and after the endpoint's retention. Read the session for its outcome.",
  },

  AGENTS_MAY_NOT_CHANGE_WEBHOOKS: {
    status: 403,
    message: "Agents of this organization may not change where results go.",
    hint: "An owner turns on “Agents may change where results go” in the dashboard under Settings, or sends PATCH /v1/auth/orgs with `agents_may_change_webhooks: true`. A person can make the change in the dashboard.",
  },

  // Members and settings of an organization
  SLUG_TAKEN: {
    status: 409,
    message: "`slug` is taken.",
    hint: "Choose another slug.",
  },
  LAST_OWNER: {
    status: 409,
    message: "This is the last owner of the organization.",
    hint: "Make another member owner first, or delete the organization.",
  },
  ALREADY_MEMBER: {
    status: 409,
    message: "The account is a member of this organization already.",
    hint: "Change the member's role instead.",
  },
  INVITATION_EXISTS: {
    status: 409,
    message: "There is an invitation to an older spelling of `email`.",
    hint: "Revoke that invitation, then invite again.",
  },
  INVITATION_FOR_ANOTHER_EMAIL: {
    status: 403,
    message: "This invitation is for another e-mail address.",
    hint: "Sign in with the address the invitation was sent to, or ask for one to yours.",
  },

  // Going live, and deletion
  LIVE_IS_OPEN: {
    status: 409,
    message: "Live is open already.",
    hint: "There is nothing to do: use keys and sessions of the live environment.",
  },
  NO_DELETION_SCHEDULED: {
    status: 409,
    message: "There is no deletion to cancel.",
    hint: "None is scheduled, or it has begun already.",
  },
  EMBED_ORIGIN_NOT_ALLOWED: {
    status: 400,
    message: "Pages of this origin may not show the verification.",
    hint: "Verify the domain of that page, or leave `embed_origin` out.",
  },
  NO_READER_AVAILABLE: {
    status: 409,
    message: "This service cannot read real documents, so a live session cannot be completed.",
    hint: "Ask the operator to configure a reader app (READER_APP_ANDROID, READER_APP_IOS) or, for documents read at a desk, DESK_READERS=true. Or list a wallet method that the operator has enabled with WALLET_METHODS. The sandbox needs none of them.",
  },
  ORGANIZATION_NOT_READY: {
    status: 409,
    message: "The organization is not ready for live.",
    hint: "Accept the current terms, complete the business details and verify a domain. The operator must trust an issuing authority. Then an owner opens live with POST /v1/auth/orgs/go-live.",
  },
  DELETION_CODE_INVALID: {
    status: 400,
    message: "`code` is not the code that was mailed to you.",
    hint: "Check the latest mail. After 5 wrong tries the code stops working.",
  },
  DELETION_CODE_EXPIRED: {
    status: 409,
    message: "You have no valid code.",
    hint: "Ask for a new one with POST /v1/auth/orgs/request-delete. A code is valid for 24 hours and 5 tries, for the owner who asked.",
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errorTable;

/** Codes of requests that are refused before it is known which route they are for; no route lists them. */
export const codesOfNoRoute = [
  "METHOD_NOT_ALLOWED",
  "REQUEST_HEADERS_TOO_LARGE",
  "REQUEST_TIMEOUT",
] as const satisfies readonly ErrorCode[];

/** Codes of tools for agents, which no route has. */
export const codesOfTools = [
  "AGENTS_MAY_NOT_CHANGE_WEBHOOKS",
  "SANDBOX_KEY_REQUIRED",
  "SESSION_IS_LIVE",
  "TEST_DEVICE_REFUSED",
] as const satisfies readonly ErrorCode[];

export const errorCodes = Object.keys(errorTable) as ErrorCode[];
