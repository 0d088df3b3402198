import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { settings } from "../apps/server/src/config.ts";
import { findKubernetesApi, writeSchemas } from "./kubernetes/schemas.ts";

const root = path.resolve(import.meta.dirname, "..");
const chart = "deploy/helm/assay";
const textOf = (file: string) => readFileSync(path.join(root, file), "utf8");
const templates = globSync(`${chart}/templates/*.{yaml,tpl}`, { cwd: root });
const settingNames = new Set<string>(Object.values(settings).map(({ env }) => env));

type Schema = { $ref?: string; properties?: Record<string, Schema>; definitions?: Record<string, Schema> };

/** The paths of the mappings in a YAML file that is written in blocks, as far as they are not within braces. */
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
  // What Kubernetes defines below these, the schema leaves to Kubernetes.
  const open = /\.resources\.|^podSecurityContext\.(fsGroup|runAsGroup|seccompProfile)/;
  for (const value of values)
    if (!open.test(value)) assert.ok(known.has(value), `${value} is not in values.schema.json`);
  // The roles share a definition, and only some of them have these.
  const ofOneRole =
    /^worker\.(autoscaling|drainSeconds|drainAttemptSeconds)|^api\.enabled|^api\.autoscaling\.queue|^roles\.\w+\.(autoscaling\.faceQueue|drainSeconds|drainAttemptSeconds)|^global$/;
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
    "compose.yaml",
    "Dockerfile",
  ];
  const elsewhere = /^(NODE_\w+|ALL|ACCESS_KEY_ID|SECRET_ACCESS_KEY|DATABASE_DIRECT_URL|UTF8|UDP|TCP)$/;
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

const has = (tool: string, ...args: string[]) => spawnSync(tool, args).status === 0;
const noHelm = has("helm", "version", "--short")
  ? false
  : "helm is not installed (go install helm.sh/helm/v3/cmd/helm@latest)";
const examples = ["small", "large", "single"];

function helm(...args: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync("helm", args, { cwd: root, encoding: "utf8" });
  return { status, text: status === 0 ? stdout : `${stdout}${stderr}` };
}

function render(example: string, ...more: string[]): string {
  const values = `deploy/helm/examples/${example}.yaml`;
  const { status, text } = helm(
    "template",
    "assay",
    chart,
    "--kube-version",
    "1.34.0",
    "-f",
    values,
    ...more,
  );
  assert.equal(status, 0, text);
  return text;
}

test("helm takes the chart, renders what was asked for, and refuses what cannot work", {
  skip: noHelm,
}, () => {
  for (const example of examples) {
    const { status, text } = helm(
      "lint",
      "--strict",
      "--kube-version",
      "1.34.0",
      chart,
      "-f",
      `deploy/helm/examples/${example}.yaml`,
    );
    assert.equal(status, 0, text);
  }
  const kindsOf = (text: string) => [...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind).sort();
  const small = render("small");
  assert.deepEqual(kindsOf(small), [
    ...["ConfigMap", "Deployment", "Deployment", "HorizontalPodAutoscaler", "Job", "NetworkPolicy"],
    ...["PodDisruptionBudget", "PodDisruptionBudget", "Service", "ServiceAccount"],
  ]);
  assert.match(small, /args: \[start, --role, api\][\s\S]*args: \[start, --role, worker\]/);
  // A chip that has passed follows its device from one api process to another, which have to know their own addresses.
  const [api = "", worker = ""] = small
    .split(/^---$/m)
    .filter((text) => text.includes("args: [start, --role"));
  assert.match(api, /CALL_ADDRESS, valueFrom: \{ fieldRef: \{ fieldPath: status\.podIP \} \} \}/);
  assert.ok(!worker.includes("CALL_ADDRESS"));
  const large = render("large");
  for (const kind of ["HTTPRoute", "Ingress", "PodMonitor", "PrometheusRule"])
    assert.ok(kindsOf(large).includes(kind));
  assert.match(
    large,
    /name: assay_face_queue[\s\S]*name: assay_verify_checks_waiting|name: assay_verify_checks_waiting[\s\S]*name: assay_face_queue/,
  );
  assert.match(large, /CHIP_HOSTS: assay-chip:3900\n {2}FACE_HOSTS: assay-face:3900/);
  // Whoever examines chips and faces has the ring, and neither the database nor anything else of the Secret.
  const helpers = large.split(/^---$/m).filter((text) => /args: \[start, --role, (chip|face)\]/.test(text));
  assert.equal(helpers.length, 2);
  for (const helper of helpers) {
    assert.ok(!/secretRef|DATABASE_URL/.test(helper), helper);
    assert.match(
      helper,
      /name: SECRET_KEYS\n +valueFrom: \{ secretKeyRef: \{ name: "assay", key: "SECRET_KEYS" \} \}/,
    );
  }
  // The rules come through as they are, with the places that Prometheus fills in.
  assert.ok(large.includes("{{ $labels.holder }}"));
  assert.match(large, /image: "registry\.example\.com\/assay@sha256:0{64}"/);
  assert.match(render("single"), /args: \[start, --role, all\]/);
  const refused: [string[], RegExp][] = [
    [[], /existingSecret/],
    [
      ["-f", "deploy/helm/examples/small.yaml", "--set", "env.DATABASE_URL=postgres://secret"],
      /DATABASE_URL/,
    ],
    [
      ["-f", "deploy/helm/examples/small.yaml", "--set", "env.DATABASE_READ_URL=postgres://secret"],
      /DATABASE_READ_URL/,
    ],
    [
      ["-f", "deploy/helm/examples/small.yaml", "--set", "podSecurityContext.runAsNonRoot=false"],
      /runAsNonRoot/,
    ],
    [["-f", "deploy/helm/examples/small.yaml", "--set", "api.replicsa=3"], /replicsa/],
  ];
  for (const [args, complaint] of refused) {
    const { status, text } = helm("template", "assay", chart, "--kube-version", "1.34.0", ...args);
    assert.notEqual(status, 0);
    assert.match(text, complaint);
  }
});

const api = findKubernetesApi(process.env);
const noConformance =
  noHelm ||
  (has("kubeconform", "-v")
    ? api === null && "no OpenAPI document of Kubernetes (go mod download k8s.io/kubernetes@v1.34.1)"
    : "kubeconform is not installed (go install github.com/yannh/kubeconform/cmd/kubeconform@latest)");

test("Kubernetes would take everything that the chart makes", { skip: noConformance }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), "assay-schemas-"));
  try {
    writeSchemas(api ?? "", folder);
    const validate = (input: string) =>
      spawnSync(
        "kubeconform",
        [
          ...["-strict", "-skip", "HTTPRoute,PodMonitor,PrometheusRule"],
          ...["-schema-location", `${folder}/{{ .ResourceKind }}{{ .KindSuffix }}.json`],
        ],
        { input, encoding: "utf8" },
      );
    for (const example of examples) {
      const { status, stdout } = validate(render(example));
      assert.equal(status, 0, stdout);
    }
    // It would see a field that does not exist.
    assert.notEqual(validate(render("small").replace("enableServiceLinks", "enableServiceLink")).status, 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
