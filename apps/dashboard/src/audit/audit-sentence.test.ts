import assert from "node:assert/strict";
import test from "node:test";
import { auditEvents } from "@assay/contract/audit";
import { auditDeed } from "./audit-sentence.ts";

test("every event of the audit log is a sentence, also when its details are missing", () => {
  for (const event of auditEvents) {
    const deed = auditDeed(event, {});
    assert.match(deed, /^[a-z].*[a-zA-Z?)]$/, event);
    assert.doesNotMatch(deed, /_|“”|null|undefined|\s\s/, event);
  }
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
