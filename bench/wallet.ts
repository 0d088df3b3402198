import { askedFor } from "@assay/credential/dcql/ask";
import { dcqlQuery } from "@assay/credential/dcql/query";
import type { HolderBinding } from "@assay/credential/holder-binding";
import { judgeAnswer, readAnswer } from "@assay/credential/openid4vp/answer";
import { answerAsWallet } from "@assay/credential/openid4vp/answer-as-wallet";
import { presentSpecimen } from "@assay/credential/test-country/present-specimen";
import { testCountryAnchors } from "@assay/credential/test-country/test-signer";
import type { Purpose } from "@assay/credential/trust-anchor";
import { median } from "@assay/face/median";
import { base64url, calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";

const rounds = 200;
const warmUp = 20;
/** An answer that is judged alone shows collections of garbage as outliers; in groups they are spread. */
const group = 5;

const fields = ["family_name", "given_names", "date_of_birth", "document_number", "issuing_country_code"];
const clientId = "x509_hash:Uvo3HtuIxuhC92rShpgqcT3YXwrqRxWEviRiA0OZszk";
const responseUri = "https://id.example.com/oid4vp/response/EXAMPLE";

/**
 * Cost of the verdict on a wallet's answer: decryption, and the checks of certificate path, signatures,
 * digests, key binding and claims. Nothing is cached between answers. Processor time of the whole process,
 * against the goal of 25 ms.
 */
export async function run(): Promise<void> {
  const anchors = testCountryAnchors();
  for (const [purpose, format] of [
    ["pid", "dc+sd-jwt"],
    ["pid", "mso_mdoc"],
    ["mdl", "mso_mdoc"],
    ["age", "mso_mdoc"],
  ] as const) {
    const asked = askedFor([purpose], wanted(purpose)).filter((each) => each.format === format);
    const judgeOne = await preparedAnswer(purpose, asked, anchors);
    const took: number[] = [];
    for (let round = 0; round < warmUp + rounds; round++) {
      const began = process.cpuUsage();
      for (let index = 0; index < group; index++) await judgeOne();
      const { user, system } = process.cpuUsage(began);
      if (round >= warmUp) took.push((user + system) / 1000 / group);
    }
    const sorted = took.sort((a, b) => a - b);
    const shown = (ms: number | undefined) => (ms ?? Number.NaN).toFixed(2);
    console.log(
      `${purpose} ${format.padEnd(9)} median ${shown(median(sorted))} ms, fastest ${shown(sorted[0])} ms, slowest ${shown(sorted.at(-1))} ms (goal 25 ms)`,
    );
  }
}

function wanted(purpose: Purpose) {
  return (purpose === "age" ? ["age_over_18"] : fields).map((key) => ({ key, required: true }));
}

type Asked = ReturnType<typeof askedFor>;
type Anchors = ReturnType<typeof testCountryAnchors>;

async function preparedAnswer(
  purpose: Purpose,
  asked: Asked,
  anchors: Anchors,
): Promise<() => Promise<void>> {
  const isEncrypted = purpose !== "age";
  const { privateKey, publicKey } = await generateKeyPair("ECDH-ES", { crv: "P-256", extractable: true });
  const encryptionKey = isEncrypted ? await exportJWK(publicKey) : null;
  const privateJwk = await exportJWK(privateKey);
  const now = new Date();
  const query = dcqlQuery(asked, anchors);
  const request = {
    clientId,
    nonce: "bench-nonce-bench-nonce",
    state: null,
    responseUri,
    responseMode: isEncrypted ? "direct_post.jwt" : "direct_post",
    query,
    encryptionKey,
  };
  const [credential] = query.credentials;
  if (credential === undefined) throw new Error("nothing is asked for");
  const presentation = await presentSpecimen({ credential, request, outcome: "valid", now });
  const form = await answerAsWallet({ kind: "presented", id: credential.id, presentation }, request);
  const binding: HolderBinding = {
    kind: "redirect",
    clientId,
    nonce: request.nonce,
    responseUri,
    keyThumbprint:
      encryptionKey === null ? null : base64url.decode(await calculateJwkThumbprint(encryptionKey)),
  };
  return async () => {
    const answer = await readAnswer(form, { encryption: isEncrypted ? { privateKey: privateJwk } : null });
    if (answer.kind !== "presented") throw new Error("the answer cannot be read");
    const verdict = await judgeAnswer(answer.presentations, asked, {
      binding,
      // A copy, as read from the database, so that caches by certificate bytes do not help.
      anchors: anchors.map((anchor) => ({ ...anchor, certificate: anchor.certificate.slice() })),
      now,
      holderProof: "required",
    });
    if (verdict.kind !== "accepted") throw new Error(`refused: ${verdict.reason}`);
  };
}
