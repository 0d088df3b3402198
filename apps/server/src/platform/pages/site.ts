type Section = { title: string; names: readonly string[]; isForPartners?: true };

/** The entrances to the docs, by task. Each leads to the section of its name. */
export const doors: readonly { title: string; about: string }[] = [
  { title: "Integrate", about: "Create sessions, receive webhooks, accept wallets, test and go live." },
  { title: "Operate", about: "Install, configure, back up, upgrade, scale and monitor an installation." },
  { title: "Build a reading device", about: "Put a chip reader behind the verify page, or write your own." },
];

/**
 * The guides in the order in which readers need them. A test checks that every file of `docs/` is listed
 * once.
 */
export const sections: readonly Section[] = [
  {
    title: "Integrate",
    isForPartners: true,
    names: [
      "first-verification",
      "sessions",
      "outcomes",
      "return-code",
      "lists-and-figures",
      "templates",
      "webhooks",
      "webhook-samples",
      "webhook-deliveries",
      "listen",
      "accept-wallets",
      "embedding",
      "test-in-ci",
      "domains",
      "go-live",
      "troubleshoot",
      "versioning",
      "changelog-partners",
      "errors",
      "generated-clients",
      "agents",
    ],
  },
  {
    title: "Receive webhooks in",
    names: [
      "webhooks-express",
      "webhooks-fastify",
      "webhooks-nextjs",
      "webhooks-hono",
      "webhooks-fastapi",
      "webhooks-django",
      "webhooks-go",
      "webhooks-spring-boot",
      "webhooks-laravel",
    ],
  },
  {
    title: "Run an organization",
    isForPartners: true,
    names: ["organization", "accounts", "dashboard", "delete-organization"],
  },
  {
    title: "Operate",
    names: [
      "operating",
      "run-as-a-service",
      "kubernetes",
      "desk",
      "configuration",
      "database",
      "backups",
      "recovery",
      "runbooks",
      "upgrading",
      "scale",
      "sizing",
      "bounds",
      "partitioning",
      "monitor",
      "metrics",
      "logs-and-traces",
      "keys",
      "trust",
      "trust-policy",
      "wallets-operating",
      "privacy",
      "encryption-and-regions",
    ],
  },
  {
    title: "Build a reading device",
    isForPartners: true,
    names: [
      "reading-devices",
      "reader-app",
      "android-app",
      "iphone-app",
      "shell",
      "verify-flow",
      "consent",
      "wallet-flow",
      "device-socket",
      "verify-protocol",
      "read-printed-lines",
    ],
  },
  {
    title: "Understand",
    names: [
      "evidence",
      "face",
      "face-error-rates",
      "face-models",
      "threat-model",
      "accessibility",
      "architecture",
      "glossary",
      "decisions",
      "releasing",
    ],
  },
];

/** Guides for integrators and builders of devices. */
export const partnerGuides: readonly string[] = sections
  .filter(({ isForPartners }) => isForPartners)
  .flatMap(({ names }) => names);

export const movedPages: ReadonlyMap<string, string> = new Map([
  ["partner-guide", "go-live"],
  ["decisions/0003-no-cache-for-api-keys", "decisions/0006-guessing-limits"],
  ["decisions/0004-document-id-key-per-organization", "decisions/0025-processes-agree-on-keys"],
  ["decisions/0011-deletion-receipts", "decisions/0030-deleted-is-gone-from-files"],
  ["decisions/0020-fastify-as-a-router", "decisions/0014-contract-is-the-single-source"],
  ["decisions/0021-own-thread-pool", "decisions/0017-chip-library-without-io"],
  ["decisions/0022-browser-of-the-tests", "decisions/0016-tests-on-real-engines"],
  ["decisions/0024-process-metrics-from-prom-client", "decisions/0063-telemetry-is-sent-by-our-own-exporter"],
  ["decisions/0027-sign-up-tells-the-mailbox-only", "decisions/0006-guessing-limits"],
  ["decisions/0028-open-sessions-are-counted", "decisions/0008-session-figures"],
  ["decisions/0035-face-networks-in-a-native-runtime", "decisions/0019-face-models-in-sandboxed-processes"],
  ["decisions/0036-the-queue-of-deliveries-is-a-table-of-its-own", "decisions/0009-webhook-queues"],
  [
    "decisions/0037-phones-are-led-into-the-app-first",
    "decisions/0043-the-shell-keeps-what-a-web-view-forgets",
  ],
  [
    "decisions/0042-a-sealed-body-can-be-read-while-it-is-kept",
    "decisions/0041-listeners-are-endpoints-with-a-stream",
  ],
  ["decisions/0045-the-persons-page-comes-with-its-data", "decisions/0053-the-persons-page-runs-on-preact"],
  [
    "decisions/0047-the-iphone-shell-is-checked-without-a-mac",
    "decisions/0043-the-shell-keeps-what-a-web-view-forgets",
  ],
  [
    "decisions/0048-phones-vouch-with-key-attestation",
    "decisions/0043-the-shell-keeps-what-a-web-view-forgets",
  ],
  [
    "decisions/0049-charts-are-uplot-on-a-canvas-with-their-figures-beside",
    "decisions/0044-one-look-from-tokens-and-native-elements",
  ],
  [
    "decisions/0051-a-way-through-the-face-step-without-turning",
    "decisions/0059-the-face-step-follows-ends-early-and-names-signs",
  ],
  ["decisions/0054-pipelined-transactions", "decisions/0015-plain-sql"],
  ["decisions/0055-answering-and-sending-share-a-process", "decisions/0009-webhook-queues"],
  ["decisions/0056-processes-tell-about-themselves-in-a-table", "decisions/0025-processes-agree-on-keys"],
  [
    "decisions/0057-the-dashboard-runs-on-preact-and-comes-with-who-is-here",
    "decisions/0053-the-persons-page-runs-on-preact",
  ],
  [
    "decisions/0058-mails-are-data-in-the-readers-language",
    "decisions/0050-languages-are-data-and-the-system-writes-arabic",
  ],
  ["decisions/0060-mrz-two-frames-and-the-chip-decide", "decisions/0052-mrz-networks-of-our-own"],
  ["decisions/0061-an-event-writes-less", "decisions/0009-webhook-queues"],
  ["decisions/0064-the-image-is-collected-from-the-lock-file", "decisions/0013-server-bundle"],
  [
    "decisions/0069-the-preview-is-the-persons-own-page",
    "decisions/0044-one-look-from-tokens-and-native-elements",
  ],
]);
