import assert from "node:assert/strict";
import test from "node:test";
import { auditEvents } from "@assay/contract/audit";
import { dashboardLanguages } from "@assay/contract/facts";
import { loadWords } from "../i18n/words.ts";
import { auditDeed } from "./audit-sentence.ts";

await loadWords("en");

test("every event of the audit log is a sentence in each language, also when its details are missing", async () => {
  for (const language of dashboardLanguages) {
    await loadWords(language);
    for (const event of auditEvents) {
      const deed = auditDeed(event, {});
      assert.match(deed, /^[a-zà].*[\p{L}?)]$/u, event);
      assert.doesNotMatch(deed, /_|“”|„“|«|null|undefined|\s\s/, event);
    }
  }
  await loadWords("en");
});

test("a sentence says what was changed in the words of the page", () => {
  assert.equal(
    auditDeed("organization.updated", { brand_color: "#ff0000", support_email: null }),
    "changed the brand color and the support email of the organization",
  );
  assert.equal(auditDeed("organization.updated", { logo: "uploaded", bytes: 3 }), "uploaded a logo");
  assert.equal(auditDeed("api_key.updated", { enabled: false }), "disabled the API key");
  assert.equal(
    auditDeed("session.failed", { failure_code: "document_expired" }),
    "completed a session: failed (document expired)",
  );
  assert.equal(
    auditDeed("domain.verified", { apex_domain: "a.example", takeover: true }),
    "verified a.example, taking it over from another organization",
  );
});
