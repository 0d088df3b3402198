import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const styles = readFileSync(new URL("styles.css", import.meta.url), "utf8");

/** The colours of a scheme by name; the dark one replaces those of the light one. */
function coloursOf(scheme: "light" | "dark"): ReadonlyMap<string, string> {
  const [light = "", dark = ""] = [...styles.matchAll(/:root \{([^}]*)\}/g)].map((match) => match[1]);
  const text = scheme === "light" ? light : light + dark;
  return new Map(
    [...text.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = "", hex = ""]) => [name, hex]),
  );
}

/** Relative luminance and contrast ratio of WCAG 2. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const grounds = ["paper", "card", "soft"];
const pairs: [text: string, on: readonly string[], atLeast: number][] = [
  ["ink", [...grounds, "good-soft", "warn-soft", "bad-soft"], 4.5],
  ["muted", grounds, 4.5],
  ["accent", grounds, 4.5],
  ["on-accent", ["accent"], 4.5],
  ["good", [...grounds, "good-soft"], 4.5],
  ["warn", [...grounds, "warn-soft"], 4.5],
  ["bad", [...grounds, "bad-soft"], 4.5],
  // The edge of what can be operated.
  ["field", ["paper", "card"], 3],
];

for (const scheme of ["light", "dark"] as const)
  test(`every text of the ${scheme} colours can be read on every ground that it stands on`, () => {
    const colours = coloursOf(scheme);
    const poor: string[] = [];
    for (const [text, on, atLeast] of pairs)
      for (const ground of on) {
        const ratio = contrast(
          colours.get(text) ?? assert.fail(text),
          colours.get(ground) ?? assert.fail(ground),
        );
        if (ratio < atLeast) poor.push(`${text} on ${ground}: ${ratio.toFixed(2)}`);
      }
    assert.deepEqual(poor, []);
  });
