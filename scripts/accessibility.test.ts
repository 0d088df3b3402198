import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const root = new URL("../", import.meta.url);
const findings = [
  "supported",
  "supported, judged by eye",
  "supported in part",
  "not tested",
  "not applicable",
];

test("every criterion of the accessibility report has a finding, and a supported one a test that exists", () => {
  const report = readFileSync(new URL("docs/accessibility.md", root), "utf8");
  const criteria = [...report.matchAll(/^\| (\d[\d.–]+) \| 9\.\1 \| [^|]+ \| AA? \| ([^|]+) \| (.*) \|$/gm)];
  assert.equal(criteria.length, report.match(/^\| \d/gm)?.length, "each row is a criterion");
  assert.ok(criteria.length >= 50);
  for (const [, number, finding = "", shownBy = ""] of criteria) {
    assert.ok(findings.includes(finding), `${number}: ${finding}`);
    if (finding !== "supported") continue;
    const [, file = "", title = ""] = /^`([\w./-]+\.test\.ts)`(?:: ([^;]+))?/.exec(shownBy) ?? [];
    assert.ok(readFileSync(new URL(file, root), "utf8").includes(title), `${number}: ${shownBy}`);
  }
});
