import type { Hex } from "./colours.ts";

/**
 * The design tokens of all pages and mails. The builds of the two apps write them into the style sheets
 * (`written-styles.ts`); pages of the service and mails import them.
 */
export const colours = {
  ink: { light: "#16211b", dark: "#e9edea" },
  muted: { light: "#55615a", dark: "#a9b5ad" },
  paper: { light: "#f6f7f4", dark: "#101512" },
  card: { light: "#ffffff", dark: "#19201c" },
  soft: { light: "#eef2ee", dark: "#232c27" },
  line: { light: "#dfe4de", dark: "#2e3932" },
  /** The edge of anything that can be operated: 3:1 against card and paper. */
  field: { light: "#78847c", dark: "#7f8c84" },
  accent: { light: "#1f4d3a", dark: "#9fd3b8" },
  "on-accent": { light: "#ffffff", dark: "#0f1a14" },
  good: { light: "#1c6b45", dark: "#8fd6ae" },
  "good-soft": { light: "#e5f3ea", dark: "#1a2e23" },
  warn: { light: "#7a4a00", dark: "#f0c674" },
  "warn-soft": { light: "#fdf3de", dark: "#33290f" },
  bad: { light: "#9b2226", dark: "#ffb3ad" },
  "bad-soft": { light: "#fbebea", dark: "#3a1f1e" },
  /** Samples of code. */
  code: { light: "#f0f2ee", dark: "#202924" },
  "code-comment": { light: "#5b665f", dark: "#9aa79f" },
  "code-string": { light: "#1d6b45", dark: "#9fd3b8" },
  "code-keyword": { light: "#7a3e9d", dark: "#cfa6ea" },
  "code-number": { light: "#95500c", dark: "#eebb7d" },
  "code-needed": { light: "#a3320b", dark: "#ffa98a" },
} as const satisfies Record<string, { light: Hex; dark: Hex }>;
export type ColourName = keyof typeof colours;

/** Backgrounds of text and edges. */
export const grounds = ["paper", "card", "soft"] as const satisfies readonly ColourName[];

/** Text on the left can be read on each ground on the right; a test holds them to it. */
export const readableOn: readonly (readonly [text: ColourName, on: readonly ColourName[]])[] = [
  ["ink", [...grounds, "good-soft", "warn-soft", "bad-soft", "code"]],
  ["muted", [...grounds, "code"]],
  ["accent", [...grounds, "code"]],
  ["on-accent", ["accent"]],
  ["good", [...grounds, "good-soft"]],
  ["warn", [...grounds, "warn-soft"]],
  ["bad", [...grounds, "bad-soft"]],
  ["code-comment", ["code"]],
  ["code-string", ["code"]],
  ["code-keyword", ["code"]],
  ["code-number", ["code"]],
  ["code-needed", ["paper", "card"]],
];

const sans =
  '"Inter", "Inter Fallback", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

/** Everything else. Sizes are in rem, so that they grow with the reader's text size. */
export const others = {
  "font-text": sans,
  "font-code": "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  "size-small": "0.875rem",
  "size-text": "1rem",
  "size-lead": "1.0625rem",
  "size-part": "1.1875rem",
  "size-title": "clamp(1.5rem, 1.3rem + 1vw, 1.875rem)",
  "corner-control": "0.75rem",
  "corner-card": "1.125rem",
  "space-tight": "0.5rem",
  "space-part": "1.25rem",
  "space-page": "1.5rem",
  lift: "0 1px 2px rgb(16 24 20 / 0.06), 0 8px 24px -12px rgb(16 24 20 / 0.18)",
  "motion-quick": "160ms",
  "motion-calm": "320ms",
  "motion-curve": "cubic-bezier(0.2, 0, 0, 1)",
} as const;

/**
 * The tokens as a style sheet: custom properties of the root, for both schemes. `--brand-…` replaces the
 * service's colour by that of a partner (`brandProperties`).
 */
export function tokensCss(): string {
  const block = (lines: readonly string[], indent: string) =>
    `${indent}:root {\n${lines.map((line) => `${indent}  ${line}`).join("\n")}\n${indent}}`;
  return [
    block(
      [
        "color-scheme: light dark;",
        ...declared("light"),
        ...Object.entries(others).map(([name, value]) => `--${name}: ${value};`),
      ],
      "",
    ),
    "@media (prefers-color-scheme: dark) {",
    block(declared("dark"), "  "),
    "}",
    "",
  ].join("\n");
}

function declared(scheme: "light" | "dark"): string[] {
  return colourProperties(scheme).map(([name, value]) => `${name}: ${value};`);
}

/** The custom properties of a scheme's colours. */
export function colourProperties(scheme: "light" | "dark"): [name: string, value: string][] {
  const accent = colours.accent[scheme];
  const branded = { accent, fill: accent, "on-fill": colours["on-accent"][scheme], edge: accent };
  return [
    ...Object.entries(colours)
      .filter(([name]) => name !== "accent")
      .map(([name, value]): [string, string] => [`--${name}`, value[scheme]]),
    ...Object.entries(branded).map(([name, own]): [string, string] => [
      `--${name}`,
      `var(--brand-${name}-${scheme}, ${own})`,
    ]),
  ];
}
