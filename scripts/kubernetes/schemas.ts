import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

type Definition = {
  "x-kubernetes-group-version-kind"?: { group: string; version: string; kind: string }[];
};

/** The kinds that the chart makes and that Kubernetes itself knows. */
const kinds = new Set([
  ...["Deployment", "Job", "CronJob", "Service", "ServiceAccount", "ConfigMap", "Ingress", "NetworkPolicy"],
  ...["PodDisruptionBudget", "HorizontalPodAutoscaler"],
]);

/** The OpenAPI document of Kubernetes, or null. `go mod download k8s.io/kubernetes@v1.34.1` fetches it. */
export function findKubernetesApi(environment: NodeJS.ProcessEnv): string | null {
  const given = environment.ASSAY_KUBERNETES_OPENAPI;
  if (given !== undefined) return given;
  const cache =
    environment.GOMODCACHE ?? path.join(environment.GOPATH ?? path.join(homedir(), "go"), "pkg/mod");
  const found = globSync("k8s.io/kubernetes@v*/api/openapi-spec/swagger.json", { cwd: cache }).sort();
  return found.length === 0 ? null : path.join(cache, found.at(-1) ?? "");
}

/**
 * Writes a JSON schema per kind into the folder, under the names that kubeconform expects.
 * Undeclared fields are not allowed.
 */
export function writeSchemas(api: string, folder: string): void {
  const { definitions } = JSON.parse(readFileSync(api, "utf8")) as {
    definitions: Record<string, Definition>;
  };
  for (const definition of Object.values(definitions)) makeStrict(definition);
  Object.assign(definitions, {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": { oneOf: [{ type: "string" }, { type: "number" }] },
  });
  mkdirSync(folder, { recursive: true });
  for (const [name, definition] of Object.entries(definitions))
    for (const { group, version, kind } of definition["x-kubernetes-group-version-kind"] ?? []) {
      if (!kinds.has(kind)) continue;
      const file = [kind.toLowerCase(), ...(group === "" ? [] : [group.split(".")[0]]), version].join("-");
      const schema = { $ref: `#/definitions/${name}`, definitions: reachable(definitions, name) };
      writeFileSync(path.join(folder, `${file}.json`), JSON.stringify(schema));
    }
}

/** A whole document for each kind would be 40 MB. */
function reachable(definitions: Record<string, Definition>, from: string): Record<string, Definition> {
  const found: Record<string, Definition> = {};
  const visit = (name: string): void => {
    const definition = definitions[name];
    if (definition === undefined || found[name] !== undefined) return;
    found[name] = definition;
    for (const [, next] of JSON.stringify(definition).matchAll(/"#\/definitions\/([^"]+)"/g))
      visit(next ?? "");
  };
  visit(from);
  return found;
}

function makeStrict(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  const schema = node as Record<string, unknown>;
  if (schema.format === "int-or-string") {
    delete schema.type;
    schema.oneOf = [{ type: "string" }, { type: "integer" }];
  }
  if (typeof schema.properties === "object" && schema.additionalProperties === undefined)
    schema.additionalProperties = false;
  for (const value of Object.values(schema)) makeStrict(value);
}
