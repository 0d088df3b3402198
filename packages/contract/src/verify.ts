import { type Static, Type } from "typebox";
import { pageLanguages } from "./facts.ts";
import type { ConsentId } from "./ids.ts";
import { logoLimits, logoTypes } from "./organization-logo.ts";
import { receiptKeys } from "./receipt-keys.ts";
import { routesOf } from "./route.ts";
import { closed, Nullable, OneOf, open, Timestamp, Token, UuidOf } from "./schema.ts";
import {
  AttemptId,
  failureCodes,
  inLanguages,
  mapOf,
  Requirements,
  SessionId,
  ShareField,
  sessionStatuses,
  shareLimits,
  UnmetRequirement,
} from "./sessions.ts";
import { verifyAddresses } from "./verify-addresses.ts";
import { verifySocketPath } from "./verify-protocol.ts";
import { VerifyWay } from "./wallet.ts";

const route = routesOf("Verify");

export const handoffLifetimeSeconds = 300;
/** Event streams that may be open for one session on one server process. */
export const maxStreamsPerSession = 8;
export const streamHeartbeatSeconds = 15;

const params = closed({ id: SessionId });
const session = { params, invalidParams: "INVALID_SESSION_ID", access: { public: true } } as const;

const Tries = open("VerifyTries", {
  nfc_tries_used: Type.Integer({ minimum: 0, description: "Chip reads that were judged." }),
  nfc_tries_left: Type.Integer({ minimum: 0 }),
  liveness_tries_used: Type.Integer({ minimum: 0, description: "Liveness captures that were judged." }),
  liveness_tries_left: Type.Integer({ minimum: 0 }),
});

const Step = open("VerifyStep", {
  name: Type.String({
    description: "Its name, which is also the prefix of the reading device's phases.",
    examples: ["chip"],
  }),
  tries_used: Type.Integer({ minimum: 0, description: "Tries that were judged." }),
  tries_left: Type.Integer({ minimum: 0, description: "Tries that are left." }),
  passed: Type.Boolean({ description: "Whether one of them has passed." }),
});

/** What changes while the person's pages are open. */
export const VerifyStatus = open("VerifyStatus", {
  session_id: SessionId,
  status: OneOf(sessionStatuses),
  failure_code: Nullable(OneOf(failureCodes, { description: "Set when the session failed." })),
  unmet_requirement: UnmetRequirement,
  tries: Tries,
  steps: Type.Array(Step, { description: "What the person does after they have agreed, in this order." }),
  consent_given: Type.Boolean(),
  attempt: Nullable(
    open("VerifyAttempt", {
      id: AttemptId,
      step: Nullable(
        Type.String({
          description: "The last known step of the reading device, null until it has connected.",
          examples: ["chip_check"],
        }),
      ),
      heard_recently: Type.Boolean({
        description: "Whether the device was active in the last 60 seconds.",
      }),
      refused: Nullable(
        open("VerifyRefusal", { failure_code: OneOf(failureCodes), unmet_requirement: UnmetRequirement }),
      ),
    }),
  ),
  return_url: Nullable(
    Type.String({
      description:
        "Once the session has ended: where to send the person now, with `session_id` and `status` in its query. Null before, when the partner gave no address, and when the address is no longer allowed; then the person stays on this service's closing page.",
    }),
  ),
  result_is_sent: Type.Boolean({
    description:
      "Whether the shared data is sent to the partner: the session succeeded, and an encrypted delivery was queued. False before, and where the partner can only read the outcome.",
  }),
  expires_at: Timestamp,
  completed_at: Nullable(Timestamp),
  server_time: { ...Timestamp, description: "The service's clock, to show the time left by." },
});
export type VerifyStatusData = Static<typeof VerifyStatus>;

const BusinessIdentity = open("BusinessIdentity", {
  name: Nullable(Type.String()),
  jurisdiction: Nullable(Type.String()),
  registration_number: Nullable(Type.String()),
});

const VerifyOrganization = open("VerifyOrganization", {
  name: Type.String(),
  verified: Type.Boolean({
    description:
      "Whether the organization has proven a domain. When not, warn the person that the requester is unverified.",
  }),
  domain: Nullable(Type.String({ description: "The proven domain, ASCII form." })),
  domain_unicode: Nullable(
    Type.String({
      description:
        "The proven domain for display: in Unicode, or in its ASCII form where Unicode could be taken for another name.",
    }),
  ),
  brand_color: Nullable(
    Type.String({
      description:
        "The colour of the organization, `#rrggbb`. Null unless verified or in the sandbox. It may be any colour: make sure that text on it or in it has enough contrast.",
      examples: ["#0a5c8f"],
    }),
  ),
  logo_url: Nullable(
    Type.String({
      description:
        "Where the organization keeps its logo, or `GET …/logo` itself where it has uploaded one. Null unless verified. Do not load it from there, because that host would see the viewer: `GET …/logo` returns the picture.",
    }),
  ),
  website_url: Nullable(Type.String({ description: "Null unless verified." })),
  business: Nullable(BusinessIdentity),
  support_email: Nullable(Type.String()),
  privacy_url: Nullable(Type.String()),
  terms_url: Nullable(Type.String()),
});

export const ConsentState = open("ConsentState", {
  receipt_id: UuidOf<ConsentId>(),
  selected_field_keys: Type.Array(Type.String()),
  terms_version: Type.String(),
  language: Nullable(OneOf(pageLanguages)),
  given_at: Timestamp,
  fixed: Type.Boolean({ description: "A device has claimed the session: the choice can no longer change." }),
  withdrawn_at: Nullable(Timestamp),
});

/** Variants of the consent texts: for a document alone, or for sessions that a wallet can answer too. */
export const consentVariants = ["paragraphs", "wallet_paragraphs"] as const;
export type ConsentVariant = (typeof consentVariants)[number];

const TermsReference = open("ConsentTermsReference", {
  version: Type.String({ examples: ["2026-01"] }),
  hash: Type.String({ description: "`sha256:` and the hash of the texts in all languages." }),
  text: OneOf(consentVariants, {
    description:
      "Which part of the texts this session is shown. The receipt has it where it is `wallet_paragraphs`.",
  }),
});

const InstallUrl = Type.String({
  description: "Where people get it.",
  examples: ["https://verify.example.org/app"],
});

/** The operator's apps that read chips; null where there is none for the platform. */
const ReaderApps = open("VerifyReaderApps", {
  android: Nullable(
    open("VerifyAndroidReaderApp", {
      package_name: Type.String({ examples: ["org.example.verify"] }),
      install_url: InstallUrl,
    }),
  ),
  ios: Nullable(
    open("VerifyIosReaderApp", {
      app_clip: Type.Boolean({ description: "Whether an App Clip runs it without installing." }),
      install_url: InstallUrl,
    }),
  ),
});

export const VerifyDetails = open("VerifyDetails", {
  id: SessionId,
  status: OneOf(sessionStatuses),
  failure_code: Nullable(OneOf(failureCodes)),
  unmet_requirement: UnmetRequirement,
  sandbox: Type.Boolean({ description: "Whether test documents, and only those, are accepted." }),
  organization: VerifyOrganization,
  ways: Type.Array(VerifyWay, {
    description:
      "The methods that can give every required field and meet every requirement, in the order of the partner.",
  }),
  share_fields: mapOf(ShareField, {
    description: "What is asked, with the reason for each, in the partner's order.",
  }),
  requirements: Requirements,
  locale: Nullable(
    OneOf(pageLanguages, {
      description: "The language to begin with, unless the person has chosen one; null: the browser's.",
    }),
  ),
  tries: Tries,
  terms: TermsReference,
  reader_apps: ReaderApps,
  desk_readers: Type.Boolean({ description: "Whether documents are read at desks of the partner." }),
  consent: Nullable(ConsentState),
  redirect_url: Type.String({ description: "Where the person is sent afterwards." }),
  return_url: VerifyStatus.properties.return_url,
  embed_origin: Nullable(
    Type.String({
      description:
        "The one origin whose pages may show this session in a frame now. The frame reports progress to it. Null: none.",
    }),
  ),
  expires_at: Timestamp,
  completed_at: Nullable(Timestamp),
  created_at: Timestamp,
  server_time: VerifyStatus.properties.server_time,
});

export const getVerifyDetails = route(verifyAddresses.getVerifyDetails, {
  ...session,
  id: "getVerifyDetails",
  summary: "Show who asks for what and why",
  description:
    "Readable in every state, also after the end, so that the page can explain what happened. Logo, website, business details and domain come only from an organization with an active verified domain.",
  reply: { status: 200, data: VerifyDetails },
  errors: ["SESSION_NOT_FOUND"],
});

export const getVerifyLogo = route(verifyAddresses.getVerifyLogo, {
  ...session,
  id: "getVerifyLogo",
  summary: "Show the logo of the organization that asks",
  description: `The uploaded picture, or else the one at \`logo_url\`, which this service fetches so that its host does not see the viewer. Only for an organization with an active verified domain. PNG, JPEG or WebP, recognised by its bytes, of at most ${logoLimits.bytes / 1024} kB and ${logoLimits.sidePixels} pixels a side; redirects are not followed. A picture is kept for an hour, a failure for a minute.`,
  reply: { status: 200, picture: logoTypes, maxAgeSeconds: 3600 },
  errors: ["SESSION_NOT_FOUND", "LOGO_NOT_FOUND"],
});

const ReturnCode = Type.Optional(
  Token("What `open` returned. Needed where `requirements.binding` is `required`."),
);

export const openSession = route(verifyAddresses.openSession, {
  ...session,
  id: "openSession",
  summary: "Open the session in this browser",
  description:
    "The page calls this when it is loaded. The first browser that calls gets a `return_code`, once; every other call gets null. The page adds it to the query of `return_url` when it sends the person back.",
  reply: {
    status: 200,
    data: open("OpenedSession", {
      return_code: Nullable(
        Token(
          "For this browser only. Null if another browser was first, if the session has ended, and if neither a `redirect_url` nor `binding` needs it.",
        ),
      ),
    }),
  },
  errors: ["SESSION_NOT_FOUND"],
  // A repeated call must not get the code again, and the code is never kept for a replay.
  idempotent: false,
});

export const giveConsent = route(verifyAddresses.giveConsent, {
  ...session,
  id: "giveConsent",
  summary: "Agree to share",
  description:
    "Records a signed receipt of what was asked and what was agreed. Required fields must be among the chosen ones. Agreeing again replaces the choice, its receipt, its `cancel_token` and every handoff made under it. Once a device has claimed the session, the choice is final.",
  body: closed({
    selected_field_keys: Type.Array(Type.String({ minLength: 1, maxLength: 80 }), {
      maxItems: shareLimits.fields + 1,
      description: "Keys of `share_fields` that the person agrees to share.",
      examples: [["date_of_birth", "service_document_id"]],
    }),
    terms_version: Type.String({
      minLength: 1,
      maxLength: 60,
      description: "The version of the texts that the person was shown.",
      examples: ["2026-01"],
    }),
    language: Type.Optional(
      OneOf(pageLanguages, { description: "The language they were shown in; the receipt says so." }),
    ),
    return_code: ReturnCode,
  }),
  reply: {
    status: 201,
    data: open("GivenConsent", {
      consent: ConsentState,
      cancel_token: Token("Lets the person abort or withdraw, and read the receipt. Shown only here."),
      receipt: Type.String({ description: "The signed receipt, a compact JWS." }),
    }),
  },
  errors: [
    "SESSION_NOT_FOUND",
    "SESSION_EXPIRED",
    "SESSION_ENDED",
    "CONSENT_FIXED",
    "CONSENT_TEXTS_CHANGED",
    "FIELD_NOT_ASKED",
    "REQUIRED_FIELD_DECLINED",
    "OTHER_BROWSER",
    "ORGANIZATION_FROZEN",
  ],
  // Repeating the call replaces its result.
  // So it is safe without a key, and the token is never stored for a replay.
  idempotent: false,
});

export const getConsentReceipt = route(verifyAddresses.getConsentReceipt, {
  ...session,
  id: "getConsentReceipt",
  summary: "Download the consent receipt",
  description:
    "Send a `cancel_token` of the session as `Authorization: Bearer`: the person's, from agreeing, or the partner's, from creating the session. A token that was used to withdraw still reads.",
  token: "cancel_token",
  reply: {
    status: 200,
    data: open("ConsentReceipt", {
      consent: ConsentState,
      receipt: Type.String({
        description: "A compact JWS, signed with Ed25519; its `kid` names a key of the list of receipt keys.",
      }),
    }),
  },
  errors: ["SESSION_NOT_FOUND", "CANCEL_TOKEN_INVALID", "CONSENT_REQUIRED"],
});

export const createHandoff = route(verifyAddresses.createHandoff, {
  ...session,
  id: "createHandoff",
  summary: "Make a token for the reading device",
  description:
    "Show `handoff_url` as a QR code. Call again for a fresh one: an unclaimed token stays valid until it expires or another one is claimed. With the `cancel_token` of the consent, the device that claims this token may take over from another one. Without it, only the same device can continue.",
  body: closed({
    cancel_token: Type.Optional(Token("The token that agreeing returned.")),
  }),
  bodyOptional: true,
  reply: {
    status: 201,
    data: open("Handoff", {
      handoff_token: Token("For `claim`. Good for 5 minutes."),
      handoff_url: Type.String({
        description: "The verification page with the token in its fragment, which no server gets to see.",
      }),
      expires_at: Timestamp,
      server_time: Timestamp,
    }),
  },
  errors: [
    "SESSION_NOT_FOUND",
    "SESSION_EXPIRED",
    "SESSION_ENDED",
    "CONSENT_REQUIRED",
    "CANCEL_TOKEN_INVALID",
    "ORGANIZATION_FROZEN",
  ],
  idempotent: false,
});

export const claimHandoff = route(verifyAddresses.claimHandoff, {
  ...session,
  id: "claimHandoff",
  summary: "Claim the session with the reading device",
  description:
    "Begins an attempt. The same device may claim again with the same or a fresh token, to continue after an interruption. It gets the same attempt and a new `socket_token`, which invalidates the previous one.",
  body: closed({
    handoff_token: Token("From the fragment of the handoff URL."),
    device_id: Type.String({
      minLength: 1,
      maxLength: 128,
      pattern: "^[\\x21-\\x7e]+$",
      description: "Random, chosen and kept by the device for this session. Only a hash of it is stored.",
      examples: ["5b1f0c9a-2c1e-4a57-9d8e-0f8a5b3c7d21"],
    }),
    return_code: ReturnCode,
  }),
  reply: {
    status: 201,
    data: open("ClaimedAttempt", {
      attempt_id: AttemptId,
      socket_token: Token("For the first message on the socket. Valid as long as the attempt."),
      resumed: Type.Boolean({ description: "The device continued its earlier attempt." }),
      expires_at: { ...Timestamp, description: "When the session expires." },
      server_time: Timestamp,
    }),
  },
  errors: [
    "SESSION_NOT_FOUND",
    "SESSION_EXPIRED",
    "SESSION_ENDED",
    "HANDOFF_TOKEN_INVALID",
    "HANDOFF_TOKEN_EXPIRED",
    "HANDOFF_TOKEN_CONSUMED",
    "HANDOFF_DEVICE_MISMATCH",
    "OTHER_BROWSER",
    "ORGANIZATION_FROZEN",
  ],
  // A device resumes by claiming again.
  // So it is safe without a key, and the token is never stored for a replay.
  idempotent: false,
});

export const getVerifyStatus = route(verifyAddresses.getVerifyStatus, {
  ...session,
  id: "getVerifyStatus",
  summary: "Read the progress of the session",
  description: "Readable in every state, also after the end.",
  reply: { status: 200, data: VerifyStatus },
  errors: ["SESSION_NOT_FOUND"],
});

export const streamVerifyEvents = route(verifyAddresses.streamVerifyEvents, {
  ...session,
  id: "streamVerifyEvents",
  summary: "Follow the session as it changes",
  description: `Server-sent events. The first event, and one at every change, is \`status\` with the whole status as JSON. A comment comes every ${streamHeartbeatSeconds} seconds. The stream closes after the status of an ended or expired session; a client that sees one must not connect again. At most ${maxStreamsPerSession} streams for one session; with more, read the status instead.`,
  reply: { status: 200, events: VerifyStatus },
  errors: ["SESSION_NOT_FOUND", "RATE_LIMITED"],
});

export const declineByPerson = route(verifyAddresses.declineByPerson, {
  ...session,
  id: "declineByPerson",
  summary: "Decline before consent",
  description:
    "Ends the session as `cancelled`, with the reason `cancelled_by_user` in the event. Needs no token, because there is no consent yet. After consent it is 409 `CONFLICT`, and only the person who agreed can cancel. Declining a session that was cancelled before consent changes nothing and gives the same answer.",
  reply: {
    status: 200,
    data: open("DeclinedByPerson", {
      status: OneOf(sessionStatuses),
      redirect_url: Type.String({
        description:
          "Where to send the person now: the partner's address with `session_id` and `status` in its query. Where the partner gave none, or it is no longer allowed, the closing page of this service.",
        examples: ["https://shop.example.com/done?session_id=vs_EXAMPLE&status=cancelled"],
      }),
    }),
  },
  errors: ["SESSION_NOT_FOUND", "SESSION_EXPIRED", "CONFLICT"],
});

export const cancelOutcomes = ["cancelled", "consent_withdrawn", "withdrawn_after_delivery"] as const;

export const cancelByPerson = route(verifyAddresses.cancelByPerson, {
  ...session,
  id: "cancelByPerson",
  summary: "Abort, or withdraw consent after the end",
  description:
    "Before the end the session is cancelled. After a success consent is withdrawn: undelivered data is never sent. If nothing was delivered, the session becomes cancelled, the succeeded event is retracted, and a cancelled one with `consent_withdrawn` replaces it. Works once with each `cancel_token` of the session: the person's, from agreeing, and the one from creating the session.",
  body: closed({ cancel_token: Token("A cancel token of this session.") }),
  reply: {
    status: 200,
    data: open("CancelledByPerson", {
      outcome: OneOf(cancelOutcomes, {
        description:
          "`withdrawn_after_delivery`: the partner already has the shared data; ask them to delete it.",
      }),
      status: OneOf(sessionStatuses),
    }),
  },
  errors: [
    "SESSION_NOT_FOUND",
    "SESSION_EXPIRED",
    "SESSION_ENDED",
    "CANCEL_TOKEN_INVALID",
    "CANCEL_TOKEN_USED",
  ],
});

export const openVerifySocket = route(`GET ${verifySocketPath(":id")}`, {
  ...session,
  id: "openVerifySocket",
  summary: "Open the socket of the reading device",
  description: "A WebSocket. Plain HTTP is answered with 426.",
  reply: { status: 101 },
  errors: ["WEBSOCKET_REQUIRED", "RATE_LIMITED"],
});

const ConsentText = open("ConsentText", {
  title: Type.String(),
  paragraphs: Type.Array(Type.String()),
  wallet_paragraphs: Type.Optional(
    Type.Array(Type.String(), {
      examples: [["You agree that what your wallet presents is checked."]],
      description:
        "In place of `paragraphs` for sessions that a wallet can answer. Absent where there is no difference.",
    }),
  ),
  reviewed: Type.Boolean({
    description: "False: no lawyer has reviewed this translation; the page says so, and English is binding.",
  }),
});

export const getConsentTexts = route(verifyAddresses.getConsentTexts, {
  id: "getConsentTexts",
  summary: "Show the texts that people agree to",
  description:
    "Show the person one of these, in their language, before they agree. The hash is that of the file as the operator keeps it.",
  access: { public: true },
  reply: {
    status: 200,
    data: open("ConsentTexts", {
      version: Type.String(),
      hash: Type.String(),
      texts: open({ ...inLanguages(ConsentText), en: ConsentText }),
    }),
  },
});

export const listConsentReceiptKeys = route(verifyAddresses.listConsentReceiptKeys, {
  id: "listConsentReceiptKeys",
  summary: "Show the public keys that verify consent receipts",
  description: "A receipt is a compact JWS signed with Ed25519 (`EdDSA`); its `kid` names one of these keys.",
  access: { public: true },
  reply: {
    status: 200,
    data: receiptKeys("ConsentReceipt"),
  },
});

/** A byte string in a test document is `base64:` and its base64. */
const TestDocument = open("TestDocument", {
  id: Type.String({ examples: ["passport-valid"] }),
  title: Type.String(),
  description: Type.String(),
  expectedFailureCode: Nullable(OneOf(failureCodes, { description: "Null when the document passes." })),
  decidedBy: OneOf(["chip", "face"]),
  mrzLines: Type.Array(Type.String()),
  files: mapOf(Type.String(), { description: "Files of the chip: `base64:` and their bytes." }),
  chip: Type.Unsafe<Record<string, unknown>>({
    type: "object",
    additionalProperties: true,
    description: "The private side of the software chip.",
  }),
});

export const listTestDocuments = route(verifyAddresses.listTestDocuments, {
  id: "listTestDocuments",
  summary: "Show the documents of the test country",
  description:
    "Everything that a software chip needs to imitate them. Their authority is trusted in the sandbox only. All data is fictional.",
  access: { public: true },
  reply: {
    status: 200,
    data: open("TestDocuments", { documents: Type.Array(TestDocument) }),
  },
});

export const verifyRoutes = route.declared;
