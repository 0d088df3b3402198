import { isIP } from "node:net";
import { totalmem } from "node:os";
import { signUpModes } from "@assay/contract/accounts";
import type { Purpose } from "@assay/credential/trust-anchor";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { parsePolicy } from "@assay/emrtd/verify/parse-policy";
import { matchThresholds } from "@assay/face/match";
import { parseRing } from "./platform/lib/key-ring.ts";
import {
  databaseAddress,
  decimal,
  define,
  flag,
  integer,
  list,
  oneOf,
  Problem,
  pairs,
  text,
  url,
} from "./settings/kinds.ts";
import {
  type AndroidReaderApp,
  type IosReaderApp,
  parseAndroidReaderApp,
  parseIosReaderApp,
} from "./settings/reader-apps.ts";
import { defaultSchemes, parseMethods, parseSchemes, type WalletMethod } from "./settings/wallet.ts";

function isResolver(entry: string): boolean {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(entry);
  if (match === null) return isIP(entry) !== 0;
  return isIP(match[1] ?? match[2] ?? "") !== 0 && Number(match[3] ?? 53) <= 65_535;
}

const mebibyte = 1024 * 1024;

/** Of the machine or, where that is less, of the container. */
function availableMegabytes(): number {
  const constrained = process.constrainedMemory();
  return Math.floor(Math.min(totalmem(), constrained > 0 ? constrained : totalmem()) / mebibyte);
}

const builtInTermsVersion = "2026-03-01";

/** Every setting of the service. `docs/configuration.md` is generated from this table. */
export const settings = {
  port: integer("PORT", "Port to listen on; 0 takes a free one.", 3000, 0, 65_535),
  host: text("HOST", "Address to listen on. Use 0.0.0.0 inside a container.", "127.0.0.1"),
  publicUrl: url(
    "PUBLIC_URL",
    "Address under which people and partners reach the service. Links, cookies and passkeys depend on it.",
    ["http:", "https:"],
    "http://127.0.0.1:PORT",
  ),
  dataDir: text(
    "DATA_DIR",
    "Folder for the embedded database, the key ring and mails written as files.",
    "./data",
  ),
  databaseUrl: databaseAddress(
    "DATABASE_URL",
    "PostgreSQL 15 or later. Unset, the service runs its own PostgreSQL in DATA_DIR. [More](database.md#poolers).",
  ),
  databaseDirectUrl: databaseAddress(
    "DATABASE_DIRECT_URL",
    "The same database without the pooler (PgBouncer with `pool_mode = transaction`) that DATABASE_URL leads through; for migrations, notifications and locks, which need a session of their own. Unset, there is no such pooler.",
    "DATABASE_URL",
  ),
  databasePreparedStatements: oneOf(
    "DATABASE_PREPARED_STATEMENTS",
    "`named`: each connection has statements parsed and planned once. `off`: every time, for poolers that cannot tell the statements of their clients apart (PgBouncer before 1.21, or with `max_prepared_statements = 0`).",
    ["named", "off"],
    "named",
  ),
  databasePoolSize: integer(
    "DATABASE_POOL_SIZE",
    "Most database connections of one process for requests and jobs; it has two more, for notifications and /readyz.",
    10,
    2,
    200,
  ),
  databaseStatementSeconds: integer(
    "DATABASE_STATEMENT_SECONDS",
    "Longest time of one database statement of a request. At the limit it is ended and the request answered with 503; a server that says nothing for 3 seconds more is taken for gone.",
    15,
    1,
    600,
  ),
  databaseStartWaitSeconds: integer(
    "DATABASE_START_WAIT_SECONDS",
    "How long a start, or a command, waits for a database that does not answer yet.",
    60,
    0,
    3600,
  ),
  skipMigrations: flag(
    "SKIP_MIGRATIONS",
    "`true`: a start, and every command but `migrate`, applies no migration. It refuses a database that lacks one it needs; `assay migrate` applies them.",
  ),
  databaseCleaning: oneOf(
    "DATABASE_CLEANING",
    "How the texts of a deleted organization leave the files of the database. `rewrite`: tables are written anew, which locks each for as long as that takes; `vacuum`: dead rows are removed, and their bytes stay until they are written over; `auto`: `rewrite` for the built-in PostgreSQL, `vacuum` with DATABASE_URL.",
    ["auto", "rewrite", "vacuum"],
    "auto",
  ),
  secretKeys: define<string>(
    "SECRET_KEYS",
    "Key ring as `id:base64,id:base64`, 32 bytes or more each, newest key first. Demanded together with DATABASE_URL; otherwise made once in DATA_DIR/secret-keys.",
    "",
    "DATA_DIR/secret-keys",
    (value) => {
      try {
        parseRing(value);
      } catch (error) {
        throw new Problem(`cannot be used: ${(error as Error).message}`);
      }
      return value;
    },
  ),
  smtpUrl: url(
    "SMTP_URL",
    "Mail server, as smtp:// or smtps://. Unset, each mail is an .eml file in DATA_DIR/mail.",
    ["smtp:", "smtps:"],
  ),
  mailFrom: text("MAIL_FROM", "Sender of mails.", "Assay <no-reply@localhost>"),
  dnsResolvers: list(
    "DNS_RESOLVERS",
    "Resolvers for every name the service looks up, as ip or ip:port, comma separated. Unset, the system's.",
    (entry) => (isResolver(entry) ? null : "is not an address like 9.9.9.9, 9.9.9.9:53 or [2620:fe::fe]:53"),
  ),
  webhookAllowedPrivateHosts: list(
    "WEBHOOK_ALLOWED_PRIVATE_HOSTS",
    "Exact host names or addresses that webhooks, and fetches of logos, may reach although they are private, comma separated. For development and tests.",
    (entry) => (/[\s/@]/.test(entry) ? "is not a plain host name or address" : null),
  ),
  webhookMaxInFlight: integer(
    "WEBHOOK_MAX_IN_FLIGHT",
    "Most webhook attempts of one process at the same time; three quarters are for receivers that answer slowly or not at all.",
    1024,
    16,
    20_000,
  ),
  signUp: oneOf(
    "SIGN_UP",
    "Who may make an account: `open`: anybody; `invited`: only an address with an invitation that is good; `closed`: nobody. `assay user create` makes one in every mode.",
    signUpModes,
    "open",
  ),
  organizationsPerUser: integer(
    "ORGANIZATIONS_PER_USER",
    "Most organizations that one account may create; one more is 409. Limits of an organization bound what one person can use only together with this one.",
    10,
    1,
    100_000,
  ),
  invitationsPerDay: integer(
    "INVITATIONS_PER_DAY",
    "Most invitations that one organization may mail in a day (UTC), and most that one account may send in all organizations together; one more is 409.",
    200,
    1,
    100_000,
  ),
  webhookHistoryDays: integer(
    "WEBHOOK_HISTORY_DAYS",
    "How long events and deliveries stay listed.",
    30,
    1,
    3650,
  ),
  rpTermsFile: text(
    "RP_TERMS_FILE",
    "Text of the relying-party terms, UTF-8. Unset, the text that comes with the service.",
    "",
    "apps/server/terms/relying-party-terms.md",
  ),
  rpTermsVersion: define<string>(
    "RP_TERMS_VERSION",
    "Version of that text, a date like 2026-03-01. Demanded together with RP_TERMS_FILE; change it with every change of the text.",
    builtInTermsVersion,
    builtInTermsVersion,
    (value) => {
      if (!/^\d{4}-\d{2}-\d{2}[A-Za-z0-9.-]{0,20}$/.test(value))
        throw new Problem("must begin with a date like 2026-03-01");
      return value;
    },
  ),
  rpTermsJurisdiction: text(
    "RP_TERMS_JURISDICTION",
    "Jurisdiction that the relying-party terms name.",
    "European Union",
  ),
  consentTextsFile: text(
    "CONSENT_TEXTS_FILE",
    "Texts that people agree to before a verification: JSON with `version` and, for each language, `title` and `paragraphs`. Change the version with every change of the texts. Unset, the texts that come with the service.",
    "",
    "apps/server/terms/consent-texts.json",
  ),
  trustSources: list(
    "TRUST_SOURCES",
    "Addresses (https) of master lists and revocation lists that are asked every six hours, comma separated. `#sha256=` with the fingerprint of a signer, or of its authority, says who alone may have signed it; otherwise a root that was imported must vouch. The word `distribution-points` stands for the addresses that trusted certificates name for their revocation lists. Unset, nothing is fetched.",
    () => null,
  ),
  trustPolicy: define<string>(
    "TRUST_POLICY",
    "How findings about a document are judged, as `switch=accept`, `switch=warn` or `switch=refuse`, comma separated; `strict` at the beginning takes the strict values for what is not named. The switches, their defaults and what each is about: [operating](trust-policy.md).",
    "",
    "(unset)",
    (value) => {
      try {
        parsePolicy(value);
      } catch (error) {
        if (!isEmrtdError(error)) throw error;
        throw new Problem(`cannot be used: ${error.message}`);
      }
      return value;
    },
  ),
  walletMethods: define<readonly WalletMethod[]>(
    "WALLET_METHODS",
    "The wallet methods that live sessions may list: `wallet_pid`, `wallet_mdl`, `wallet_age`, comma separated. The sandbox has all of them. [More](wallets-operating.md).",
    [],
    "(unset)",
    parseMethods,
  ),
  walletTrustSources: list(
    "WALLET_TRUST_SOURCES",
    "Addresses (https) of lists of wallet issuers that are asked every six hours, as `pid=https://…#sha256=…`, comma separated. The purpose is `pid`, `mdl` or `age`; the fingerprint is that of the list's signer, or of its authority. A list of trusted entities (ETSI TS 119 602), a VICAL (ISO/IEC 18013-5) and PEM certificates are told apart by their content. Unset, nothing is fetched.",
    () => null,
  ),
  walletStatusMaxAge: integer(
    "WALLET_STATUS_MAX_AGE",
    "Most seconds for which a status list counts as fresh, whatever its issuer allows. A revocation is noticed after that time at the latest.",
    3600,
    60,
    604_800,
  ),
  walletListGraceDays: integer(
    "WALLET_LIST_GRACE_DAYS",
    "Days for which a list of wallet issuers still counts in live after its next update was due, with the warning `trust_list_stale`. Longer than 7 where a publisher is known to be late; a withdrawn issuer then counts for as long.",
    7,
    7,
    365,
  ),
  walletSchemes: define<Readonly<Record<Purpose, string>>>(
    "WALLET_SCHEMES",
    "The scheme of the link that opens a wallet, for each purpose, as `pid=haip-vp,mdl=openid4vp,age=av`. Wallets register different ones, such as `haip-vp`, `openid4vp`, `eudi-openid4vp` and `av`.",
    defaultSchemes,
    Object.entries(defaultSchemes)
      .map(([purpose, scheme]) => `${purpose}=${scheme}`)
      .join(","),
    parseSchemes,
  ),
  readerAppAndroid: define<AndroidReaderApp | null>(
    "READER_APP_ANDROID",
    "Your Android app that reads chips, as `package=org.example.verify,sha256=AB:CD:…,install=https://…`: its application id, the SHA-256 of the certificate that signs it (repeat it for several) and where people get it, which may be left out with `READER_APP_ANDROID_FILE`. The service then answers `/.well-known/assetlinks.json`, so that links of verifications open in the app, and the person's page leads to it. [More](reading-devices.md#your-app-on-the-page).",
    null,
    "(unset)",
    parseAndroidReaderApp,
  ),
  readerAppAndroidFile: text(
    "READER_APP_ANDROID_FILE",
    "The file of your Android app (APK), or of Assay Reader. The service gives it to everybody at `/app.apk`, and leads people to `/app`, which says how to install it, where `READER_APP_ANDROID` names no other place. A new version is there once the file is replaced. [More](android-app.md).",
    "",
  ),
  readerAppIos: define<IosReaderApp | null>(
    "READER_APP_IOS",
    "Your iPhone app that reads chips, as `app=ABCDE12345.org.example.verify,clip=ABCDE12345.org.example.verify.Clip,install=https://apps.apple.com/app/id1234567890`: team and bundle id, those of its App Clip if it has one, and where people get it. The service then answers `/.well-known/apple-app-site-association`, and the person's page leads to the app.",
    null,
    "(unset)",
    parseIosReaderApp,
  ),
  deskReaders: flag(
    "DESK_READERS",
    "`true`: staff read documents at desks with `assay read`. Live sessions can be created if this is set or a reader app is configured; where this alone is set, the person's page leads to the desk. [More](desk.md).",
  ),
  attestationRoots: text(
    "ATTESTATION_ROOTS",
    "A file with certificates (PEM) whose keys may vouch for phones, besides those of Google that come with the service. [More](shell.md#phones-that-attest-their-pictures).",
    "",
  ),
  attestationRevoked: text(
    "ATTESTATION_REVOKED",
    "A file with Google's list of revoked attestation keys, as published at `https://android.googleapis.com/attestation/status`. The service fetches nothing itself; a newer file counts at once.",
    "",
  ),
  securityContact: text(
    "SECURITY_CONTACT",
    "Where people report weaknesses of this installation: an e-mail or an https address. The service then answers `/.well-known/security.txt` (RFC 9116); unset, that is 404.",
    "",
  ),
  operatorEmail: text(
    "OPERATOR_EMAIL",
    "Where the service writes to whoever runs it: before trusted authorities are removed, and when the signer of an imported list was revoked. Unset, the log alone tells.",
    "",
  ),
  trustProxy: list(
    "TRUST_PROXY",
    "Addresses or networks of reverse proxies whose X-Forwarded-For is believed, comma separated.",
    (entry) =>
      isIP(entry.split("/")[0] ?? "") !== 0 ? null : "is not an address or a network like 10.0.0.0/8",
  ),
  organizationMaxOpenSessions: integer(
    "ORGANIZATION_MAX_OPEN_SESSIONS",
    "Most sessions of one organization that are open at once in each environment; one more is answered with 409.",
    100_000,
    1,
    10_000_000,
  ),
  organizationMaxEndpoints: integer(
    "ORGANIZATION_MAX_ENDPOINTS",
    "Most webhook endpoints of one organization in each environment; one more is answered with 409.",
    200,
    1,
    100_000,
  ),
  organizationMaxApiKeys: integer(
    "ORGANIZATION_MAX_API_KEYS",
    "Most API keys of one organization in each environment; one more is answered with 409.",
    500,
    1,
    100_000,
  ),
  organizationTestEventsPerMinute: integer(
    "ORGANIZATION_TEST_EVENTS_PER_MINUTE",
    "Most test events of one organization in each environment in a minute; one more is answered with 409.",
    60,
    1,
    100_000,
  ),
  organizationRequestsPerSecond: integer(
    "ORGANIZATION_REQUESTS_PER_SECOND",
    "Most requests a second of one organization, with API keys and access tokens together, counted by each process for itself; one more is answered with 503 and `Retry-After`. The default is above what one process can serve to one organization.",
    5000,
    1,
    1_000_000,
  ),
  httpMaxConnections: integer(
    "HTTP_MAX_CONNECTIONS",
    "Most connections of one process at once, event streams and sockets of reading devices included; one more is closed at once. The limit of open files bounds it, less what the database, files and connections to others need.",
    20_000,
    10,
    1_000_000,
  ),
  requestMaxInFlight: integer(
    "REQUEST_MAX_IN_FLIGHT",
    "Slots of one process: requests that it works for at the same time. One caller gets an eighth of them, one client address half; others wait for a slot, each caller in turn.",
    32,
    1,
    10_000,
  ),
  metricsPort: integer(
    "METRICS_PORT",
    "Port for /metrics on HOST; 0 keeps it off unless METRICS_TOKEN is set.",
    0,
    0,
    65_535,
  ),
  metricsToken: text(
    "METRICS_TOKEN",
    "With a token, /metrics is also served on PORT to `Authorization: Bearer <token>`.",
    "",
  ),
  otlpEndpoint: define<string>(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "Address of an OpenTelemetry collector that takes OTLP over HTTP as JSON, such as http://127.0.0.1:4318; `/v1/traces` is added to it. Unset, nothing is traced. [More](logs-and-traces.md#traces).",
    "",
    "(unset)",
    (value) => {
      const parsed = URL.parse(value);
      if (parsed === null || !["http:", "https:"].includes(parsed.protocol))
        throw new Problem("must be a URL that starts with http:// or https://");
      if (parsed.search !== "" || parsed.hash !== "") throw new Problem("must have no query and no fragment");
      return value.replace(/\/+$/, "");
    },
  ),
  otlpHeaders: pairs(
    "OTEL_EXPORTER_OTLP_HEADERS",
    "Headers for the collector, such as its key, as `name=value,name=value`; values percent-encoded.",
  ),
  otelResourceAttributes: pairs(
    "OTEL_RESOURCE_ATTRIBUTES",
    "What traces say of this process, in the same form, such as `service.name=assay-eu,deployment.environment.name=production`.",
  ),
  otelTracesSamplerArg: decimal(
    "OTEL_TRACES_SAMPLER_ARG",
    "The share of traces that is kept, from 0 to 1. A `traceparent` that comes with a request is followed; that it asks to be kept does not count.",
    1,
    0,
    1,
  ),
  sessionRetentionDays: integer(
    "SESSION_RETENTION_DAYS",
    "Days after which an ended session is deleted with its attempts. Analytics figures stay.",
    30,
    1,
    3650,
  ),
  attemptRetentionDays: integer(
    "ATTEMPT_RETENTION_DAYS",
    "Days after which an ended attempt keeps nothing but its outcome.",
    7,
    1,
    3650,
  ),
  auditRetentionDays: integer(
    "AUDIT_RETENTION_DAYS",
    "Days after which an entry of the audit log is deleted.",
    365,
    1,
    3650,
  ),
  faceWorkers: integer(
    "FACE_WORKERS",
    "Processes that judge faces at the same time; each takes up to 300 MB and a core while it works.",
    1,
    1,
    64,
  ),
  attemptMemoryMb: define<number>(
    "ATTEMPT_MEMORY_MB",
    "Most megabytes of memory that one process reserves for the chip files and camera frames of running verifications. A device waiting to read a chip takes 1.1, one that films a face 12 more; beyond it devices are asked to wait, which costs no try.",
    Math.max(256, Math.floor(availableMegabytes() / 4)),
    "a quarter of the memory of the machine or container, at least 256",
    (value) => {
      const number = Number(value);
      if (!/^\d+$/.test(value) || number < 16 || number > 1_000_000)
        throw new Problem("must be a whole number from 16 to 1000000");
      return number;
    },
  ),
  faceMatchDistance: decimal(
    "FACE_MATCH_DISTANCE",
    "Greatest distance between a person and the portrait of the chip that counts as a match. Smaller is stricter.",
    matchThresholds.match,
    0,
    2,
  ),
  faceReviewDistance: decimal(
    "FACE_REVIEW_DISTANCE",
    "Up to this distance a failed match is named as close. Not below FACE_MATCH_DISTANCE.",
    matchThresholds.review,
    0,
    2,
  ),
  faceColours: oneOf(
    "FACE_COLOURS",
    "`risk`: a face that does not reflect the colours of the screen raises the risk score; `require`: it fails.",
    ["risk", "require"],
    "risk",
  ),
  faceModelsFile: text(
    "FACE_MODELS_FILE",
    "A module with other face models, as docs/face-models.md describes. Unset, the ones that come with the service.",
    "",
  ),
  faceAttackDetector: text(
    "FACE_ATTACK_DETECTOR",
    "A module with your own detector of presentation attacks, as docs/face-models.md describes. It runs in the process that sees pictures. Unset, there is none.",
    "",
  ),
  faceAttackPolicy: oneOf(
    "FACE_ATTACK_POLICY",
    "What the detector of FACE_ATTACK_DETECTOR does. `risk`: an attack, or no answer, raises the risk score; `require`: an attack fails the try, and without an answer nothing is judged, which costs no try.",
    ["risk", "require"],
    "risk",
  ),
  logLevel: oneOf("LOG_LEVEL", "Least level that is logged.", ["debug", "info", "warn", "error"], "info"),
  logFormat: oneOf(
    "LOG_FORMAT",
    "`json`, `pretty`, or `auto`: pretty on a terminal.",
    ["auto", "json", "pretty"],
    "auto",
  ),
  drainSeconds: integer(
    "DRAIN_SECONDS",
    "How long after SIGTERM the process goes on serving while /readyz says 503, until no load balancer sends it anything any more: twice the interval of its probes, and a second. 0 where there is none.",
    0,
    0,
    300,
  ),
  drainAttemptSeconds: integer(
    "DRAIN_ATTEMPT_SECONDS",
    "How long after that people whose chip has passed may finish at this process. Told to go on elsewhere, they would have to read the chip once more.",
    0,
    0,
    300,
  ),
  shutdownGraceSeconds: integer(
    "SHUTDOWN_GRACE_SECONDS",
    "How long requests in flight may take to finish after SIGTERM and draining.",
    15,
    1,
    600,
  ),
} as const;

/** Settings with a secret in them. Each may come from the file that its name with `_FILE` names, and SIGHUP reads that file again. */
export const fileSettings = [
  "databaseUrl",
  "databaseDirectUrl",
  "secretKeys",
  "smtpUrl",
  "metricsToken",
] as const satisfies readonly (keyof typeof settings)[];

/** Limits that no operator has to set. They are a part of the configuration so that a test can have others. */
export const fixedLimits = {
  /** Jobs work on whole tables: the largest rewrite of a table ends within this time, or is left to the operator. */
  databaseJobStatementSeconds: 300,
  /** Longest wait for a lock, such as for another request with the same Idempotency-Key; then 503. */
  databaseLockSeconds: 10,
  /** After this time the database ends a transaction that sends nothing, so that what it locked is free again. */
  databaseIdleTransactionSeconds: 30,
  /** Longest wait for a connection, a new one or a free one of the pool; then 503. */
  databaseConnectSeconds: 10,
  /** Days after which an .eml file in DATA_DIR/mail is removed. */
  mailFileDays: 7,
  /** Most invitations that one address gets in a day (UTC), from all organizations together. */
  invitationsPerRecipient: 10,
  /** The part of ATTEMPT_MEMORY_MB that all verifications of the sandbox may take together. */
  attemptMemorySandboxPercent: 25,
  /** The part of one organization: of ATTEMPT_MEMORY_MB with live sessions, of the sandbox's part in the sandbox. */
  attemptMemoryOrganizationPercent: 50,
};

export type Config = {
  -readonly [K in Exclude<keyof typeof settings, `wallet${string}`>]: (typeof settings)[K]["fallback"];
} & typeof fixedLimits & { wallet: WalletConfig };

/** What the operator decides about wallets. */
type WalletConfig = {
  methods: readonly WalletMethod[];
  trustSources: readonly string[];
  statusMaxAgeSeconds: number;
  listGraceDays: number;
  schemes: Readonly<Record<Purpose, string>>;
};
