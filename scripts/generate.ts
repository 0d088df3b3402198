import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type AgentTool, routesWithoutTool, toolsOf, withheldFields } from "@assay/contract/agent-tools";
import { describeMessages } from "@assay/contract/asyncapi";
import { deprecations, listDeprecations } from "@assay/contract/deprecations";
import { evidenceWarnings } from "@assay/contract/evidence-warnings";
import { describeApi } from "@assay/contract/openapi";
import { errorsOf, honoursIdempotencyKey, isInEnvironment, preparesLive } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { describePolicy } from "@assay/emrtd/verify/parse-policy";
import { defaultPolicy, policySwitches } from "@assay/emrtd/verify/policy";
import { fileSettings, settings } from "../apps/server/src/config.ts";
import { finishTool } from "../apps/server/src/operations/mcp/sandbox-tools.ts";
import { migrate } from "../apps/server/src/platform/db/migrate.ts";
import { logFields } from "../apps/server/src/platform/lib/log-fields.ts";
import { defaultJobLimits } from "../apps/server/src/verification/face/face-job.ts";
import { poolLimits } from "../apps/server/src/verification/face/pool-limits.ts";
import { bundleWebhook, declarationsOf } from "../packages/webhook/build.ts";
import { askDatabase } from "./ask-database.ts";
import { describeAlarmRules, describeAlarms, describePageConcerns } from "./describe-concerns.ts";
import { dumpSchema } from "./dump-schema.ts";
import { describeErrors } from "./error-reference.ts";
import { describeEventTypes, describePythonEventTypes } from "./event-types.ts";
import { describeChallenge, describeColours, describeMatch, describeReasons } from "./face-limits.ts";
import { describeProtocol } from "./protocol-reference.ts";
import { describeRecipe, listRecipes, recipeNames } from "./recipe-pages.ts";
import { startScratchPostgres } from "./scratch-postgres.ts";

const root = new URL("../", import.meta.url);

/**
 * Every generated file with the function that makes it.
 * A test compares the committed files with their output.
 */
export const generated: readonly { path: string; make: () => string | Promise<string> }[] = [
  { path: "docs/openapi.json", make: () => `${JSON.stringify(describeApi(routes), null, 2)}\n` },
  { path: "docs/asyncapi.json", make: () => `${JSON.stringify(describeMessages(), null, 2)}\n` },
  { path: "docs/errors.md", make: () => describeErrors(routes) },
  { path: "packages/webhook/lib/index.js", make: bundleWebhook },
  { path: "packages/webhook/lib/index.d.ts", make: () => declarationsOf("index") },
  { path: "packages/webhook/lib/event.d.ts", make: describeEventTypes },
  { path: "packages/webhook/lib/webhook-error.d.ts", make: () => declarationsOf("webhook-error") },
  { path: "packages/webhook/python/assay_webhook/event.py", make: describePythonEventTypes },
  { path: "docs/configuration.md", make: describeConfiguration },
  {
    path: "docs/face.md",
    make: () =>
      withSections("docs/face.md", {
        challenge: describeChallenge(),
        reasons: describeReasons(defaultJobLimits.maxFramePixels),
        match: describeMatch(),
        colours: describeColours(),
      }),
  },
  {
    path: "docs/face-models.md",
    make: () => withSections("docs/face-models.md", { worker: describePool() }),
  },
  {
    path: "docs/trust-policy.md",
    make: () => withSections("docs/trust-policy.md", { policy: describeSwitches() }),
  },
  { path: "docs/monitor.md", make: () => withSections("docs/monitor.md", { alarms: describeAlarms() }) },
  {
    path: "docs/logs-and-traces.md",
    make: () => withSections("docs/logs-and-traces.md", { "log fields": describeLogFields() }),
  },
  { path: "deploy/prometheus/rules.yaml", make: describeAlarmRules },
  { path: "apps/dashboard/src/operator/concerns.json", make: describePageConcerns },
  {
    path: "docs/versioning.md",
    make: () => withSections("docs/versioning.md", { deprecations: listDeprecations(routes, deprecations) }),
  },
  {
    path: "docs/outcomes.md",
    make: () => withSections("docs/outcomes.md", { warnings: describeWarnings() }),
  },
  {
    path: "docs/agents.md",
    make: () => withSections("docs/agents.md", { tools: describeTools(), withheld: describeWithheld() }),
  },
  { path: "docs/webhooks.md", make: () => withSections("docs/webhooks.md", { recipes: listRecipes() }) },
  {
    path: "docs/webhook-samples.md",
    make: () => withSections("docs/webhook-samples.md", { samples: showSamples() }),
  },
  ...recipeNames.map((name) => ({ path: `docs/webhooks-${name}.md`, make: () => describeRecipe(name) })),
  {
    path: "docs/test-in-ci.md",
    make: () =>
      withSections("docs/test-in-ci.md", {
        script: showFile("sh", "examples/ci/verify.sh"),
        github: showFile("yaml", "examples/ci/github.yml"),
        gitlab: showFile("yaml", "examples/ci/gitlab.yml"),
      }),
  },
  {
    path: "docs/embedding.md",
    make: () =>
      withSections("docs/embedding.md", {
        wrappers: [
          showFile("tsx tab", "examples/embed/react.tsx"),
          showFile("vue tab", "examples/embed/vue.js"),
        ].join("\n\n"),
      }),
  },
  { path: "docs/verify-protocol.md", make: describeProtocol },
  { path: "apps/server/test/golden/routes.txt", make: describeRoutes },
];

/** A page that is written by hand, with these sections of it between their markers. */
function withSections(path: string, sections: Readonly<Record<string, string>>): string {
  return Object.entries(sections).reduce((page, [name, text]) => {
    const [from, to] = [`<!-- generated: ${name} -->\n`, "<!-- end of generated -->"];
    const start = page.indexOf(from) + from.length;
    const end = page.indexOf(to, start);
    if (start < from.length || end === -1) throw new Error(`${path} has no generated section "${name}"`);
    return `${page.slice(0, start)}\n${text}\n\n${page.slice(end)}`;
  }, read(path));
}

/** The samples that the tests run, as tabs of the guide. */
function showSamples(): string {
  const samples = [
    ["ts", "open-webhook.ts"],
    ["python", "open_webhook.py"],
    ["go", "open_webhook.go"],
    ["java", "OpenWebhook.java"],
    ["php", "open_webhook.php"],
    ["ruby", "open_webhook.rb"],
    ["csharp", "OpenWebhook.cs"],
  ] as const;
  return samples
    .map(([language, file]) => showFile(`${language} tab`, `examples/webhooks/${file}`))
    .join("\n\n");
}

function showFile(language: string, file: string): string {
  const fence = "```";
  return `${fence}${language}\n${read(file)}${fence}`;
}

function describeWarnings(): string {
  const rows = Object.entries(evidenceWarnings).map(([code, about]) => `| \`${code}\` | ${about} |`);
  return ["| Warning | What was found |", "|---|---|", ...rows].join("\n");
}

function describeTools(): string {
  const does = ({ readOnlyHint, destructiveHint }: AgentTool["annotations"]) =>
    readOnlyHint ? "reads" : destructiveHint ? "changes" : "adds";
  const rows = [...toolsOf(routes), finishTool].map(
    ({ name, scope, title, annotations, changesDestination }) =>
      `| \`${name}\` | \`${scope}\`${changesDestination ? " and the switch" : ""} | ${title} | ${does(annotations)} |`,
  );
  return ["| Tool | Needs | What it does | |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

function describeWithheld(): string {
  return [
    ...Object.entries(withheldFields).map(([name, why]) => `- \`${name}\` is taken out of answers. ${why}`),
    ...Object.entries(routesWithoutTool).map(([name, why]) => `- \`${name}\` is no tool. ${why}`),
  ].join("\n");
}

function describePool(): string {
  const seconds = (ms: number) => `${ms / 1000} s`;
  return [
    "| | |",
    "|---|---|",
    `| processes, unless \`FACE_WORKERS\` says otherwise | ${poolLimits.workers} |`,
    `| tries that may wait for each of them | ${poolLimits.queuePerWorker} |`,
    `| longest wait for a worker | ${seconds(poolLimits.maxWaitMs)} |`,
    `| longest work on one try, then the process is killed | ${seconds(poolLimits.jobTimeoutMs)} |`,
    `| longest start of a process | ${seconds(poolLimits.startTimeoutMs)} |`,
    `| most memory, then the process is killed | ${poolLimits.maxResidentBytes / 1e6} MB |`,
    `| without work a process ends after | ${seconds(poolLimits.idleMs)} |`,
    `| pixels of a frame and of a portrait | at most ${defaultJobLimits.maxFramePixels / 1e6} and ${defaultJobLimits.maxPortraitPixels / 1e6} million |`,
  ].join("\n");
}

function describeSwitches(): string {
  const rows = describePolicy(defaultPolicy).map(
    ({ name, byDefault, forOperators, description }) =>
      `| \`${name}\` | ${byDefault}${forOperators ? "" : ", always"} | ${policySwitches[name].strict} | ${description} |`,
  );
  return ["| Switch | Default | With `strict` | What was found |", "| --- | --- | --- | --- |", ...rows].join(
    "\n",
  );
}

function describeLogFields(): string {
  const rows = Object.entries(logFields).map(([name, about]) => `| \`${name}\` | ${about} |`);
  return ["| Field | What it says |", "| --- | --- |", ...rows].join("\n");
}

function describeConfiguration(): string {
  const rows = Object.values(settings).map(
    (setting) =>
      `| \`${setting.env}\` | ${setting.shownDefault.replaceAll("|", "\\|")} | ${setting.about.replaceAll("|", "\\|")} |`,
  );
  return [
    "# Configuration",
    "",
    "All settings come from the environment, and all are optional. A bad configuration is reported whole, in plain words, and the service does not start.",
    "",
    "| Variable | Default | What it does |",
    "| --- | --- | --- |",
    ...rows,
    "",
    `**Secrets from files.** ${fileSettings.map((name) => `\`${settings[name].env}\``).join(", ")} may come from a file: set \`SMTP_URL_FILE=/run/secrets/smtp\` in place of \`SMTP_URL\`. Space around the text in the file is ignored. A service outside of a terminal reads these files again at \`SIGHUP\`. New database connections, mails and calls of \`/metrics\` use the new values; open connections stay. A file that cannot be read, or a value that is wrong, is logged, and the values in use stay. The key ring is also read again every few seconds.`,
    "",
    "Additional certificate authorities for outbound https come from Node's own `NODE_EXTRA_CA_CERTS`.",
    "",
  ].join("\n");
}

/** The golden table: a route that changes who may call it, or what it answers with, shows up in a review. */
function describeRoutes(): string {
  const lines = routes.map((route) => {
    const { access } = route;
    const who =
      "public" in access
        ? "public"
        : "user" in access
          ? "user"
          : "operator" in access
            ? "operator"
            : "role" in access
              ? `role ${access.role}${access.organization === "body" ? " in body.organizationId" : ""}`
              : `scope ${access.scope}`;
    const frozen =
      "whileFrozen" in access && access.whileFrozen ? ` (${access.whileFrozen} while frozen)` : "";
    const notes = [
      isInEnvironment(route) ? "environment" : "",
      preparesLive(route) ? "before-live" : "",
      honoursIdempotencyKey(route) ? "idempotency-key" : "",
      "list" in route.reply ? "list" : "",
    ].filter((note) => note !== "");
    return (
      `${route.method.padEnd(6)} ${route.path.padEnd(64)} ${`${who}${frozen}`.padEnd(44)} ${String(route.reply.status)} ${notes.join(" ")}`.trimEnd() +
      `\n       ${errorsOf(route).join(" ")}`
    );
  });
  return `${lines.sort().join("\n")}\n`;
}

/** The schema after all migrations, read back from a real database. */
async function dumpMigratedSchema(): Promise<string> {
  const postgres = await startScratchPostgres();
  try {
    await migrate(postgres.url);
    return await askDatabase(postgres.url, dumpSchema);
  } finally {
    await postgres.close();
  }
}

export function read(path: string): string {
  const file = new URL(path, root);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

if (import.meta.main) {
  const check = process.argv.includes("--check");
  const files = [
    ...(await Promise.all(generated.map(async ({ path, make }) => ({ path, text: await make() })))),
    { path: "apps/server/migrations/schema.sql", text: await dumpMigratedSchema() },
  ];
  const stale = files.filter(({ path, text }) => read(path) !== text);
  if (check && stale.length > 0) {
    console.error(
      `These files are out of date; run \`npm run generate\`:\n${stale.map(({ path }) => `  ${path}`).join("\n")}`,
    );
    process.exitCode = 1;
  }
  if (!check) {
    for (const { path, text } of stale) {
      mkdirSync(dirname(new URL(path, root).pathname), { recursive: true });
      writeFileSync(new URL(path, root), text);
      console.log(`wrote ${path}`);
    }
    if (stale.length === 0) console.log("Everything is up to date.");
  }
}
