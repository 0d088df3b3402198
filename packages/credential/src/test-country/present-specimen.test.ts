import assert from "node:assert/strict";
import test from "node:test";
import { fromBase64Url } from "../base64url.ts";
import { askedFor } from "../dcql/ask.ts";
import { dcqlQuery } from "../dcql/query.ts";
import { judgeAnswer } from "../openid4vp/answer.ts";
import { statusAt } from "../status-list/status-list.ts";
import { type Purpose, purposes } from "../trust-anchor.ts";
import { presentSpecimen } from "./present-specimen.ts";
import { testCountryAnchors } from "./test-signer.ts";
import { testStatusList } from "./test-status.ts";
import { type WalletOutcome, walletOutcomeNames, walletOutcomes } from "./wallet-outcomes.ts";

const now = new Date("2026-11-18T12:00:00Z");
const service = "https://id.example.com";
const anchors = testCountryAnchors();
const thumbprint = "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s";
const encryptionKey = {
  kty: "EC",
  crv: "P-256",
  x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
  y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
};

/** The result of a presentation: the verdict, and then the status list. */
async function judged(purpose: Purpose, format: string, outcome: Exclude<WalletOutcome, "declines">) {
  const fields = purpose === "age" ? ["age_over_34"] : ["family_name", "age_over_18", "nationality_code"];
  const asked = askedFor(
    [purpose],
    fields.map((key) => ({ key, required: true })),
  ).filter((each) => each.format === format);
  const query = dcqlQuery(asked, anchors);
  const [credential] = query.credentials;
  assert.ok(credential);
  const common = {
    clientId: "x509_hash:verifier",
    nonce: "nonce-nonce-nonce-nonce",
    responseUri: `${service}/oid4vp/response/1`,
  };
  const request = { ...common, state: null, responseMode: "direct_post.jwt", query, encryptionKey };
  const presentation = await presentSpecimen({ credential, request, outcome, now });
  const verdict = await judgeAnswer({ [credential.id]: [presentation] }, asked, {
    binding: { kind: "redirect", ...common, keyThumbprint: fromBase64Url(thumbprint) },
    anchors,
    now,
    holderProof: purpose === "age" ? "not_required" : "required",
  });
  if (verdict.kind === "refused") return verdict.cause;
  assert.ok(verdict.status);
  const list = testStatusList(service, verdict.status.uri, now);
  assert.ok(list, verdict.status.uri);
  return { ...verdict, status: statusAt(list, verdict.status.index) };
}

const causes = {
  document_authenticity_failed: "authenticity",
  holder_binding_failed: "holder",
  document_expired: "expired",
} as const;

const specimens = purposes.flatMap((purpose) =>
  (purpose === "pid" ? ["mso_mdoc", "dc+sd-jwt"] : ["mso_mdoc"]).map((format) => [purpose, format] as const),
);

for (const [purpose, format] of specimens)
  for (const outcome of walletOutcomeNames) {
    if (outcome === "declines") continue;
    const { failureCode, title } = walletOutcomes[outcome];
    test(`${purpose} as ${format}: "${title}" is judged as the catalogue says`, async () => {
      const found = await judged(purpose, format, outcome);
      if (outcome === "revoked" || outcome === "suspended") {
        assert.ok(typeof found !== "string");
        assert.equal(found.status, outcome);
      } else if (failureCode !== null) assert.equal(found, causes[failureCode]);
      else {
        assert.ok(typeof found !== "string", String(found));
        assert.deepEqual([found.status, found.holder], ["valid", "key_proven"]);
        assert.equal(found.disclosedMore, outcome === "discloses-more");
        if (purpose === "age") assert.equal(found.attributes.ageOver?.[34], outcome !== "minor");
        else assert.match(found.attributes.familyName ?? "", /Ø/);
      }
    });
  }
