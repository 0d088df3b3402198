import { type Static, type TOptional, type TSchema, Type } from "typebox";
import { type EvidenceWarning, evidenceWarnings } from "./evidence-warnings.ts";
import {
  type Method,
  methods,
  pageLanguages,
  requirementNames,
  sandboxLifetimeSeconds,
  sessionLifetimeMinutes,
} from "./facts.ts";
import { partnerPageQuery } from "./page.ts";
import { routesOf } from "./route.ts";
import { closed, Nullable, named, OneOf, open, PrefixedId, Text, Timestamp } from "./schema.ts";
import { unseenCharacters, unseenInLines } from "./shown-text.ts";

const route = routesOf("Sessions");

export const sessionStatuses = [
  "created",
  "in_progress",
  "succeeded",
  "failed",
  "expired",
  "cancelled",
] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/** Filters of a session list: `open` means both statuses that have not ended. */
export const sessionFilters = [...sessionStatuses, "open"] as const;
export type SessionFilterStatus = (typeof sessionFilters)[number];

export const attemptStatuses = ["in_progress", "succeeded", "failed", "cancelled"] as const;
export type AttemptStatus = (typeof attemptStatuses)[number];

/** Why a session failed. */
export const failureCodes = [
  "document_authenticity_failed",
  "document_active_authentication_failed",
  "document_chip_authentication_failed",
  "document_data_invalid",
  "document_expired",
  "liveness_failed",
  "selfie_face_mismatch",
  // Sessions of contract version 2 only.
  "holder_binding_failed",
] as const;
export type FailureCode = (typeof failureCodes)[number];

/** Why an attempt did not succeed: the session's reasons, or the session ended without an outcome. */
export const attemptFailureCodes = [...failureCodes, "session_expired", "session_cancelled"] as const;
export type AttemptFailureCode = (typeof attemptFailureCodes)[number];

/** Why a session was cancelled. */
export const cancelReasons = ["cancelled_by_partner", "cancelled_by_user", "consent_withdrawn"] as const;
export type CancelReason = (typeof cancelReasons)[number];

/** Fields that a partner may request, besides `age_over_N`. */
export const claimKeys = [
  "document_type_code",
  "issuing_country_code",
  "family_name",
  "given_names",
  "document_number",
  "nationality_code",
  "date_of_birth",
  "sex_marker",
  "document_expiry_date",
  "mrz_optional_data",
  "service_document_id",
] as const;
export type ClaimKey = (typeof claimKeys)[number];

/** `age_over_18` says only whether the person is at least 18. */
export const ageClaim = { prefix: "age_over_", min: 12, max: 130 } as const;

export const shareLimits = { fields: 32, reasonCharacters: 200 } as const;
export const metadataLimits = { keys: 20, keyCharacters: 40, valueCharacters: 500 } as const;
export const redirectUrlMaxCharacters = 2048;
export const templateNameMaxCharacters = 120;
export const embedOriginMaxCharacters = 300;

/** An object whose names the caller chooses. */
export function mapOf<T extends TSchema>(values: T, options: Record<string, unknown> = {}) {
  return Type.Unsafe<Record<string, Static<T>>>({ type: "object", additionalProperties: values, ...options });
}

export const SessionId = PrefixedId("vs", "verification session");
export const AttemptId = PrefixedId("va", "verification attempt");
export const TemplateId = PrefixedId("vst", "session template");
export const EndpointId = PrefixedId("whe", "webhook endpoint");

const shareFieldsExample = {
  date_of_birth: { required: true, reason: "We must know that you are of age." },
  nationality_code: { required: false, reason: "Speeds up the tax form." },
};

/** One optional text for each language of the page. */
export function inLanguages<T extends TSchema>(text: T) {
  return Object.fromEntries(pageLanguages.map((language) => [language, Type.Optional(text)])) as Record<
    (typeof pageLanguages)[number],
    TOptional<T>
  >;
}

const AskedField = closed("AskedField", {
  required: Type.Boolean({ description: "A required field cannot be left out by the person." }),
  reason: Type.String({
    description: `Why you ask, 1 to ${shareLimits.reasonCharacters} characters; the person reads it. White space around it is removed.`,
    examples: ["We must know that you are of age."],
  }),
  reasons: Type.Optional(
    closed("AskedReasons", inLanguages(Type.String({ description: "The same rules as for `reason`." }))),
  ),
});

/** A field as a session or a template shows it. */
export const shownField = {
  required: Type.Boolean(),
  reason: Type.String({ description: "The reason that the person reads." }),
  reasons: Type.Optional(
    named("Reasons", {
      ...open(inLanguages(Type.String())),
      description: "The same in the languages that you gave. Readers of other languages see `reason`.",
    }),
  ),
};

export const ShareField = open("ShareField", {
  ...shownField,
  source: OneOf(["rc", "default"], {
    description: "`rc` when the partner asked for the field, `default` when the service added it.",
  }),
});

const ClientReferenceId = Text({
  max: 200,
  description: "Your own reference. Lists can be filtered by it, and events carry it.",
  examples: ["order-7391"],
});

const MetadataValue = Type.String({
  maxLength: metadataLimits.valueCharacters,
  pattern: `^[^${unseenInLines}]*$`,
});
const Metadata = mapOf(MetadataValue, {
  maxProperties: metadataLimits.keys,
  propertyNames: {
    minLength: 1,
    maxLength: metadataLimits.keyCharacters,
    pattern: `^[^${unseenCharacters}]+$`,
  },
  description:
    "Your own notes. Do not put personal data here: it is stored as it is. Invisible characters are refused.",
  examples: [{ channel: "mobile" }],
});

/**
 * `preferred`: checked if the document supports it. `required`: a document that does not support it fails.
 */
export const demands = ["preferred", "required"] as const;
export type Demand = (typeof demands)[number];

const demandOf = {
  clone_detection: OneOf(demands, {
    description:
      "Whether the chip must prove that it is no copy. If required, a document whose chip cannot do so fails with `document_chip_authentication_failed`.",
  }),
  revocation: OneOf(demands, {
    description:
      "Whether a fresh revocation list of the state must be checked. If required, a document without one fails with `document_authenticity_failed`.",
  }),
  binding: OneOf(demands, {
    description:
      "Whether the person must agree and prove in the browser that first opened the session. If required, the page offers no code for another device.",
  }),
};

export const Requirements = named("Requirements", {
  ...open(demandOf),
  description: "What the session requires. The page shows it before the person agrees.",
});

export const someDemands = {
  clone_detection: Type.Optional(demandOf.clone_detection),
  revocation: Type.Optional(demandOf.revocation),
  binding: Type.Optional(demandOf.binding),
};

const AskedRequirements = named("AskedRequirements", {
  ...closed(someDemands),
  description: "What the session requires. Default of each: `preferred`.",
  examples: [{ clone_detection: "required" }],
});

const warningCodes = Object.keys(evidenceWarnings) as [EvidenceWarning, ...EvidenceWarning[]];

/** The findings of the face step, and their meaning. */
const faceCheckNotes = {
  movements: "the person did what was asked, in its order and time, without a cut.",
  one_person: "the same person is seen throughout.",
  portrait: "it is the person in the portrait of the chip.",
  not_a_copy: "no frame is a copy of that portrait.",
  head_turned: "what surrounds the face moved as the head turned; missing where that could not be measured.",
  colours: "the colours of the screen came back from the face; missing where they did not, as in daylight.",
} as const;
export type FaceCheck = keyof typeof faceCheckNotes;
export const faceChecks = Object.keys(faceCheckNotes) as [FaceCheck, ...FaceCheck[]];

export const ChipAndFaceEvidence = open("ChipAndFaceEvidence", {
  method: OneOf(["chip_and_face"], {
    description:
      "The chip of a document was read and checked, and a living face was compared with its portrait.",
  }),
  chip: OneOf(["genuine", "copy_not_excluded"], {
    description:
      "`genuine`: the chip proved that it is the original. `copy_not_excluded`: the state signed the data, and the document offers no proof that its chip is no copy.",
  }),
  revocation: OneOf(["checked", "stale", "no_list"], {
    description:
      "`checked`: a fresh list of the state does not name the signer. `stale`: the newest list is past its time, and does not name the signer. `no_list`: there was no list that counts.",
  }),
  warnings: Type.Array(OneOf(warningCodes), {
    description: `What was found and tolerated, each once. ${Object.entries(evidenceWarnings)
      .map(([code, about]) => `\`${code}\`: ${about}`)
      .join(" ")}`,
  }),
  face: OneOf(["matched"], {
    description: "The person in front of the camera is the one in the portrait.",
  }),
  face_checks: Type.Array(OneOf(faceChecks), {
    description: `Which checks of the face were passed, in this order. ${Object.entries(faceCheckNotes)
      .map(([check, about]) => `\`${check}\`: ${about}`)
      .join(
        " ",
      )} None of them excludes pictures that no camera took: see \`device\`. Empty for successes of earlier versions, and where a test document decided.`,
  }),
  device: OneOf(["attested", "unattested"], {
    description:
      "`attested`: the phone's secure hardware vouches that the operator's app signed the pictures, on a locked phone with the maker's system. `unattested`: nothing vouches, as in every browser, and injected pictures are harder to exclude.",
  }),
  verified_at: Timestamp,
});

/** Hash of the `return_code` that the service adds to the partner's redirect. */
export const ReturnCodeSha256 = Nullable(
  Type.String({
    pattern: "^[0-9a-f]{64}$",
    description:
      "SHA-256, in hexadecimal, of the `return_code`. Only the browser that first opened the session brings this code back to `redirect_url`. Compare the two in the browser that is signed in at your site. Null without a `redirect_url`, and while no browser has opened the session.",
    examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
  }),
);

export const walletEvidence = {
  credential: ["eudi_pid", "mdl", "age_proof"],
  format: ["dc+sd-jwt", "mso_mdoc"],
  trust: ["eu_list", "vical", "operator", "sandbox"],
  holder: ["key_proven", "not_proven"],
  revocation: ["checked", "short_lived", "stale", "no_list"],
  binding: ["platform", "same_browser", "handed_over", "cross_device"],
  level: ["high"],
  warning: [
    "more_nationalities",
    "trust_list_stale",
    "wallet_disclosed_more",
    "status_list_stale",
    "status_list_missing",
  ],
} as const;

export const WalletEvidence = open("WalletEvidence", {
  method: OneOf(["wallet"], {
    description:
      "A credential was presented from a wallet. Only sessions whose `methods` name a wallet have it.",
  }),
  credential: OneOf(walletEvidence.credential, {
    description:
      "`eudi_pid`: personal identification data of a state of the European Union. `mdl`: a mobile driving licence. `age_proof`: a proof of age and nothing else.",
  }),
  format: OneOf(walletEvidence.format),
  trust: OneOf(walletEvidence.trust, {
    description:
      "Which list named the issuer. `eu_list`: a list of trusted entities of the European Union. `vical`: a list of issuers of driving licences. `operator`: the operator's own. `sandbox`: that of test credentials.",
  }),
  holder: OneOf(walletEvidence.holder, {
    description:
      "`key_proven`: the wallet proved that it holds the key that the credential was issued to. `not_proven`: it was not asked to, which only `age_proof` allows.",
  }),
  revocation: OneOf(walletEvidence.revocation, {
    description:
      "`checked`: a fresh status list does not name the credential. `short_lived`: it is valid for at most a day. `stale`: the newest list is past its time. `no_list`: there was none.",
  }),
  binding: OneOf(walletEvidence.binding, {
    description:
      "How the presentation is tied to the person's browser. `platform`: by the browser itself. `same_browser`: the browser that asked got the answer. `handed_over`: the person changed to a phone by our own page. `cross_device`: not at all, for `age_proof` only.",
  }),
  level: {
    ...Nullable(OneOf(walletEvidence.level)),
    description:
      "`high`: the level of assurance of an `eudi_pid` whose issuer is on the list of the European Union.",
  },
  warnings: Type.Array(OneOf(walletEvidence.warning), {
    description:
      "What was found and tolerated, each once. `more_nationalities`: the credential has several, and the first was taken. `trust_list_stale`: the list that names the issuer is past its time. `wallet_disclosed_more`: the wallet sent more than was asked for; it was dropped. `status_list_stale`: the status list of the issuer is past its time. `status_list_missing`: it could not be had.",
  }),
  verified_at: Timestamp,
});

/** By `method`. The first is the only one of contract version 1. */
export const Evidence = named("Evidence", Type.Union([ChipAndFaceEvidence, WalletEvidence]));

/** Has null in the union itself: clients in Java refuse a null beside a union. */
const SessionEvidence = named(
  "SessionEvidence",
  Type.Union([ChipAndFaceEvidence, WalletEvidence, Type.Null()], {
    description:
      "What a success is based on; null unless the session has succeeded. It does not identify the person.",
  }),
);

const credentialMethods = { eudi_pid: "wallet_pid", mdl: "wallet_mdl", age_proof: "wallet_age" } as const;

/** The method that a success rests on. */
export function methodOf(evidence: Static<typeof Evidence>): Method {
  switch (evidence.method) {
    case "chip_and_face":
      return "document_chip";
    case "wallet":
      return credentialMethods[evidence.credential];
  }
}

export const UnmetRequirement = Nullable(
  OneOf(requirementNames, {
    description:
      "Your requirement that the document could not meet, if the session failed for that reason; null for every other failure.",
  }),
);

const sessionFields = {
  id: SessionId,
  status: OneOf(sessionStatuses),
  failure_code: Nullable(OneOf(failureCodes, { description: "Set when the session failed." })),
  unmet_requirement: UnmetRequirement,
  nfc_tries_used: Type.Integer({ minimum: 0, description: "Chip reads that were judged." }),
  liveness_tries_used: Type.Integer({ minimum: 0, description: "Liveness captures that were judged." }),
  methods: Type.Array(OneOf(methods), {
    description: "How the person may be verified, in your order.",
    examples: [["document_chip"]],
  }),
  contract_version: Type.Integer({
    description: "Version of the share contract: 2 where `methods` has a wallet, else 1.",
    examples: [1],
  }),
  share_fields: mapOf(ShareField, {
    description: "What the person is asked to share. `service_document_id` is always among it.",
  }),
  requirements: Requirements,
  evidence: SessionEvidence,
  locale: Nullable(
    OneOf(pageLanguages, {
      description: "The language that the person's page begins with; null: the browser's.",
    }),
  ),
  redirect_url: Type.String({ description: "Where the person is sent afterwards." }),
  return_code_sha256: ReturnCodeSha256,
  template_id: {
    ...Nullable(TemplateId),
    description:
      "The template that the session was created from, or null. The session keeps those settings after the template is changed or deleted.",
  },
  embed_origin: Nullable(
    Type.String({
      description: "The one origin whose pages may show `verification_url` in a frame; null: none may.",
    }),
  ),
  webhook_endpoint_id: Nullable(
    Type.String({
      description: "The only endpoint that gets this session's events. Null: all endpoints do.",
    }),
  ),
  client_reference_id: Nullable(Type.String()),
  metadata: mapOf(Type.String()),
  sandbox: Type.Boolean({ description: "Whether test documents, and only those, are accepted." }),
  verification_url: Type.String({ description: "The page that the person opens; ends in the session id." }),
  expires_at: Timestamp,
  completed_at: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const Session = open("Session", sessionFields);

export const SessionWithConsent = open("SessionWithConsent", {
  ...sessionFields,
  consent: {
    ...Nullable(
      open("SessionConsent", {
        selected_field_keys: Type.Array(Type.String()),
        given_at: Timestamp,
        withdrawn_at: {
          ...Nullable(Timestamp),
          description: "When the person withdrew it; null while it is valid.",
        },
      }),
    ),
    description: "What the person agreed to share; null before they have agreed to anything.",
  },
});

export const CreatedSession = open("CreatedSession", {
  ...sessionFields,
  cancel_token: Type.String({
    description: "Lets the person abort or withdraw. It is shown only here.",
    examples: ["EXAMPLEexampleEXAMPLEexampleEXAMPLEexample1"],
  }),
});

/** The fields of a template. The same fields of a request take precedence. */
export const templatedFields = {
  redirect_url: Type.String({
    minLength: 1,
    maxLength: redirectUrlMaxCharacters,
    description:
      "Where the person is sent afterwards. In the sandbox any https URL or http://localhost; live, an https URL on a verified domain. Without it, this service shows a closing page.",
    examples: ["https://shop.example.com/verified"],
  }),
  share_fields: mapOf(AskedField, {
    maxProperties: shareLimits.fields,
    description: `What the person is asked to share. Keys: ${claimKeys.join(", ")}, and one age_over_N with N from ${ageClaim.min} to ${ageClaim.max}.`,
    examples: [shareFieldsExample],
  }),
  methods: Type.Array(OneOf(methods), {
    minItems: 1,
    maxItems: methods.length,
    uniqueItems: true,
    description:
      "How the person may be verified, in the order in which it is offered. `document_chip`, the default: the chip of a passport or identity card, then the face. The others are credentials in a wallet: personal identification data, a driving licence, a proof of age. 400 `INVALID_REQUEST` for a method that is not enabled, and if no method can meet all requirements.",
    examples: [["document_chip"]],
  }),
  requirements: AskedRequirements,
  locale: OneOf(pageLanguages, {
    description:
      "The language that the person's page begins with. The person can change it. Default: the browser's.",
  }),
};
export type TemplatedField = keyof typeof templatedFields;
export const templatedFieldNames = Object.keys(templatedFields) as readonly TemplatedField[];

export const CreateSessionBody = closed("CreateSessionBody", {
  template: Type.Optional(
    Text({
      max: templateNameMaxCharacters,
      description:
        "The id or the name of a template. `share_fields`, `methods`, `requirements`, `locale` and `redirect_url` of the request replace the template's.",
      examples: ["Age check"],
    }),
  ),
  redirect_url: Type.Optional(templatedFields.redirect_url),
  embed_origin: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: embedOriginMaxCharacters,
      description:
        "The origin of your page that shows `verification_url` in a frame: https on a verified domain, or http://localhost with any port in the sandbox. Default: no page may.",
      examples: ["https://shop.example.com"],
    }),
  ),
  share_fields: Type.Optional(templatedFields.share_fields),
  methods: Type.Optional(templatedFields.methods),
  requirements: Type.Optional(templatedFields.requirements),
  locale: Type.Optional(templatedFields.locale),
  webhook_endpoint_id: Type.Optional(EndpointId),
  client_reference_id: Type.Optional(ClientReferenceId),
  metadata: Type.Optional(Metadata),
  expires_in_seconds: Type.Optional(
    Type.Integer({
      minimum: sandboxLifetimeSeconds.min,
      maximum: sandboxLifetimeSeconds.max,
      description: `Sandbox only: how long the session lives, so that a test need not wait. Default: ${sessionLifetimeMinutes} minutes. In live it is 400 \`INVALID_REQUEST\`.`,
      examples: [sandboxLifetimeSeconds.max],
    }),
  ),
});

const params = closed({ id: SessionId });

export const createSession = route("POST /v1/sessions", {
  id: "createSession",
  summary: "Create a verification session",
  description: `Send the person to \`verification_url\`. The session lives ${sessionLifetimeMinutes} minutes. Each call creates a new session; send an \`Idempotency-Key\` to make a repetition safe. 409 \`CONFLICT\` when the organization has reached its limit of open sessions, which the hint names. 409 \`NO_READER_AVAILABLE\` in live while the operator has configured neither a reader app nor desks.`,
  access: { scope: "sessions:write" },
  body: CreateSessionBody,
  bodyOptional: true,
  reply: { status: 201, data: CreatedSession },
  errors: [
    "UNKNOWN_TEMPLATE",
    "UNKNOWN_CLAIM_KEY",
    "EMBED_ORIGIN_NOT_ALLOWED",
    "INVALID_REQUEST",
    "CONFLICT",
    "NO_READER_AVAILABLE",
  ],
  examples: {
    body: { share_fields: shareFieldsExample, client_reference_id: "order-7391" },
  },
});

export const listSessions = route("GET /v1/sessions", {
  id: "listSessions",
  summary: "List sessions",
  access: { scope: "sessions:read" },
  query: partnerPageQuery(SessionId, {
    status: Type.Optional(
      OneOf(sessionFilters, { description: "`open` is `created` and `in_progress` together." }),
    ),
    created_from: Type.Optional({ ...Timestamp, description: "Created at or after this time." }),
    created_to: Type.Optional({ ...Timestamp, description: "Created at or before this time." }),
    client_reference_id: Type.Optional(ClientReferenceId),
    client_reference_id_prefix: Type.Optional({
      ...ClientReferenceId,
      description: "Only sessions whose `client_reference_id` begins with this text.",
      examples: ["order-"],
    }),
    metadata: Type.Optional(
      Type.String({
        maxLength: metadataLimits.keyCharacters + 1 + metadataLimits.valueCharacters,
        pattern: "^[^:]+:",
        description:
          "Only sessions whose `metadata` has this entry, written as `key:value`. The first colon ends the key.",
        examples: ["channel:mobile"],
      }),
    ),
  }),
  reply: { status: 200, list: Session },
});

export const Attempt = open("Attempt", {
  id: AttemptId,
  session_id: SessionId,
  status: OneOf(attemptStatuses),
  failure_code: Nullable(OneOf(attemptFailureCodes)),
  risk_score: Type.Number({ minimum: 0, maximum: 1, description: "0 until a check has run." }),
  completed_at: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const listAttempts = route("GET /v1/sessions/attempts/attempts", {
  id: "listAttempts",
  summary: "List attempts",
  description: "An attempt is the work of one device on a session.",
  access: { scope: "sessions:read" },
  query: partnerPageQuery(AttemptId, {
    session_id: Type.Optional(SessionId),
    status: Type.Optional(OneOf(attemptStatuses)),
  }),
  reply: { status: 200, list: Attempt },
});

export const getSession = route("GET /v1/sessions/:id", {
  id: "getSession",
  summary: "Read a session",
  access: { scope: "sessions:read" },
  params,
  invalidParams: "INVALID_SESSION_ID",
  reply: { status: 200, data: SessionWithConsent },
  errors: ["SESSION_NOT_FOUND"],
});

export const cancelSession = route("POST /v1/sessions/:id/cancel", {
  id: "cancelSession",
  summary: "Cancel a session",
  description:
    "Idempotent: cancelling a cancelled session answers 204 again. A session whose device was active in the last 60 seconds cannot be cancelled.",
  access: { scope: "sessions:write" },
  params,
  invalidParams: "INVALID_SESSION_ID",
  reply: { status: 204 },
  errors: ["SESSION_NOT_FOUND", "SESSION_EXPIRED", "SESSION_IN_PROGRESS", "CONFLICT"],
});

/** A count costs as many rows of an index, so it stops here. */
export const maxCounted = 1000;

const Counted = Type.Integer({ minimum: 0, maximum: maxCounted, description: "1000 means at least 1000." });

/** Counts of a list by what it can be narrowed to. */
export function countsOf<const N extends string>(name: string, names: readonly N[]) {
  const fields = Object.fromEntries(["all", ...names].map((each) => [each, Counted]));
  return open(name, fields as Record<N | "all", typeof Counted>);
}

export const countedSessions = ["open", "succeeded", "failed", "expired", "cancelled"] as const;

export const countSessions = route("GET /v1/auth/orgs/session-counts", {
  id: "countSessions",
  summary: "Count sessions by status",
  description: `For the tabs of a list. Each count stops at ${maxCounted}.`,
  access: { role: "member", inEnvironment: true },
  query: closed({
    created_from: Type.Optional({ ...Timestamp, description: "Created at or after this time." }),
    created_to: Type.Optional({ ...Timestamp, description: "Created at or before this time." }),
  }),
  reply: { status: 200, data: countsOf("SessionCountsByStatus", countedSessions) },
  errors: ["PERIOD_INVALID"],
});

export const readTimeline = route("GET /v1/auth/orgs/sessions/:id/timeline", {
  id: "readSessionTimeline",
  summary: "Read the times of a session's steps",
  description: "When its page was first opened, and when each step was passed.",
  access: { role: "member", inEnvironment: true },
  params,
  invalidParams: "INVALID_SESSION_ID",
  reply: {
    status: 200,
    data: open("SessionTimeline", {
      opened_at: {
        ...Nullable(Timestamp),
        description:
          "When the page was first opened. A program that opens links, such as a mail scanner, counts.",
      },
      steps: Type.Array(
        open("SessionStep", {
          name: Type.String({ description: "`chip`, `face` or `wallet`.", examples: ["chip"] }),
          tries: Type.Integer({ minimum: 0, description: "Tries that were judged." }),
          passed_at: { ...Nullable(Timestamp), description: "When the step was passed; null until then." },
        }),
        { description: "The steps of the session's methods, in their order." },
      ),
    }),
  },
  errors: ["SESSION_NOT_FOUND"],
});

export const sessionRoutes = route.declared;
