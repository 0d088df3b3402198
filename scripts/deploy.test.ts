import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileSettings, settings } from "../apps/server/src/config.ts";

const root = path.resolve(import.meta.dirname, "..");
const chart = "deploy/helm/assay";
const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
const textOf = (file: string) => readFileSync(path.join(root, file), "utf8");
const templates = globSync(`${chart}/templates/*.{yaml,tpl}`, { cwd: root });
const settingNames = new Set<string>([
  ...Object.values(settings).map(({ env }) => env),
  ...fileSettings.map((name) => `${settings[name].env}_FILE`),
]);

type Schema = { $ref?: string; properties?: Record<string, Schema>; definitions?: Record<string, Schema> };

/** The paths of the mappings in a YAML file in block style, except those within braces. */
function pathsOf(yaml: string): Set<string> {
  const found = new Set<string>();
  const open: { indent: number; name: string }[] = [];
  for (const line of yaml.split("\n")) {
    const [, spaces, name] = /^( *)([\w]+):(?: |$)/.exec(line) ?? [];
    if (spaces === undefined || name === undefined) continue;
    while ((open.at(-1)?.indent ?? -1) >= spaces.length) open.pop();
    open.push({ indent: spaces.length, name });
    found.add(open.map((entry) => entry.name).join("."));
  }
  return found;
}

function schemaPaths(whole: Schema): Set<string> {
  const found = new Set<string>();
  const visit = (schema: Schema, at: string): void => {
    const target =
      schema.$ref === undefined ? schema : whole.definitions?.[schema.$ref.split("/").at(-1) ?? ""];
    for (const [name, property] of Object.entries(target?.properties ?? {})) {
      found.add(`${at}${name}`);
      visit(property, `${at}${name}.`);
    }
  };
  visit(whole, "");
  return found;
}

test("the chart's values are those that its schema knows, and each of them is used", () => {
  const values = pathsOf(textOf(`${chart}/values.yaml`));
  const known = schemaPaths(JSON.parse(textOf(`${chart}/values.schema.json`)));
  // The schema leaves fields below these to Kubernetes.
  const open = /\.resources\.|^podSecurityContext\.(fsGroup|runAsGroup|seccompProfile)/;
  for (const value of values)
    if (!open.test(value)) assert.ok(known.has(value), `${value} is not in values.schema.json`);
  // Both roles share a definition, and only some of them have these.
  const ofOneRole = /^worker\.(autoscaling|drainSeconds|drainAttemptSeconds)|^api\.enabled|^global$/;
  for (const value of known)
    if (!ofOneRole.test(value)) assert.ok(values.has(value), `${value} has no default in values.yaml`);
  const all = templates.map(textOf).join("\n");
  for (const value of values)
    if (!open.test(value) && !value.startsWith("podSecurityContext."))
      assert.ok(all.includes(value.split(".").at(-1) ?? ""), `${value} is not used`);
});

test("no container of the chart may do more than it needs, and the chart holds no secret", () => {
  const helpers = textOf(`${chart}/templates/_helpers.tpl`);
  for (const line of [
    "readOnlyRootFilesystem: true",
    "allowPrivilegeEscalation: false",
    "capabilities: { drop: [ALL] }",
  ])
    assert.ok(helpers.includes(line), line);
  const values = textOf(`${chart}/values.yaml`);
  assert.match(values, /runAsNonRoot: true/);
  assert.match(values, /seccompProfile: \{ type: RuntimeDefault \}/);
  for (const file of templates) {
    const text = textOf(file);
    assert.ok(!/kind: Secret\b|stringData|b64enc/.test(text), file);
    const containers = text.split(/^ +containers:/m).slice(1);
    for (const container of containers) {
      assert.match(container, /include "assay\.containerSecurity"/, file);
      assert.match(container, /resources: /, file);
    }
    if (containers.length === 0) continue;
    for (const line of [
      /automountServiceAccountToken: false/,
      /podSecurityContext/,
      /enableServiceLinks: false/,
    ])
      assert.match(text, line, file);
  }
});

test("every setting that chart, image and composition name is one of the service", () => {
  const files = [
    ...templates,
    `${chart}/values.yaml`,
    ...globSync("deploy/helm/examples/*.yaml", { cwd: root }),
    ...globSync("deploy/systemd/*", { cwd: root }),
    "deploy/compose/compose.yaml",
    "compose.yaml",
    "Dockerfile",
  ];
  const elsewhere =
    /^(ASSAY_(HOST|IMAGE)|POSTGRES_\w+|BACKUP_RECIPIENT|AF_\w+|NODE_\w+|ALL|ACCESS_KEY_ID|SECRET_ACCESS_KEY|DATABASE_DIRECT_URL|UTF8|UDP|TCP)$/;
  for (const file of files)
    for (const [name] of textOf(file).matchAll(/\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/g))
      assert.ok(settingNames.has(name) || elsewhere.test(name), `${file} names ${name}`);
});

test("the image is built in stages from pinned ones, and does not run as root", () => {
  const dockerfile = textOf("Dockerfile");
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base ?? "");
  assert.ok(bases.length > 1);
  for (const base of bases)
    assert.match(base, /^(scratch|build|\$\{?BASE\}?|\S+:\d+\.\d+\.\d+-[a-z-]+(@sha256:[0-9a-f]{64})?)$/);
  assert.match(dockerfile, /^ARG BASE=node:\d+\.\d+\.\d+-bookworm-slim/m);
  assert.match(dockerfile, /^USER \d+/m);
});

test("every package with machine code for x86-64 has the same for arm64", () => {
  const { packages } = JSON.parse(textOf("package-lock.json")) as {
    packages: Record<string, { os?: string[]; cpu?: string[] }>;
  };
  const native = Object.entries(packages)
    .filter(([, { os, cpu }]) => os?.includes("linux") && cpu?.includes("x64"))
    .map(([name]) => name);
  assert.ok(native.length > 5);
  for (const name of native) assert.ok(name.replace("x64", "arm64") in packages, name);
  const networks = globSync("node_modules/onnxruntime-node/bin/*/linux/*", { cwd: root });
  assert.deepEqual(networks.map((folder) => path.basename(folder)).sort(), ["arm64", "x64"]);
});

test("systemd takes the units, and finds the service well confined", {
  skip: hasSystemd ? false : "systemd-analyze is not installed",
}, () => {
  const units = globSync("deploy/systemd/*", { cwd: root });
  assert.equal(units.length, 5);
  const { stderr } = spawnSync("systemd-analyze", ["verify", ...units], { cwd: root, encoding: "utf8" });
  // Assay is not at /opt/assay here.
  const problems = stderr
    .split("\n")
    .filter((line) => /^assay|^deploy/.test(line) && !line.includes("/opt/assay"));
  assert.deepEqual(problems, []);
  const args = ["security", "--offline=true", "--threshold=20", "deploy/systemd/assay.service"];
  const { status, stdout } = spawnSync("systemd-analyze", args, { cwd: root, encoding: "utf8" });
  assert.equal(status, 0, stdout.trim().split("\n").at(-1));
});
