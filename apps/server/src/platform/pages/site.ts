/** The guides in the order in which somebody needs them. A test checks that every file of `docs/` is here, once. */
export const sections: readonly { title: string; names: readonly string[] }[] = [
  { title: "Start", names: ["first-verification", "partner-guide"] },
  {
    title: "Integrate",
    names: [
      "sessions",
      "webhooks",
      "embedding",
      "generated-clients",
      "errors",
      "versioning",
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
    title: "Operate",
    names: [
      "operating",
      "sizing",
      "partitioning",
      "upgrading",
      "configuration",
      "evidence",
      "face",
      "privacy",
      "threat-model",
      "accessibility",
    ],
  },
  { title: "Understand", names: ["architecture", "glossary", "decisions"] },
];
