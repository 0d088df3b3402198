import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { codesOfNoRoute, codesOfTools, errorCodes } from "@assay/contract/errors";
import { describeApi, tagDescriptions } from "@assay/contract/openapi";
import { bodyLimitOf, errorsOf } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { listDocuments, readDocument } from "../../src/platform/pages/documents.ts";

test("every error code is declared by a route or is of none, and every declared code exists", () => {
  const declared = new Set(routes.flatMap(errorsOf));
  assert.deepEqual([...declared, ...codesOfNoRoute, ...codesOfTools].sort(), [...errorCodes].sort());
});

test("every error code has its own heading on the page that errors link to", () => {
  const html = readDocument("errors")?.html ?? "";
  for (const code of errorCodes) assert.ok(html.includes(`id="${code}"`), code);
});

test("a body that is as long as its fields may be fits into what its route takes", () => {
  for (const definition of routes) {
    if (definition.body === undefined) continue;
    const bytes = longest(definition.body as Shape);
    assert.ok(bytes <= bodyLimitOf(definition), `${definition.id}: ${bytes}`);
  }
});

type Shape = {
  anyOf?: Shape[];
  enum?: unknown[];
  type?: string;
  maxLength?: number;
  items?: Shape;
  maxItems?: number;
  properties?: Record<string, Shape>;
};

/** Of a value in ASCII; what only a pattern or a number bounds is short. */
function longest(shape: Shape): number {
  if (shape.anyOf) return Math.max(...shape.anyOf.map(longest));
  if (shape.enum) return Math.max(...shape.enum.map((value) => JSON.stringify(value).length));
  if (shape.type === "string") return 2 + (shape.maxLength ?? 100);
  if (shape.items) return 2 + (shape.maxItems ?? 0) * (1 + longest(shape.items));
  const fields = Object.entries(shape.properties ?? {});
  return 24 + fields.reduce((sum, [name, inner]) => sum + name.length + 4 + longest(inner), 0);
}

test("operation ids and the pairs of method and path are unique", () => {
  assert.equal(new Set(routes.map((route) => route.id)).size, routes.length);
  assert.equal(new Set(routes.map((route) => `${route.method} ${route.path}`)).size, routes.length);
});

test("every tag is described", () => {
  for (const route of routes) assert.ok(tagDescriptions[route.tag], route.tag);
});

test("path parameters are declared, one for one", () => {
  for (const route of routes) {
    const inPath = [...route.path.matchAll(/:([a-z_]+)/g)].map((match) => match[1]).sort();
    assert.deepEqual(Object.keys(route.params?.properties ?? {}).sort(), inPath, route.id);
  }
});

test("an independent linter finds no error in the OpenAPI document", () => {
  const folder = mkdtempSync(join(tmpdir(), "assay-openapi-"));
  try {
    const file = join(folder, "openapi.json");
    writeFileSync(file, JSON.stringify(describeApi(routes)));
    const cli = new URL("../../../../node_modules/@redocly/cli/bin/cli.js", import.meta.url).pathname;
    const result = spawnSync(process.execPath, [cli, "lint", "--format=json", file], {
      encoding: "utf8",
      // The linter would otherwise ask the network for a newer version of itself and report its use.
      env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", CI: "true" },
    });
    const report = JSON.parse(result.stdout.slice(result.stdout.indexOf("{")));
    const errors = report.problems.filter((problem: { severity: string }) => problem.severity === "error");
    assert.deepEqual(
      errors.map((problem: { message: string; location: unknown }) => problem),
      [],
    );
    assert.equal(report.totals.errors, 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("every guide has a title and says in its first sentence what it is for", () => {
  for (const { name, title, summary } of listDocuments()) {
    assert.ok(title !== "Documentation" && summary.length > 10, name);
  }
});

test("links between guides lead somewhere", () => {
  for (const { name } of listDocuments()) {
    const html = readDocument(name)?.html ?? "";
    for (const [, target, anchor] of html.matchAll(/href="\/docs\/([a-z0-9-]+)(?:#([^"]*))?"/g)) {
      const document = readDocument(target ?? "");
      assert.ok(document, `${name} links to ${target}`);
      if (anchor) assert.ok(document.html.includes(`id="${anchor}"`), `${name} links to ${target}#${anchor}`);
    }
  }
});
