/**
 * Numbers and names that the schemas and other code share. This file imports nothing, so that a page can use
 * it without the schema library. Import or derive these facts; do not repeat them.
 */

/** A session lives this long, to the millisecond. */
export const sessionLifetimeMinutes = 60;
/**
 * Allowed lifetimes of a sandbox session.
 * Lists and jobs rely on `max`: no session lives longer than the others.
 */
export const sandboxLifetimeSeconds = { min: 60, max: sessionLifetimeMinutes * 60 } as const;

/** Chip reads, and likewise face captures, that a session may use up. The last one that fails ends it. */
export const triesAllowed = 3;

/**
 * The languages of the verify page: the official ones of the European Union, Ukrainian, Turkish and Arabic.
 * Partners give translated texts in these languages.
 */
// biome-ignore format: a list of 27 lines says no more than this one.
export const pageLanguages = [
  "en", "bg", "cs", "da", "de", "el", "es", "et", "fi", "fr", "ga", "hr", "hu", "it", "lt", "lv", "mt", "nl", "pl", "pt", "ro",
  "sk", "sl", "sv", "uk", "tr", "ar",
] as const;
export type PageLanguage = (typeof pageLanguages)[number];

/** Languages of the dashboard. */
export const dashboardLanguages = ["en", "de", "fr"] as const;
export type DashboardLanguage = (typeof dashboardLanguages)[number];

/** The languages of the mails to people who have an account. The first is the default. */
export const mailLanguages = [
  "en",
  "de",
  "es",
  "fr",
  "it",
  "nl",
  "pl",
  "pt",
  "tr",
  "uk",
] as const satisfies readonly PageLanguage[];
export type MailLanguage = (typeof mailLanguages)[number];

/** The writing direction of a language. */
export function directionOf(language: string): "ltr" | "rtl" {
  return language === "ar" ? "rtl" : "ltr";
}

/**
 * Ways to verify a person. `document_chip`: a document's chip, then the face.
 * The others: a wallet credential.
 */
export const methods = ["document_chip", "wallet_pid", "wallet_mdl", "wallet_age"] as const;
export type Method = (typeof methods)[number];
/** The methods of a session that names none. */
export const defaultMethods: readonly Method[] = ["document_chip"];

/** Version 2 allows wallets: claims come from any listed method, and `service_document_id` may be null. */
export function contractVersionOf(allowed: readonly Method[]): 1 | 2 {
  return allowed.every((method) => defaultMethods.includes(method)) ? 1 : 2;
}

/**
 * Checks that a partner may demand in addition to those that always run. `clone_detection`: the chip proves
 * that it is no copy. `revocation`: a fresh list of the issuing state shows that the signer is not revoked.
 */
export const requirementNames = ["clone_detection", "revocation"] as const;
export type RequirementName = (typeof requirementNames)[number];

/** Everything that a session can require: of the document, and that the person stays in one browser. */
export const demandNames = [...requirementNames, "binding"] as const;
export type DemandName = (typeof demandNames)[number];

/** Maximum session templates per environment of an organization. */
export const templatesPerEnvironment = 100;

/** Identifiers are `<prefix>_` and this many letters and digits. */
export const idLengths = { vs: 64, va: 64, evt: 64, whd: 64, wha: 64, whe: 32, whk: 32, vst: 32 } as const;
export type IdPrefix = keyof typeof idLengths;
/** No name of a template begins like this, so that a text is either the id or the name of one. */
export const templateIdPrefix = "vst_";

/**
 * An API key is the prefix and this many letters and digits, of which the first few stay readable. Any other
 * bearer credential is a user's access token.
 */
export const apiKeyForm = { prefix: "kk_", length: 32, shownLength: 4 } as const;

/**
 * The cookie of a signed-in user.
 * On https the `__Host-` prefix makes browsers insist on Secure, Path=/ and no Domain.
 */
export const sessionCookieNames = { http: "assay_session", https: "__Host-assay_session" } as const;

/**
 * Each organization has both. Every key, endpoint, session, event, delivery and figure belongs to one of
 * them. Test documents count in the sandbox, real ones in live.
 */
export const environments = ["sandbox", "live"] as const;
export type Environment = (typeof environments)[number];
/** The header with which a user names the environment; an API key has a fixed one. Default: the first. */
export const environmentHeader = "X-Service-Environment";

/** `Idempotency-Key`: how long a key may be, and how long an answer is remembered. */
export const idempotencyLimits = { keyCharacters: 255, keptHours: 24 } as const;
