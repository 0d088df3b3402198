import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { firstAreas, textParts } from "../../text-parts.ts";
import en from "../../texts/en.json" with { type: "json" };

const source = new URL("../", import.meta.url);

/** The first screens with everything that they load, except the router, which leads to all other pages. */
const firstScreens = [
  "shell/shell.tsx",
  "shell/palette.tsx",
  "overview/overview-page.tsx",
  "sessions/sessions-page.tsx",
  "sign-in/sign-in-page.tsx",
  "sign-in/sign-up-page.tsx",
  "sign-in/forgot-password-page.tsx",
  "sign-in/mailed-link-pages.tsx",
  "invitations/invitation-page.tsx",
  "shell/not-found.tsx",
  "shell/page-failure.tsx",
];

function withImports(files: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const waiting = files.map((file) => new URL(file, source));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file.href)) continue;
    const text = readFileSync(file, "utf8");
    found.set(file.href, text);
    for (const [, name = ""] of text.matchAll(/"(\.{1,2}\/[^"]+\.tsx?)"/g)) waiting.push(new URL(name, file));
  }
  return found;
}

test("the first screens show only words that are loaded with them", () => {
  const files = withImports(firstScreens);
  assert.ok(files.size > 60, String(files.size));
  for (const [file, text] of files)
    for (const [whole, area = ""] of text.matchAll(/\bt\.([a-z]\w*)/g))
      if (Object.hasOwn(en, area)) assert.ok(firstAreas.includes(area), `${file}: ${whole}`);
});

test("every page that does not wait for the later words is among the first screens", () => {
  const router = readFileSync(new URL("router.tsx", source), "utf8");
  const calls = [
    ...router.matchAll(
      /\b(page|outside)\(\s*"[^"]+",\s*(?:\(\) => import\("\.\/([^"]+)"\)|(\w+)),\s*"\w+",?\s*(true)?\s*\)/g,
    ),
  ];
  // None is written in another way, which this would not find.
  assert.equal(calls.length, router.match(/^ +(page|outside)\(/gm)?.length);
  assert.ok(calls.length > 25, String(calls.length));
  for (const [whole, kind, file, load, isFirst] of calls) {
    if (kind === "page" && isFirst === undefined) continue;
    const named = file ?? new RegExp(`const ${load} = \\(\\) => import\\("\\./([^"]+)"\\)`).exec(router)?.[1];
    assert.ok(named !== undefined && firstScreens.includes(named), whole);
  }
});

test("the two parts of a language are the whole of it", () => {
  const file = new URL("../../texts/en.json", import.meta.url).pathname;
  const part = (name: string) =>
    JSON.parse(/^export default (.*);$/s.exec(textParts().load(`${file}?${name}`) ?? "")?.[1] ?? "{}");
  assert.deepEqual({ ...part("first"), ...part("later") }, en);
  assert.deepEqual(Object.keys(part("first")), firstAreas);
  assert.equal(textParts().load(file), null);
});
