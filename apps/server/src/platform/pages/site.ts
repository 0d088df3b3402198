/** The guides in the order in which somebody needs them. A test checks that every file of `docs/` is here, once. */
export const sections: readonly { title: string; names: readonly string[] }[] = [
  { title: "Start", names: ["first-verification", "partner-guide"] },
  {
    title: "Integrate",
    names: [
      "sessions",
      "accept-wallets",
      "webhooks",
      "embedding",
      "generated-clients",
      "errors",
      "versioning",
      "changelog-partners",
      "verify-flow",
      "reading-devices",
      "agents",
      "verify-protocol",
      "organization",
      "accounts",
      "dashboard",
    ],
  },
  {
    title: "Recipes",
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
      "test-in-ci",
    ],
  },
  {
    title: "Operate",
    names: [
      "operating",
      "run-as-a-service",
      "backups",
      "wallets-operating",
      "sizing",
      "partitioning",
      "upgrading",
      "releasing",
      "configuration",
      "evidence",
      "face",
      "privacy",
      "encryption-and-regions",
      "threat-model",
      "accessibility",
    ],
  },
  { title: "Understand", names: ["architecture", "glossary", "decisions"] },
];

/** Those that somebody needs who puts the service into a product. */
export const partnerGuides: readonly string[] = sections
  .filter(({ title }) => title === "Start" || title === "Integrate")
  .flatMap(({ names }) => names);
