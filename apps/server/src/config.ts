import { isIP } from "node:net";
import { totalmem } from "node:os";
import { signUpModes } from "@assay/contract/accounts";
import type { Purpose } from "@assay/credential/trust-anchor";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { parsePolicy } from "@assay/emrtd/verify/parse-policy";
import { defaultMatchDistance } from "@assay/face/match";
import { parseResolver } from "./platform/lib/dns.ts";
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

const mebibyte = 1024 * 1024;

/** Memory of the machine, or the container's limit if that is lower. */
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
    "Address of the same database without the pooler. Needed if DATABASE_URL leads through PgBouncer with `pool_mode = transaction`. Migrations, notifications and locks use it, because they need a session.",
    "DATABASE_URL",
  ),
  databasePreparedStatements: oneOf(
    "DATABASE_PREPARED_STATEMENTS",
    "`named`: each connection parses and plans a statement once. `off`: it does so every time. Use `off` for poolers without prepared statements: PgBouncer before 1.21, or with `max_prepared_statements = 0`.",
    ["named", "off"],
    "named",
  ),
  databasePoolSize: integer(
    "DATABASE_POOL_SIZE",
    "Maximum number of database connections of one process for requests and jobs. Each process opens two more, for notifications and /readyz.",
    10,
    2,
    200,
  ),
  databaseStatementSeconds: integer(
    "DATABASE_STATEMENT_SECONDS",
    "Maximum time of one database statement of a request. The service then cancels it and answers 503. If the server stays silent for 3 more seconds, the service closes the connection.",
    15,
    1,
    600,
  ),
  databaseStartWaitSeconds: integer(
    "DATABASE_START_WAIT_SECONDS",
    "How long the service or a command waits at its start for a database that does not answer yet.",
    60,
    0,
    3600,
  ),
  skipMigrations: flag(
    "SKIP_MIGRATIONS",
    "`true`: only `assay migrate` applies migrations. The service and all other commands refuse to start if the database lacks a migration that they need.",
  ),
  databaseCleaning: oneOf(
    "DATABASE_CLEANING",
    "How the texts of a deleted organization leave the files of the database. `rewrite`: tables are rewritten, each under a lock. `vacuum`: dead rows are removed, and their bytes stay until they are overwritten. `auto`: `rewrite` for the built-in PostgreSQL, `vacuum` with DATABASE_URL.",
    ["auto", "rewrite", "vacuum"],
    "auto",
  ),
  secretKeys: define<string>(
    "SECRET_KEYS",
    "Key ring as `id:base64,id:base64`, at least 32 bytes each, newest key first. Required with DATABASE_URL. Otherwise the service creates it once in DATA_DIR/secret-keys.",
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
    (entry) =>
      parseResolver(entry) !== null ? null : "is not an address like 9.9.9.9, 9.9.9.9:53 or [2620:fe::fe]:53",
  ),
  webhookAllowedPrivateHosts: list(
    "WEBHOOK_ALLOWED_PRIVATE_HOSTS",
    "Exact names or addresses of private hosts that webhooks and logo fetches may reach, comma separated. For development and tests.",
    (entry) => (/[\s/@]/.test(entry) ? "is not a plain host name or address" : null),
  ),
  signUp: oneOf(
    "SIGN_UP",
    "Who may create an account. `open`: everyone. `invited`: only addresses with a valid invitation. `closed`: no one. `assay user create` works in every mode.",
    signUpModes,
    "open",
  ),
  organizationsPerUser: integer(
    "ORGANIZATIONS_PER_USER",
    "Maximum number of organizations that one account may create; one more is answered with 409. Without it, a person could avoid the limits of an organization by creating more of them.",
    10,
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
    "Version of that text, a date like 2026-03-01. Required with RP_TERMS_FILE. Change it with every change of the text.",
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
    "File with the texts that people agree to before a verification: JSON with `version` and, for each language, `title` and `paragraphs`. Change the version with every change of the texts. Unset, the texts that come with the service.",
    "",
    "apps/server/terms/consent-texts.json",
  ),
  trustSources: list(
    "TRUST_SOURCES",
    "Addresses (https) of master lists and revocation lists, comma separated. The service fetches them every six hours. `#sha256=` pins the signer of a list, or its authority, by fingerprint; without it, an imported root must have issued the signer. `distribution-points` stands for the revocation lists that trusted certificates name. Unset, nothing is fetched.",
    () => null,
  ),
  trustPolicy: define<string>(
    "TRUST_POLICY",
    "How the service judges findings about a document, as `switch=accept`, `switch=warn` or `switch=refuse`, comma separated. `strict` at the beginning sets every other switch to its strict value. [Switches and defaults](trust-policy.md).",
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
    "Addresses (https) of lists of wallet issuers, as `pid=https://…#sha256=…`, comma separated. The service fetches them every six hours. The purpose is `pid`, `mdl` or `age`. The fingerprint is that of the list's signer, or of its authority. A list may be a list of trusted entities (ETSI TS 119 602), a VICAL (ISO/IEC 18013-5) or PEM certificates. Unset, nothing is fetched.",
    () => null,
  ),
  walletStatusMaxAge: integer(
    "WALLET_STATUS_MAX_AGE",
    "Maximum age in seconds of a status list, even if its issuer allows more. The service notices a revocation after that time at the latest.",
    3600,
    60,
    604_800,
  ),
  walletListGraceDays: integer(
    "WALLET_LIST_GRACE_DAYS",
    "Days for which live sessions still accept a list of wallet issuers after its next update was due, with the warning `trust_list_stale`. Increase it only for a publisher that is often late: a withdrawn issuer stays trusted for as long.",
    7,
    7,
    365,
  ),
  walletSchemes: define<Readonly<Record<Purpose, string>>>(
    "WALLET_SCHEMES",
    "Scheme of the link that opens a wallet, for each purpose, as `pid=haip-vp,mdl=openid4vp,age=av`. Wallets register different schemes, such as `haip-vp`, `openid4vp`, `eudi-openid4vp` and `av`.",
    defaultSchemes,
    Object.entries(defaultSchemes)
      .map(([purpose, scheme]) => `${purpose}=${scheme}`)
      .join(","),
    parseSchemes,
  ),
  readerAppAndroid: define<AndroidReaderApp | null>(
    "READER_APP_ANDROID",
    "Your Android app that reads chips, as `package=org.example.verify,sha256=AB:CD:…,install=https://…`: its application id, the SHA-256 of its signing certificate (repeat it for several) and its install address. `install` is optional with `READER_APP_ANDROID_FILE`. The service then serves `/.well-known/assetlinks.json`, so that verification links open in the app, and the verify page offers the app. [More](reading-devices.md#your-app-on-the-page).",
    null,
    "(unset)",
    parseAndroidReaderApp,
  ),
  readerAppAndroidFile: text(
    "READER_APP_ANDROID_FILE",
    "APK file of your Android app, or of Assay Reader. The service serves it at `/app.apk`. Unless `READER_APP_ANDROID` names an install address, people are sent to `/app`, which explains the installation. Replace the file to publish a new version. [More](android-app.md).",
    "",
  ),
  readerAppIos: define<IosReaderApp | null>(
    "READER_APP_IOS",
    "Your iPhone app that reads chips, as `app=ABCDE12345.org.example.verify,clip=ABCDE12345.org.example.verify.Clip,install=https://apps.apple.com/app/id1234567890`: team and bundle id, those of its App Clip if it has one, and its install address. The service then serves `/.well-known/apple-app-site-association`, and the verify page offers the app.",
    null,
    "(unset)",
    parseIosReaderApp,
  ),
  deskReaders: flag(
    "DESK_READERS",
    "`true`: staff read documents at desks with `assay read`. Live sessions that read a document need this setting or a reader app. Without a reader app the verify page sends people to the desk. [More](desk.md).",
  ),
  attestationRoots: text(
    "ATTESTATION_ROOTS",
    "File with root certificates (PEM) that may attest phones, in addition to Google's, which come with the service. [More](shell.md#phones-that-attest-their-pictures).",
    "",
  ),
  attestationRevoked: text(
    "ATTESTATION_REVOKED",
    "File with Google's list of revoked attestation keys, as published at `https://android.googleapis.com/attestation/status`. The service does not fetch it, and uses a newer file at once.",
    "",
  ),
  securityContact: text(
    "SECURITY_CONTACT",
    "Where people report vulnerabilities of this installation: an e-mail or an https address. The service publishes it at `/.well-known/security.txt` (RFC 9116). Unset, that path is 404.",
    "",
  ),
  operatorEmail: text(
    "OPERATOR_EMAIL",
    "Address to which the service sends mail before it removes trusted authorities, and when the signer of an imported list was revoked. Unset, only the log says so.",
    "",
  ),
  trustProxy: list(
    "TRUST_PROXY",
    "Addresses or networks of reverse proxies whose X-Forwarded-For the service trusts, comma separated.",
    (entry) =>
      isIP(entry.split("/")[0] ?? "") !== 0 ? null : "is not an address or a network like 10.0.0.0/8",
  ),
  organizationMaxOpenSessions: integer(
    "ORGANIZATION_MAX_OPEN_SESSIONS",
    "Maximum number of open sessions of one organization in each environment; one more is answered with 409.",
    100_000,
    1,
    10_000_000,
  ),
  organizationMaxEndpoints: integer(
    "ORGANIZATION_MAX_ENDPOINTS",
    "Maximum number of webhook endpoints of one organization in each environment; one more is answered with 409.",
    200,
    1,
    100_000,
  ),
  organizationRequestsPerSecond: integer(
    "ORGANIZATION_REQUESTS_PER_SECOND",
    "Maximum number of requests a second of one organization, with API keys and access tokens together. Each process counts its own requests. One more is answered with 503 and `Retry-After`. The default is more than one process can serve.",
    5000,
    1,
    1_000_000,
  ),
  httpMaxConnections: integer(
    "HTTP_MAX_CONNECTIONS",
    "Maximum number of connections of one process, including event streams and sockets of reading devices; one more is closed at once. The limit of open files lowers it: the process reserves some for the database, files and outgoing connections.",
    20_000,
    10,
    1_000_000,
  ),
  requestMaxInFlight: integer(
    "REQUEST_MAX_IN_FLIGHT",
    "Number of requests that one process handles at the same time. One caller gets at most an eighth of them, one client address half. Other requests wait, and callers take turns.",
    32,
    1,
    10_000,
  ),
  metricsPort: integer(
    "METRICS_PORT",
    "Port for /metrics on HOST. With 0, /metrics is off unless METRICS_TOKEN is set.",
    0,
    0,
    65_535,
  ),
  metricsToken: text(
    "METRICS_TOKEN",
    "If set, /metrics is also served on PORT, to requests with `Authorization: Bearer <token>`.",
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
    "Attributes of this process in traces, in the same form, such as `service.name=assay-eu,deployment.environment.name=production`.",
  ),
  otelTracesSamplerArg: decimal(
    "OTEL_TRACES_SAMPLER_ARG",
    "Share of traces that the service keeps, from 0 to 1. The service continues the trace of a request's `traceparent`, but ignores its sampled flag.",
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
    "Days after which the service deletes everything about an ended attempt except its outcome.",
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
    "Number of processes that judge faces. Each takes up to 300 MB and one core while it works.",
    1,
    1,
    64,
  ),
  attemptMemoryMb: define<number>(
    "ATTEMPT_MEMORY_MB",
    "Maximum memory in megabytes that one process reserves for chip files and camera frames of running verifications. A device that waits to read a chip takes 1.1, one that films a face 12 more. When the memory is used up, devices are asked to wait, which costs no try.",
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
    "Maximum distance between a person and the portrait of the chip that counts as a match. Smaller is stricter.",
    defaultMatchDistance,
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
    "Module with other face models, as docs/face-models.md describes. Unset, the models that come with the service.",
    "",
  ),
  faceAttackDetector: text(
    "FACE_ATTACK_DETECTOR",
    "Module with your detector of presentation attacks, as docs/face-models.md describes. It runs in the process that judges faces. Unset, there is none.",
    "",
  ),
  faceAttackPolicy: oneOf(
    "FACE_ATTACK_POLICY",
    "What the result of FACE_ATTACK_DETECTOR does. `risk`: an attack, or no answer, raises the risk score. `require`: an attack fails the try; without an answer the try is not judged and does not count.",
    ["risk", "require"],
    "risk",
  ),
  logLevel: oneOf("LOG_LEVEL", "Lowest level that is logged.", ["debug", "info", "warn", "error"], "info"),
  logFormat: oneOf(
    "LOG_FORMAT",
    "`json`, `pretty`, or `auto`: pretty on a terminal.",
    ["auto", "json", "pretty"],
    "auto",
  ),
  drainSeconds: integer(
    "DRAIN_SECONDS",
    "Seconds after SIGTERM during which the process still serves requests while /readyz answers 503. Set it to twice the probe interval of your load balancer plus one second, or to 0 without a load balancer.",
    0,
    0,
    300,
  ),
  drainAttemptSeconds: integer(
    "DRAIN_ATTEMPT_SECONDS",
    "Seconds after DRAIN_SECONDS during which people whose chip has passed may finish at this process. At another process they would have to read the chip again.",
    0,
    0,
    300,
  ),
} as const;

/** Settings with a secret. NAME_FILE may name a file with the value of NAME; SIGHUP reads that file again. */
export const fileSettings = [
  "databaseUrl",
  "databaseDirectUrl",
  "secretKeys",
  "smtpUrl",
  "metricsToken",
] as const satisfies readonly (keyof typeof settings)[];

/** Limits that no operator has to set. They are part of the configuration so that tests can change them. */
export const fixedLimits = {
  /** Jobs work on whole tables. A table whose rewrite takes longer than this is left to the operator. */
  databaseJobStatementSeconds: 300,
  /** Longest wait for a lock, such as for another request with the same Idempotency-Key; then 503. */
  databaseLockSeconds: 10,
  /** The database ends a transaction that is idle for this long, so that its locks are released. */
  databaseIdleTransactionSeconds: 30,
  /** Longest wait for a new connection or a free one of the pool; then 503. */
  databaseConnectSeconds: 10,
  /** Days after which an .eml file in DATA_DIR/mail is removed. */
  mailFileDays: 7,
  /** Seconds that requests in flight may take to finish after SIGTERM and draining. */
  shutdownGraceSeconds: 15,
  /** Maximum number of concurrent webhook attempts of one process. */
  webhookMaxInFlight: 1024,
  /** Maximum number of API keys of one organization in each environment. */
  organizationMaxApiKeys: 500,
  /** Maximum number of test events a minute of one organization in each environment. */
  organizationTestEventsPerMinute: 60,
  /** Maximum number of invitations a day (UTC), for each organization and for each account across all of them. */
  invitationsPerDay: 200,
  /** Maximum number of invitations a day (UTC) to one address, from all organizations together. */
  invitationsPerRecipient: 10,
  /** Share of ATTEMPT_MEMORY_MB that all verifications of the sandbox may take together. */
  attemptMemorySandboxPercent: 25,
  /** Share of one organization: of ATTEMPT_MEMORY_MB for live sessions, of the sandbox's share otherwise. */
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
