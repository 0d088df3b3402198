import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { findKubernetesApi, writeSchemas } from "./kubernetes/schemas.ts";

const root = path.resolve(import.meta.dirname, "..");
const chart = "deploy/helm/assay";
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
  const large = render("large");
  for (const kind of ["HTTPRoute", "Ingress", "PodMonitor", "PrometheusRule"])
    assert.ok(kindsOf(large).includes(kind));
  assert.match(large, /name: assay_face_queue/);
  assert.ok(!kindsOf(small).includes("CronJob") && kindsOf(large).includes("CronJob"));
  assert.match(large, /runbook_url: "https:\/\/verify\.example\.com\/docs\/runbooks\/disk-full"/);
  // The rules are unchanged, with Prometheus' placeholders.
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
      ["-f", "deploy/helm/examples/small.yaml", "--set", "podSecurityContext.runAsNonRoot=false"],
      /runAsNonRoot/,
    ],
    [["-f", "deploy/helm/examples/small.yaml", "--set", "api.replicsa=3"], /replicsa/],
    [["-f", "deploy/helm/examples/small.yaml", "--set", "backup.schedule=@daily"], /backup\.recipient/],
    [
      [
        ...["-f", "deploy/helm/examples/small.yaml", "--set", "backup.schedule=@daily"],
        ...["--set", "backup.recipient=age1x"],
      ],
      /backup\.claim/,
    ],
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
