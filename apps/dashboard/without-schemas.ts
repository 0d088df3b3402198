import { sampleEvent } from "@assay/contract/event-samples";
import { eventTypes } from "@assay/contract/events";
import { parseAst } from "vite";

/** Properties of a route that only the service and the documentation need. */
const unneeded = new Set(["summary", "description", "body", "query", "reply", "errors"]);

/** The result of `routesOf`. */
const isRoute = /^(?:route|signInRoute)$/;

type Node = { type: string; start: number; end: number } & Record<string, unknown>;

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}

/**
 * Build plugin: keeps of each `route(…)` what a caller needs. Schemas and descriptions are a tenth of the
 * first screen; sample events are made during the build.
 */
export function withoutSchemas(): {
  name: string;
  enforce: "pre";
  load(id: string): string | null;
  transform(code: string, id: string): string | null;
} {
  return {
    name: "without-schemas",
    enforce: "pre",
    load(id) {
      if (!id.endsWith("/packages/contract/src/event-samples.ts")) return null;
      const samples = Object.fromEntries(eventTypes.map((type) => [type, sampleEvent(type)]));
      return `const samples = ${JSON.stringify(samples)};\nexport const sampleEvent = (type) => samples[type];\n`;
    },
    transform(code, id) {
      if (!/\/packages\/contract\/src\/[a-z-]+\.ts$/.test(id) || !code.includes("route(")) return null;
      const cuts: [start: number, end: number][] = [];
      const walk = (node: Node): void => {
        const callee = node.callee;
        if (node.type === "CallExpression" && isNode(callee) && isRoute.test(String(callee.name))) {
          const definition = (node.arguments as Node[]).at(-1);
          for (const property of (definition?.properties ?? []) as Node[])
            if (isNode(property.key) && unneeded.has(String(property.key.name)))
              cuts.push([property.start, property.end]);
        }
        for (const value of Object.values(node))
          for (const inner of Array.isArray(value) ? value : [value]) if (isNode(inner)) walk(inner);
      };
      walk(parseAst(code, { lang: "ts" }) as unknown as Node);
      let kept = code;
      for (const [start, end] of cuts.sort(([a], [b]) => b - a)) {
        const after = kept.slice(end).replace(/^\s*,/, "");
        kept = kept.slice(0, start) + after;
      }
      return kept;
    },
  };
}

/** Functions that build schemas: the build can drop their unused results. */
export const schemaFunctions = [
  "Type",
  "named",
  "open",
  "closed",
  "Nullable",
  "OneOf",
  "UuidOf",
  "Text",
  "PrefixedId",
  "pageQuery",
];
