// `npm run android -- test`: the shell's code, run by Robolectric on a JVM, and the whole flow through it.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { findBrowser, thisMachine } from "../../../scripts/find-browser.ts";
import { androidApi, testArchives } from "../build/archives.ts";
import { readOptions } from "../build/options.ts";
import { buildConfigOf, compileJava, compileResources, link } from "../build/package.ts";
import { BuildProblem, fetchArchives, requireTools } from "../build/tools.ts";
import { forEveryOrigin } from "./phone.ts";
import { startVirtualChip } from "./virtual-chip.ts";

const androidFolder = path.resolve(import.meta.dirname, "..");
const root = path.resolve(androidFolder, "../..");

const fixtures = [
  ["flow", "apps/android/test/whole-flow.fixture.ts"],
  ["transport", "apps/android/test/shell-transport.fixture.ts"],
] as const;

/** The status to end with. Without arguments everything; `shell`, `flow` or `transport` for a part. */
export async function runTests(args: readonly string[]): Promise<number> {
  const known = ["shell", ...fixtures.map(([name]) => name)];
  const unknown = args.find((argument) => !known.includes(argument));
  if (unknown !== undefined)
    throw new BuildProblem(`There is no test called ${unknown}: ${known.join(", ")}`);
  requireTools(["java", "javac", "aapt2"]);
  const wants = (name: string) => args.length === 0 || args.includes(name);
  const work = mkdtempSync(path.join(tmpdir(), "assay-android-"));
  try {
    const jvm = prepareJvm(work);
    if (wants("shell") && (await runShellTests(jvm)) !== 0) return 1;
    for (const [name, fixture] of fixtures) if (wants(name) && runFixture(fixture, jvm) !== 0) return 1;
    return 0;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Everything compiled, and the arguments that a JVM with a phone in it begins with. */
function prepareJvm(work: string): string[] {
  const [api = "", ...libraries] = fetchArchives([androidApi, ...testArchives]);
  const options = readOptions(["--origin", "https://verify.example.org", "--name", "Test"], {});
  const resources = compileResources(options, work);
  const linked = path.join(work, "resources.apk");
  link(options, { api, work, resources, to: linked });
  // Not compile-time constants: an app for one origin and Assay Reader are tested with the same classes.
  writeFileSync(
    path.join(work, "generated/BuildConfig.java"),
    buildConfigOf({
      origins: "Phone.origins()",
      asks: `Boolean.getBoolean("assay.asks")`,
      debug: `Boolean.getBoolean("assay.debug")`,
    }),
  );
  const classes = path.join(work, "classes");
  compileJava(
    [api, ...libraries].join(path.delimiter),
    [
      path.join(androidFolder, "java"),
      path.join(work, "generated"),
      path.join(androidFolder, "test/support"),
      path.join(androidFolder, "test/phone"),
    ],
    classes,
  );
  mkdirSync(path.join(classes, "com/android/tools"), { recursive: true });
  writeFileSync(
    path.join(classes, "com/android/tools/test_config.properties"),
    [
      `android_merged_manifest=${path.join(work, "AndroidManifest.xml")}`,
      `android_merged_assets=${path.join(androidFolder, "assets")}`,
      `android_resource_apk=${linked}`,
      "android_custom_package=assay.shell",
      "",
    ].join("\n"),
  );
  writeFileSync(path.join(classes, "robolectric.properties"), "sdk=34\n");
  return [
    ...["-cp", [classes, ...libraries, api].join(path.delimiter)],
    // Android's classes come from the folder that the archives were fetched to, and from nowhere else.
    ...["-Drobolectric.offline=true", `-Drobolectric.dependency.dir=${path.dirname(api)}`],
    ...["-Drobolectric.usePreinstrumentedJars=false", "-Drobolectric.logging.enabled=false"],
    ...["-Drobolectric.graphicsMode=LEGACY", "-Drobolectric.sqliteMode=LEGACY"],
    "-Drobolectric.resourcesMode=BINARY",
    "-Drobolectric.conscryptMode=OFF",
    ...["--add-opens", "java.base/java.lang=ALL-UNNAMED", "--add-opens", "java.base/java.util=ALL-UNNAMED"],
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "-Xshare:auto",
  ];
}

async function runShellTests(jvm: readonly string[]): Promise<number> {
  const chip = await startVirtualChip();
  try {
    for (const [built, test] of [
      [[], "ShellActivityTest"],
      [forEveryOrigin, "ReaderActivityTest"],
    ] as const) {
      const args = [...jvm, ...built, `-Dassay.chip.port=${chip.port}`, "assay.shell.RunTests"];
      const status = await ended(spawn("java", [...args, `assay.shell.${test}`], { stdio: "inherit" }));
      if (status !== 0) return status;
    }
    return 0;
  } finally {
    await chip.close();
  }
}

/** Like a file of `npm test`: with the packages for tests, the built page and a PostgreSQL. */
function runFixture(fixture: string, jvm: readonly string[]): number {
  const browser = findBrowser(thisMachine);
  if (browser.path === null) throw new BuildProblem(`There is no browser for this: ${browser.reason}`);
  const { status } = spawnSync(process.execPath, ["scripts/run.mjs", "test", fixture], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, CHROMIUM_PATH: browser.path, ASSAY_PHONE_JVM: JSON.stringify(jvm) },
  });
  return status ?? 1;
}

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
}
