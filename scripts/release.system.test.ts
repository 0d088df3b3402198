import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after } from "node:test";

const root = path.resolve(import.meta.dirname, "..");
const scratch = mkdtempSync(path.join(tmpdir(), "assay-release-test-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

/** A copy of what a release is made of, with an entry in each changelog. */
const { stdout: tracked } = spawnSync(
  "git",
  [
    "ls-files",
    ...["*package.json", "package-lock.json", ".npmrc", "CHANGELOG.md", "docs/changelog-partners.md"],
    ...[
      "scripts/release.ts",
      "scripts/release-before.ts",
      "scripts/sign-file.ts",
      "packages/cli",
      "packages/webhook",
      "deploy/helm",
    ],
  ],
  { cwd: root, encoding: "utf8" },
);
for (const file of [...tracked.trim().split("\n"), "packages/cli/dist/assay.mjs"])
  cpSync(path.join(root, file), path.join(scratch, file));
const read = (file: string) => readFileSync(path.join(scratch, file), "utf8");
const { version } = JSON.parse(read("package.json"));
writeFileSync(
  path.join(scratch, "CHANGELOG.md"),
  `# Changelog\n\n## Unreleased\n\n## ${version}, today\n\n- All of it.\n`,
);
rmSync(path.join(scratch, "docs/changelog-partners.md"), { force: true });

const release = (...args: string[]) => releaseOn({}, ...args);

/** On a machine with this environment. */
function releaseOn(env: Record<string, string>, ...args: string[]) {
  return spawnSync(process.execPath, ["scripts/release.ts", ...args], {
    cwd: scratch,
    encoding: "utf8",
    env: { ...process.env, PIP_NO_INDEX: "1", PIP_NO_BUILD_ISOLATION: "0", ...env },
  });
}
const dryRun = ["--dry-run", "--without", "image,apk,proof"];

/** Runs it with another text in a file, and puts the file back. */
function releaseWith(file: string, change: (text: string) => string) {
  const before = read(file);
  assert.notEqual(change(before), before, file);
  try {
    writeFileSync(path.join(scratch, file), change(before));
    return release(...dryRun);
  } finally {
    writeFileSync(path.join(scratch, file), before);
  }
}

const withoutVersion = (text: string) =>
  text.replace(/^ *"?version"?[:=] *"?.*\n/m, "").replace(/^version = .*\n/m, "");
const refusals: [what: string, file: string, change: (text: string) => string, said: RegExp][] = [
  [
    "the changelog has no entry",
    "CHANGELOG.md",
    (text) => text.replace(`## ${version},`, "## 0.0.9,"),
    /CHANGELOG\.md has no entry "## /,
  ],
  [
    "the entry of the changelog is empty",
    "CHANGELOG.md",
    (text) => text.replace("- All of it.", ""),
    /CHANGELOG\.md has no entry "## /,
  ],
  ["the version is missing", "package.json", withoutVersion, /- package\.json has no version/],
  [
    "a package has no version",
    "packages/cli/package.json",
    withoutVersion,
    /packages\/cli\/package\.json has no version/,
  ],
  [
    "the version of a package differs",
    "packages/webhook/package.json",
    (text) => text.replace(`"version": "${version}"`, '"version": "9.9.9"'),
    /packages\/webhook\/package\.json has version 9\.9\.9, package\.json has/,
  ],
  [
    "the version of the Python package differs",
    "packages/webhook/python/pyproject.toml",
    (text) => text.replace(`version = "${version}"`, 'version = "9.9.9"'),
    /pyproject\.toml has version 9\.9\.9/,
  ],
  [
    "the chart is of another version",
    "deploy/helm/assay/Chart.yaml",
    (text) => text.replace(/^appVersion: .*$/m, 'appVersion: "9.9.9"'),
    /Chart\.yaml has version 9\.9\.9/,
  ],
];

for (const [what, file, change, said] of refusals)
  test(`no release where ${what}`, () => {
    const { status, stderr } = releaseWith(file, change);
    assert.match(stderr, said);
    assert.equal(status, 1);
  });

test("no release without a key or with an unknown part, and what the machine lacks is named", () => {
  assert.match(release("--without", "image").stderr, /Give --key to sign a release, or --dry-run to try one/);
  assert.match(
    release("--dry-run", "--without", "everything").stderr,
    /--without takes image, apk, wheel, proof, not everything/,
  );
  // A machine with only Node.
  const { status, stderr } = releaseOn({ PATH: path.dirname(process.execPath) }, "--dry-run");
  assert.equal(status, 1, stderr);
  for (const named of [
    /ssh-keygen, for/,
    /python3 with pip, for/,
    /aapt2.*, or podman, or docker.*for the APK/,
  ])
    assert.match(stderr, named);
});

test("a release carries the proof of its own commit, and is refused without one that holds", () => {
  const git = (...args: string[]) =>
    spawnSync("git", ["-c", "user.name=x", "-c", "user.email=x@y.example", ...args], {
      cwd: scratch,
      encoding: "utf8",
    }).stdout.trim();
  git("init", "--quiet");
  git("commit", "--quiet", "--allow-empty", "--message", "release");
  const proof = { holds: true, commit: git("rev-parse", "HEAD"), isClean: true };
  const folder = path.join(scratch, "proof");
  const out = path.join(scratch, "proven");
  const attempt = () => release("--dry-run", "--without", "image,apk,wheel", "--proof", folder, "--out", out);
  assert.match(attempt().stderr, /proof\.json, the proof of this release; run `npm run prove`/);
  mkdirSync(folder);
  const write = (changed: Partial<typeof proof>) =>
    writeFileSync(path.join(folder, "proof.json"), JSON.stringify({ ...proof, ...changed }));
  writeFileSync(path.join(folder, "proof.html"), "<!doctype html>");
  write({ holds: false });
  assert.match(attempt().stderr, /in .*proof\.json a part does not/);
  write({ commit: "0123abc" });
  assert.match(attempt().stderr, /a proof of this commit: .* is of 0123abc;/);
  write({ isClean: false });
  assert.match(attempt().stderr, /is of [0-9a-f]{40} with changes;/);
  write({});
  const made = attempt();
  assert.equal(made.status, 0, made.stderr);
  const sums = readFileSync(path.join(out, "SHA256SUMS"), "utf8");
  for (const file of ["proof.json", "proof.html"]) assert.match(sums, new RegExp(`  ${file}$`, "m"));
});

test("a dry run builds packages, SBOM and checksums, and a stranger verifies the signature with ssh-keygen", (context) => {
  const tools = spawnSync("python3", ["-c", "import pip, wheel"]).status === 0 ? [] : ["wheel"];
  if (spawnSync("ssh-keygen", ["--version"]).error !== undefined)
    return context.skip("ssh-keygen is not installed");
  const out = path.join(scratch, "out");
  const made = release("--dry-run", "--without", ["image", "apk", "proof", ...tools].join(","), "--out", out);
  assert.equal(made.status, 0, made.stderr);
  const wheel = `assay_webhook-${version}-py3-none-any.whl`;
  const files = [`assay-${version}.cdx.json`, `assay-cli-${version}.tgz`, `assay-webhook-${version}.tgz`];
  if (tools.length === 0) files.push(wheel);
  assert.deepEqual(readdirSync(out).sort(), [...files, "SHA256SUMS", "SHA256SUMS.sig"].sort());

  const sums = readFileSync(path.join(out, "SHA256SUMS"), "utf8");
  for (const file of files) {
    const hash = createHash("sha256")
      .update(readFileSync(path.join(out, file)))
      .digest("hex");
    assert.ok(sums.includes(`${hash}  ${file}\n`), file);
  }
  const sbom = JSON.parse(readFileSync(path.join(out, `assay-${version}.cdx.json`), "utf8"));
  assert.equal(sbom.bomFormat, "CycloneDX");
  const names = sbom.components.map(({ name }: { name: string }) => name);
  assert.ok(names.includes("fastify") && !names.includes("typescript"), "what runs, not what tests it");

  const signer = /^Signed by: (.*)$/m.exec(made.stdout)?.[1] ?? "";
  writeFileSync(path.join(scratch, "allowed_signers"), `${signer}\n`);
  const verify = (input: string) =>
    spawnSync(
      "ssh-keygen",
      [
        ...["-Y", "verify", "-f", "allowed_signers", "-I", "release@assay", "-n", "assay-release"],
        ...["-s", path.join(out, "SHA256SUMS.sig")],
      ],
      { cwd: scratch, input },
    ).status;
  assert.equal(verify(sums), 0);
  assert.notEqual(verify(sums.replace(/^./, (first) => (first === "0" ? "1" : "0"))), 0);
});
