import assert from "node:assert/strict";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { idempotencyLimits, sessionLifetimeMinutes, triesAllowed } from "@assay/contract/facts";
import { routes } from "@assay/contract/routes";
import { listenerAbsenceMinutes } from "@assay/contract/webhook-listeners";
import { maxTries, retryDelaysMs } from "../../src/delivery/webhooks/delivery.ts";
import { commandsFor } from "../../src/operations/cli/commands.ts";
import { sandboxDeviceLimits } from "../../src/operations/mcp/finish-sandbox-session.ts";
import { hourMs, minuteMs, secondMs } from "../../src/platform/kernel/clock.ts";

const root = new URL("../../../../", import.meta.url).pathname;
const decisions = path.join(root, "docs/decisions");
const records = readdirSync(decisions)
  .filter((file) => file !== "README.md")
  .sort();
const numbersOfRecords = new Set(records.map((file) => file.slice(0, 4)));
const textOf = (file: string) => readFileSync(path.join(root, file), "utf8");

test("decision records have unique numbers and one format, and all are in the list", () => {
  const entries: string[] = [];
  const numbers = records.map((file) => file.slice(0, 4));
  assert.equal(new Set(numbers).size, records.length);
  for (const file of records) {
    const number = file.slice(0, 4);
    const text = readFileSync(path.join(decisions, file), "utf8");
    assert.match(file, /^\d{4}-[a-z0-9-]+\.md$/);
    const title = new RegExp(`^# ${number}\\. (\\S.*[^.\\n])\\n`).exec(text)?.[1];
    assert.ok(title, `${file} begins with its number and title`);
    assert.match(title, /^[A-Z][^:]{1,30}: \S/, "the subject comes first, as in “Queue: …”");
    const sections = [...text.matchAll(/^## (.+)$/gm)].map((match) => match[1]);
    const wanted = ["Context", "Decision", "Consequences", "Measured and rejected"];
    assert.deepEqual(sections, wanted.slice(0, Math.max(3, sections.length)), file);
    entries.push(`- [${number}](${file}) ${title}`);
  }
  const listed = textOf("docs/decisions/README.md").match(/^- \[\d{4}\].*$/gm);
  assert.deepEqual(listed, entries);
});

test("what documents name in the repository is there", () => {
  const documents = ["README.md", "CONTRIBUTING.md", ...globSync("docs/**/*.md", { cwd: root })];
  const missing: string[] = [];
  for (const document of documents) {
    const text = textOf(document).replace(/^```[\s\S]*?^```$/gm, "");
    const named = [...text.matchAll(/`((?:apps|packages|docs|scripts|bench)\/[\w./-]+)`/g)].map(
      (match) => match[1] ?? "",
    );
    const linked = [...text.matchAll(/\]\((?!https?:|mailto:|#|\/)([^)#\s]+)/g)].map((match) =>
      path.join(path.dirname(document), match[1] ?? ""),
    );
    for (const file of [...named, ...linked]) {
      // Build output does not exist before a build.
      if (!/(^|\/)dist\//.test(file) && !existsSync(path.join(root, file)))
        missing.push(`${document} names ${file}`);
    }
  }
  assert.deepEqual(missing, []);
});

/** The anchor of a heading, as GitHub and our own pages make it. */
const anchorOf = (heading: string) =>
  /^`?([A-Z][A-Z_]+)`?$/.exec(heading)?.[1] ??
  heading
    .toLowerCase()
    .replace(/(?<=\w)\.(?=\w)/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

const anchorsOf = (document: string) =>
  [
    ...textOf(document)
      .replace(/^ *```[\s\S]*?^ *```$/gm, "")
      .matchAll(/^#+ (.+)$/gm),
  ].map(([, heading = ""]) => anchorOf(heading));

test("headings that documents, code and deployment files refer to are there", () => {
  const sources = globSync(
    [
      "*.md",
      "{docs,bench,examples}/**/*.md",
      "{apps,packages}/*/{README.md,src/**/*.{ts,tsx},*.ts}",
      "{scripts,bench}/**/*.ts",
      "apps/android/**/*.ts",
      "deploy/**/*.{json,yaml}",
    ],
    { cwd: root, exclude: (name) => /node_modules|dist$/.test(name) },
  );
  const missing: string[] = [];
  for (const source of sources) {
    const text = textOf(source);
    const inMarkdown = source.endsWith(".md")
      ? [
          ...text
            .replace(/^ *```[\s\S]*?^ *```$/gm, "")
            .matchAll(/\]\((?!https?:|\/)([\w./-]*\.md)?#([\w-]+)\)/g),
        ]
      : [];
    const links = [
      ...inMarkdown.map(([, file = path.basename(source), anchor = ""]) => ({
        file: path.join(path.dirname(source), file),
        anchor,
      })),
      // A page by its file, or by its address on the site.
      ...[...text.matchAll(/\bdocs\/((?:[a-z]+\/)?[a-z0-9-]+)(?:\.md)?#([\w-]+)/g)].map(
        ([, name, anchor = ""]) => ({ file: `docs/${name}.md`, anchor }),
      ),
    ];
    // `$` begins a part that the code fills in.
    for (const { file, anchor } of links)
      if (anchor !== "" && !(existsSync(path.join(root, file)) && anchorsOf(file).includes(anchor)))
        missing.push(`${source}: ${file}#${anchor}`);
    const named = [...text.matchAll(/\bdocs\/((?:[a-z]+\/)?[a-z0-9-]+\.md)\b/g)].map(([, file = ""]) => file);
    for (const file of named)
      if (!existsSync(path.join(root, "docs", file))) missing.push(`${source}: docs/${file}`);
    const records = [...text.matchAll(/\bdecisions? \[?(0\d{3})\b/g)].map(([, number = ""]) => number);
    for (const number of records)
      if (!numbersOfRecords.has(number)) missing.push(`${source}: decision ${number}`);
  }
  assert.deepEqual([...new Set(missing)], []);
});

const pages = ["README.md", ...globSync("docs/*.md", { cwd: root })];

test("every command, option and npm script that a guide names is there", async () => {
  const commands = await commandsFor([]);
  const { scripts } = JSON.parse(textOf("package.json"));
  const unknown: string[] = [];
  let looked = 0;
  for (const page of pages) {
    const text = textOf(page).replaceAll(/ \\\n\s*/g, " ");
    const typed = /(?:npm run (?:--silent )?assay -- |bin\/assay |cli\.tgz" |`assay )([a-z][^`\n|]*)/g;
    for (const [, line = ""] of text.matchAll(typed)) {
      looked += 1;
      const command = commands.find(({ name }) => `${line} `.startsWith(`${name} `));
      const options = [...line.matchAll(/ --([a-z-]+)/g)].map(([, option = ""]) => option);
      if (command === undefined) unknown.push(`${page}: assay ${line}`);
      for (const option of options)
        if (command !== undefined && !(option in (command.options ?? {})) && option !== "help")
          unknown.push(`${page}: assay ${command.name} --${option}`);
    }
    for (const [, name = ""] of text.matchAll(/npm run ([a-z][a-z:-]*)/g))
      if (scripts[name] === undefined) unknown.push(`${page}: npm run ${name}`);
  }
  assert.ok(looked > 80, `${looked}`);
  assert.deepEqual(unknown, []);
});

test("every route that a guide names is one of the contract", () => {
  const known = new Set(routes.map(({ method, path: at }) => `${method} ${at.replaceAll(/:\w+/g, "*")}`));
  const unknown: string[] = [];
  for (const page of pages.filter((name) => !name.endsWith("errors.md")))
    for (const [, method, at = ""] of textOf(page).matchAll(
      /(GET|POST|PUT|PATCH|DELETE) (\/v1\/[\w/:{}-]+)/g,
    ))
      if (!known.has(`${method} ${at.replaceAll(/:\w+|\{\w+\}/g, "*")}`))
        unknown.push(`${page}: ${method} ${at}`);
  assert.deepEqual(unknown, []);
});

test("every sample is plain ASCII, so that it can be compiled whatever the locale", () => {
  const guides = ["README.md", ...globSync(["docs/**/*.md", "examples/**/*.md"], { cwd: root })];
  // A block that names no language is a drawing or a formula.
  const inGuides = guides.flatMap((file) =>
    [...textOf(file).matchAll(/^ *```\w[^\n]*\n([\s\S]*?)^ *```$/gm)].map(([, code = ""]) => ({
      file,
      code,
    })),
  );
  const files = globSync("examples/**/*.*", { cwd: root }).filter((file) => !file.endsWith(".md"));
  const samples = [...inGuides, ...files.map((file) => ({ file, code: textOf(file) }))];
  assert.ok(inGuides.length > 50 && files.length > 10, `${inGuides.length} and ${files.length} samples`);
  const foreign = samples.flatMap(({ file, code }) =>
    code
      .split("\n")
      .filter((line) => /[^\t\x20-\x7e]/.test(line))
      .map((line) => `${file}: ${line}`),
  );
  assert.deepEqual(foreign, []);
});

const inWords = ["", "one", "two", "three"];

/** Numbers in the prose of a guide, and their value in the contract. */
const numbersInProse: readonly [document: string, sentence: RegExp, value: string | number][] = [
  ["docs/listen.md", /After (\d+) minutes without a connection the service removes/, listenerAbsenceMinutes],
  ["docs/sessions.md", /A session lives (\d+) minutes/, sessionLifetimeMinutes],
  ["docs/sessions.md", /`expired` \| (\d+) minutes went by/, sessionLifetimeMinutes],
  ["docs/sessions.md", /SESSION_EXPIRED` \| The (\d+) minutes are over/, sessionLifetimeMinutes],
  ["docs/glossary.md", /it lives (\d+) minutes/, sessionLifetimeMinutes],
  ["docs/sessions.md", /There are (\w+) tries to read the chip/, inWords[triesAllowed] ?? ""],
  ["docs/sessions.md", /the same key within (\d+) hours/, idempotencyLimits.keptHours],
  ["docs/bounds.md", /agents have finished.*\| (\d+) at once in a process/, sandboxDeviceLimits.atOnce],
  ["docs/bounds.md", /agents have finished.* (\d+) of one organization/, sandboxDeviceLimits.forEach],
  ["docs/bounds.md", /agents have finished.* (\d+) seconds each/, sandboxDeviceLimits.seconds],
  ["docs/agents.md", /Each may take (\d+)\s+seconds/, sandboxDeviceLimits.seconds],
  ["docs/agents.md", /an organization can have (\w+) under way/, inWords[sandboxDeviceLimits.forEach] ?? ""],
];

test("numbers in the prose of guides are those of the contract", () => {
  for (const [document, sentence, value] of numbersInProse) {
    const found = sentence.exec(textOf(document));
    assert.equal(found?.[1], String(value), `${document}: ${sentence}`);
  }
});

test("the guide names the waits between the tries of a delivery as they are", () => {
  const inUnits = (ms: number) => {
    const [unit, of] =
      ms < minuteMs ? ["second", secondMs] : ms < hourMs ? ["minute", minuteMs] : ["hour", hourMs];
    return `${ms / of} ${unit}${ms === of ? "" : "s"}`;
  };
  const waits = retryDelaysMs.map(inUnits);
  const listed = `${waits.slice(0, -1).join(", ")} and ${waits.at(-1)}`;
  const numbers = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
  const said = textOf("docs/webhook-deliveries.md").replace(/\s+/g, " ");
  assert.ok(
    said.includes(
      `A delivery is tried at once, then after ${listed}. Each wait is up to a tenth longer. That is ${numbers[maxTries]} tries in all.`,
    ),
    `docs/webhook-deliveries.md does not say: after ${listed}`,
  );
});
