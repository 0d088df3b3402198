import { readFileSync } from "node:fs";

/**
 * How the person's page meets WCAG 2.2 at level AA, which EN 301 549 adopts in its clause 9 under the same
 * numbers. A criterion is shown by a test that is named here, was judged by eye, or is not evaluated. Without
 * a named test the report is not made.
 */
type Finding =
  | { readonly is: "supported"; readonly by: keyof typeof tests; readonly note?: string }
  | { readonly is: "supported, judged by eye"; readonly note: string }
  | { readonly is: "supported in part"; readonly note: string }
  | { readonly is: "not tested"; readonly note: string }
  | { readonly is: "not applicable"; readonly note: string };

const api = "apps/server/test/verification";
const tests = {
  axe: [
    `${api}/verify/verify-languages.browser.test.ts`,
    "no language is too wide for a narrow phone, and Arabic is mirrored",
  ],
  focus: [
    `${api}/attempts/verify-everybody.browser.test.ts`,
    "on a phone nothing that has the focus lies under the bar with the button",
  ],
  walk: [
    `${api}/attempts/verify-everybody.browser.test.ts`,
    "the whole way can be gone by keyboard, and every screen is told in full to a screen reader",
  ],
  english: [
    `${api}/verify/verify-languages.browser.test.ts`,
    "a translation that no lawyer has read says so, and the binding English text is one tap away",
  ],
  texts: [
    "apps/verify/src/i18n/messages.test.ts",
    "every claim, every failure and every language of the contract has words",
  ],
  reasons: [
    "apps/verify/src/i18n/language.test.ts",
    "a reason is read in the person's language, or as the partner wrote it for everybody, and marked with what it is written in",
  ],
  contrast: ["packages/ui/src/brand.test.ts", ""],
  still: [
    "apps/server/src/verification/face/face-judge.test.ts",
    "a person who cannot turn the head passes by eyes, mouth and distance, at a higher risk",
  ],
} as const;

const noMedia = "the page plays neither sound nor film";
const criteria: readonly (readonly [number: string, name: string, level: "A" | "AA", finding: Finding])[] = [
  ["1.1.1", "Non-text content", "A", { is: "supported", by: "axe" }],
  ["1.2.1–1.2.5", "Time-based media", "A", { is: "not applicable", note: noMedia }],
  ["1.3.1", "Info and relationships", "A", { is: "supported", by: "walk" }],
  ["1.3.2", "Meaningful sequence", "A", { is: "supported", by: "walk" }],
  [
    "1.3.3",
    "Sensory characteristics",
    "A",
    { is: "supported, judged by eye", note: "no instruction refers to shape or place alone" },
  ],
  ["1.3.4", "Orientation", "AA", { is: "supported, judged by eye", note: "nothing locks it" }],
  [
    "1.3.5",
    "Identify input purpose",
    "AA",
    { is: "not tested", note: "the fields are of a document, `bday` apart" },
  ],
  [
    "1.4.1",
    "Use of colour",
    "A",
    { is: "supported, judged by eye", note: "every state has words or an icon too" },
  ],
  [
    "1.4.2",
    "Audio control",
    "A",
    { is: "supported, judged by eye", note: "instructions are read aloud only when asked for" },
  ],
  ["1.4.3", "Contrast (minimum)", "AA", { is: "supported", by: "axe" }],
  ["1.4.4", "Resize text", "AA", { is: "supported", by: "walk" }],
  ["1.4.5", "Images of text", "AA", { is: "supported, judged by eye", note: "only the partner's logo" }],
  ["1.4.10", "Reflow", "AA", { is: "supported", by: "axe" }],
  ["1.4.11", "Non-text contrast", "AA", { is: "supported", by: "contrast" }],
  ["1.4.12", "Text spacing", "AA", { is: "supported", by: "walk" }],
  ["1.4.13", "Content on hover or focus", "AA", { is: "not applicable", note: "there is none" }],
  ["2.1.1", "Keyboard", "A", { is: "supported", by: "walk" }],
  ["2.1.2", "No keyboard trap", "A", { is: "supported", by: "walk" }],
  ["2.1.4", "Character key shortcuts", "A", { is: "not applicable", note: "there are none" }],
  [
    "2.2.1",
    "Timing adjustable",
    "A",
    {
      is: "supported in part",
      note: "a session ends after 60 minutes and a challenge after 45 seconds, which the proof needs; the person can start a new one",
    },
  ],
  [
    "2.2.2",
    "Pause, stop, hide",
    "A",
    { is: "supported", by: "walk", note: "with reduced motion nothing moves" },
  ],
  [
    "2.3.1",
    "Three flashes or below threshold",
    "A",
    {
      is: "supported in part",
      note: "the screen changes its colour about once a second, with a warning before; the contract forbids less than 334 ms",
    },
  ],
  ["2.4.1", "Bypass blocks", "A", { is: "supported", by: "axe" }],
  ["2.4.2", "Page titled", "A", { is: "supported", by: "axe" }],
  ["2.4.3", "Focus order", "A", { is: "supported", by: "walk" }],
  ["2.4.4", "Link purpose (in context)", "A", { is: "supported", by: "walk" }],
  ["2.4.5", "Multiple ways", "AA", { is: "not applicable", note: "one process, step by step" }],
  ["2.4.6", "Headings and labels", "AA", { is: "supported", by: "walk" }],
  [
    "2.4.7",
    "Focus visible",
    "AA",
    { is: "supported, judged by eye", note: "an outline of the accent colour" },
  ],
  ["2.4.11", "Focus not obscured (minimum)", "AA", { is: "supported", by: "focus" }],
  ["2.5.1", "Pointer gestures", "A", { is: "not applicable", note: "single presses only" }],
  ["2.5.2", "Pointer cancellation", "A", { is: "supported, judged by eye", note: "buttons of the browser" }],
  ["2.5.3", "Label in name", "A", { is: "supported", by: "axe" }],
  [
    "2.5.4",
    "Motion actuation",
    "A",
    {
      is: "supported",
      by: "still",
      note: "the head is moved before a camera; who cannot turn it has another way",
    },
  ],
  ["2.5.7", "Dragging movements", "AA", { is: "not applicable", note: "there are none" }],
  ["2.5.8", "Target size (minimum)", "AA", { is: "supported", by: "axe" }],
  ["3.1.1", "Language of page", "A", { is: "supported", by: "axe" }],
  [
    "3.1.2",
    "Language of parts",
    "AA",
    {
      is: "supported",
      by: "reasons",
      note: "the English consent text, names of languages and a partner's reasons are marked; a reason in an undeclared language is marked as unknown",
    },
  ],
  ["3.2.1", "On focus", "A", { is: "supported", by: "walk" }],
  ["3.2.2", "On input", "A", { is: "supported", by: "english" }],
  [
    "3.2.3",
    "Consistent navigation",
    "AA",
    { is: "supported, judged by eye", note: "one frame around every screen" },
  ],
  [
    "3.2.4",
    "Consistent identification",
    "AA",
    { is: "supported, judged by eye", note: "one text for one action" },
  ],
  [
    "3.2.6",
    "Consistent help",
    "A",
    { is: "supported, judged by eye", note: "every dead end says who can help" },
  ],
  ["3.3.1", "Error identification", "A", { is: "supported", by: "texts" }],
  ["3.3.2", "Labels or instructions", "A", { is: "supported", by: "walk" }],
  ["3.3.3", "Error suggestion", "AA", { is: "supported", by: "texts" }],
  [
    "3.3.4",
    "Error prevention (legal, data)",
    "AA",
    { is: "supported, judged by eye", note: "what is shared is shown before, and can be withdrawn" },
  ],
  [
    "3.3.7",
    "Redundant entry",
    "A",
    { is: "supported, judged by eye", note: "a number that was typed is asked for once a try" },
  ],
  ["3.3.8", "Accessible authentication (minimum)", "AA", { is: "not applicable", note: "nobody signs in" }],
  ["4.1.2", "Name, role, value", "A", { is: "supported", by: "walk" }],
  ["4.1.3", "Status messages", "AA", { is: "supported", by: "walk" }],
];

const root = new URL("../", import.meta.url);

function shownBy(key: keyof typeof tests): string {
  const [file, title] = tests[key];
  if (!readFileSync(new URL(file, root), "utf8").includes(title))
    throw new Error(`${file} has no test “${title}”`);
  return `\`${file}\`${title === "" ? "" : `: ${title}`}`;
}

export function describeAccessibility(): string {
  const rows = criteria.map(([number, name, level, finding]) => {
    const shown = finding.is === "supported" ? shownBy(finding.by) : "";
    const note = finding.note ?? "";
    return `| ${number} | 9.${number} | ${name} | ${level} | ${finding.is} | ${[shown, note].filter((text) => text !== "").join("; ")} |`;
  });
  return `# Accessibility

How the person's page meets WCAG 2.2 at level AA and the European standard EN 301 549, with the test that shows it. Written by \`npm run generate\` from \`scripts/accessibility-report.ts\`, which refuses to write when a test that it names is gone.

The report covers the page of the person being verified. \`ASSAY_EVERY_PAGE=1 npm test -- every-page dashboard-pages foreign-text verify.browser\` runs every \`axe\` rule for WCAG 2.2 AA on every screen, of the dashboard, mails, guides and reference too, and fails on any violation. Dashboard and verify pages are tested in light and dark, the rest in one scheme. Every run of the suite covers each screen in one scheme.

**Not done**: a test by ear with a screen reader, and a test on a real phone. "Supported" rests on Chromium's accessibility tree, the keyboard, axe, and sizes and texts.

| WCAG 2.2 | EN 301 549 | Criterion | Level | Finding | Shown by |
| --- | --- | --- | --- | --- | --- |
${rows.join("\n")}

Beyond clause 9: EN 301 549 5.3 (biometrics) asks for another way than one biological characteristic. The face step has none within the page; the partner must offer one, and the page says whom to ask. 5.2 (activation of accessibility features): the way without turning the head and spoken instructions
are offered on the page before the camera starts. Clauses 6, 7, 8 and 13 (speech, video, hardware, relay services) do not apply; 11 (software) is about the apps around the page, which were not examined.
`;
}
