import assert from "node:assert/strict";
import { test } from "node:test";
import { serialize } from "node:v8";
import type { OrganizationId } from "@assay/contract/ids";
import { parseMrzLines } from "@assay/emrtd/mrz/parse-mrz";
import { specimenLines } from "../../../test/support/specimen-mrz.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { serviceDocumentId } from "./document-chip/claims.ts";
import type { ChipContent } from "./document-chip/proof.ts";
import type { Proof } from "./kinds.ts";
import { sharedData } from "./shared-data.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const organizationId = knownId<OrganizationId>("org-1");
const mrz = parseMrzLines(specimenLines(), now);

test("a success has the chosen claims of the proof, their names, and its evidence", () => {
  const proof: Proof = {
    kind: "document_chip",
    content: serialize({ mrz } satisfies ChipContent),
    level: "chip_clonable",
    revocation: "stale",
    warnings: ["sha1", "revocation_list_stale", "sha1"],
    faceChecks: ["movements"],
    device: "unattested",
  };
  const documentIdKey = Buffer.alloc(32, 1);
  const fieldKeys = ["family_name", "age_over_18", "service_document_id"];
  assert.deepEqual(sharedData(proof, { fieldKeys, organizationId, documentIdKey, now }), {
    claims: {
      family_name: "ERIKSSON",
      age_over_18: true,
      service_document_id: serviceDocumentId(documentIdKey, organizationId, mrz),
    },
    selected_field_keys: fieldKeys,
    evidence: {
      method: "chip_and_face",
      chip: "copy_not_excluded",
      revocation: "stale",
      warnings: ["revocation_list_stale", "sha1"],
      face: "matched",
      face_checks: ["movements"],
      device: "unattested",
      verified_at: now.toISOString(),
    },
  });
});
