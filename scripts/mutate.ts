// `npm run mutate`: StrykerJS changes one thing of the code after the other and runs the tests that reach it; a change that no test
// notices is listed. `-- sessions webhooks` for some of the modules, `--percent=10` for a share of their functions, `--seed=2` for
// another share. The report of each module is in `test-artifacts/mutate`.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { runNpm } from "./find-browser.ts";
import { openScratchFolder } from "./scratch-folder.ts";
import { startScratchPostgres } from "./scratch-postgres.ts";

type Module = { mutate: readonly string[]; tests: readonly string[] };

const server = "apps/server/src";
const api = "apps/server/test";
/** The modules that decide, each with the tests that speak of it. Tests with a browser or with killed processes take too long for each change. */
const modules: Readonly<Record<string, Module>> = {
  sessions: {
    mutate: [`${server}/verification/sessions`],
    tests: [
      `${server}/verification/sessions/*.test.ts`,
      `${api}/*/*/{sessions,session-flow,session-lists,session-expiry,session-storm,requirements,analytics,search,organization-limits,withdrawal,go-live}.test.ts`,
      `${api}/*/*/verify-{events,handoff}.test.ts`,
    ],
  },
  attempts: {
    mutate: [`${server}/verification/attempts`],
    tests: [
      `${server}/verification/attempts/*.test.ts`,
      `${api}/*/*/verify-{face-limits,socket,device,century,faults,hostile,simulate,silence,memory,events}.test.ts`,
      `${api}/*/*/{requirements,trust-policy}.test.ts`,
    ],
  },
  webhooks: {
    mutate: [`${server}/delivery/webhooks`],
    tests: [
      `${server}/delivery/webhooks/*.test.ts`,
      `${api}/*/*/webhook-{answers,deliveries,endpoints,events,listeners,safety,workers}.test.ts`,
      `${api}/*/*/{withdrawal,round-robin,analytics,organization-limits,history-lists,audit-events}.test.ts`,
    ],
  },
  trust: {
    mutate: [`${server}/verification/trust`],
    tests: [
      `${server}/verification/trust/*.test.ts`,
      `${api}/*/*/trust-{command,sources,deviations,policy,versions}.test.ts`,
    ],
  },
  accounts: {
    mutate: [`${server}/tenants/accounts`],
    tests: [
      `${server}/tenants/accounts/*.test.ts`,
      `${api}/*/*/accounts-*.test.ts`,
      `${api}/*/*/{sign-up,email-addresses,mail-requests,mail-language,user-commands,invitations,audit-events}.test.ts`,
    ],
  },
  organizations: {
    mutate: [`${server}/tenants/organizations`],
    tests: [
      `${server}/tenants/organizations/*.test.ts`,
      `${api}/*/*/organization{s,-deletion,-limits,-mails}.test.ts`,
      `${api}/faults/deleted-is-gone.test.ts`,
      `${api}/*/*/{invitations,go-live,looks,verify-logo,search,email-addresses,audit-events}.test.ts`,
    ],
  },
  domains: {
    mutate: [`${server}/tenants/domains`],
    tests: [`${server}/tenants/domains/*.test.ts`, `${api}/*/*/{domains,audit-events}.test.ts`],
  },
  "key-ring": {
    mutate: [`${server}/platform/key-ring`, `${server}/platform/lib/key-ring.ts`],
    tests: [
      `${server}/platform/key-ring/*.test.ts`,
      `${server}/platform/lib/key-ring.test.ts`,
      `${api}/*/*/key-ring.test.ts`,
    ],
  },
  http: {
    mutate: [`${server}/platform/http`],
    tests: [
      `${server}/platform/http/*.test.ts`,
      // What the matrices over all routes ask of this module, its own tests ask sooner.
      `${api}/*/*/{compression,connections,draining,envelope,hostile-bodies,http-manners,idempotency,mcp,missing-pages,overload,page-weight,precedence,readiness,reader-apps,telemetry,well-known}.test.ts`,
    ],
  },
  emrtd: {
    mutate: ["packages/emrtd/src/verify"],
    tests: ["packages/emrtd/src/{verify,trust}/*.test.ts"],
  },
  device: {
    // Its folder `node` draws the people and plays the readers of tests and simulations, and decides nothing.
    mutate: ["packages/device/src/*.ts"],
    tests: ["packages/device/src/*.test.ts", `${server}/verification/attempts/both-ends.test.ts`],
  },
};

const root = path.resolve(import.meta.dirname, "..");
const tool = path.join(root, "node_modules", ".cache", "mutate");
const reports = path.join(root, "test-artifacts", "mutate");

/** StrykerJS in a folder of its own: 190 packages that no other command needs. */
function installStryker(): string {
  const wanted = path.join(import.meta.dirname, "mutate");
  const stryker = path.join(tool, "node_modules/@stryker-mutator/core/bin/stryker.js");
  const lock = "package-lock.json";
  const isCurrent =
    existsSync(stryker) &&
    readFileSync(path.join(tool, lock), "utf8") === readFileSync(path.join(wanted, lock), "utf8");
  if (isCurrent) return stryker;
  console.log("Fetching StrykerJS from npm (once)…");
  rmSync(tool, { recursive: true, force: true });
  mkdirSync(tool, { recursive: true });
  for (const file of ["package.json", lock]) cpSync(path.join(wanted, file), path.join(tool, file));
  if (!runNpm(["ci", "--ignore-scripts", "--no-audit", "--no-fund"], tool))
    throw new Error(
      "StrykerJS could not be installed. Check the connection to the npm registry, then run the command again.",
    );
  return stryker;
}

/** StrykerJS changes files in place, so it gets a copy. The packages of the workspace must be those of the copy as well. */
function copyCheckout(folder: string): void {
  const { stdout } = spawnSync("git", ["ls-files", "-z"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  for (const file of stdout.split("\0").filter((name) => name !== "" && existsSync(path.join(root, name))))
    cpSync(path.join(root, file), path.join(folder, file), { verbatimSymlinks: true });
  for (const app of ["dashboard", "verify"])
    cpSync(path.join(root, "apps", app, "dist"), path.join(folder, "apps", app, "dist"), { recursive: true });
  const installed = path.join(root, "node_modules");
  const workspaces = path.join(folder, "node_modules", "@assay");
  mkdirSync(workspaces, { recursive: true });
  for (const name of readdirSync(installed))
    if (name !== "@assay" && name !== ".cache")
      symlinkSync(path.join(installed, name), path.join(folder, "node_modules", name));
  for (const name of readdirSync(path.join(folder, "packages")))
    symlinkSync(path.join(folder, "packages", name), path.join(workspaces, name));
}

function configOf({ mutate, tests }: Module, report: string): object {
  const sources = mutate.map((place) => (place.endsWith(".ts") ? place : `${place}/**/*.ts`));
  return {
    plugins: [
      path.join(tool, "node_modules/@stryker-mutator/tap-runner/dist/src/index.js"),
      path.join(import.meta.dirname, "mutate/sample.mjs"),
    ],
    testRunner: "tap",
    tap: { testFiles: tests, nodeArgs: ["--test-reporter=tap", "-r", "{{hookFile}}", "{{testFile}}"] },
    // `words`: no line of the log and no wording of an error decides anything.
    ignorers: ["sample", "words"],
    inPlace: true,
    // A text for people is not what decides.
    mutator: { excludedMutations: ["StringLiteral"] },
    mutate: [...sources, "!**/*.test.ts", "!**/*.d.ts"],
    coverageAnalysis: "perTest",
    // Code that runs while a module is loaded cannot be switched on for one test alone.
    ignoreStatic: true,
    concurrency: 2,
    timeoutMS: 20_000,
    reporters: ["clear-text", "json"],
    clearTextReporter: { allowColor: false, reportTests: false, allowEmojis: false },
    jsonReporter: { fileName: report },
    checkers: [],
    disableTypeChecks: false,
  };
}

type Report = { files: Record<string, { mutants: { status: string }[] }> };

/** Changes that a test noticed, of those that StrykerJS could try. */
function scoreOf(report: string): { noticed: number; tried: number } {
  const { files } = JSON.parse(readFileSync(report, "utf8")) as Report;
  const statuses = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
  const count = (...wanted: string[]) => statuses.filter((status) => wanted.includes(status)).length;
  const noticed = count("Killed", "Timeout");
  return { noticed, tried: noticed + count("Survived", "NoCoverage") };
}

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const option = (name: string, usual: string) =>
    args.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3) ?? usual;
  const chosen = args.filter((argument) => !argument.startsWith("--"));
  const unknown = chosen.filter((name) => !Object.hasOwn(modules, name));
  if (unknown.length > 0) {
    console.error(
      `There is no module ${unknown.join(", ")}. The modules are: ${Object.keys(modules).join(", ")}.`,
    );
    return 2;
  }
  const stryker = installStryker();
  mkdirSync(reports, { recursive: true });
  const scratch = openScratchFolder();
  process.env.TMPDIR = scratch.folder;
  const copy = path.join(scratch.folder, "checkout");
  const postgres = await startScratchPostgres();
  const table: string[] = [];
  try {
    copyCheckout(copy);
    for (const [name, module] of Object.entries(modules)) {
      if (chosen.length > 0 && !chosen.includes(name)) continue;
      const report = path.join(reports, `${name}.json`);
      writeFileSync(path.join(copy, "stryker.config.json"), JSON.stringify(configOf(module, report)));
      rmSync(report, { force: true });
      const { status } = spawnSync(process.execPath, [stryker, "run"], {
        cwd: copy,
        stdio: "inherit",
        env: {
          ...process.env,
          // The runner of StrykerJS starts `node` by its name.
          PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH ?? ""}`,
          NODE_ENV: "test",
          // Loading the service takes 0.5 s of CPU in place of 1.3 s, for each test of each change.
          NODE_COMPILE_CACHE: path.join(scratch.folder, "compiled"),
          ASSAY_TEST_POSTGRES: postgres.url,
          ASSAY_TEST_SEEN_CODES: path.join(scratch.folder, "seen-codes"),
          ASSAY_MUTATE_PERCENT: option("percent", "100"),
          ASSAY_MUTATE_SEED: option("seed", "1"),
        },
      });
      if (status !== 0 || !existsSync(report)) {
        table.push(`${name.padEnd(16)} could not be run`);
        continue;
      }
      const { noticed, tried } = scoreOf(report);
      table.push(
        `${name.padEnd(16)} ${noticed} of ${tried} changes noticed, ${((100 * noticed) / tried).toFixed(1)} %`,
      );
    }
  } finally {
    await postgres.close();
    scratch.close();
  }
  console.log(`\n${table.join("\n")}`);
  return table.some((line) => line.endsWith("could not be run")) ? 1 : 0;
}

process.exitCode = await main();
