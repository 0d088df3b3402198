import { type CryptoKey, calculateJwkThumbprint, exportJWK } from "jose";
import type { ClaimPath } from "../asked.ts";
import { fromBase64Url, toBase64Url } from "../base64url.ts";
import { documentTypes } from "../dcql/ask.ts";
import type { DcqlCredential } from "../dcql/query.ts";
import { issueMdoc } from "../mdoc/issue-mdoc.ts";
import { presentMdoc } from "../mdoc/present-mdoc.ts";
import { sessionTranscript } from "../mdoc/session-transcript.ts";
import type { ReceivedRequest } from "../openid4vp/answer-as-wallet.ts";
import { issueSdJwt } from "../sd-jwt/issue-sd-jwt.ts";
import { presentSdJwt } from "../sd-jwt/present-sd-jwt.ts";
import { type Purpose, purposes } from "../trust-anchor.ts";
import { mdocElementsOf, sdJwtClaimsOf, testPerson } from "./test-person.ts";
import { testIssuer } from "./test-signer.ts";
import { testStatusIndexes, testStatusUri } from "./test-status.ts";
import type { WalletOutcome } from "./wallet-outcomes.ts";

type Order = {
  credential: DcqlCredential;
  request: ReceivedRequest & { responseUri: string };
  outcome: Exclude<WalletOutcome, "declines">;
  now: Date;
};

const dayMs = 24 * 60 * 60 * 1000;

/** A credential that the test country issues for this request, as its holder presents it. */
export async function presentSpecimen(order: Order): Promise<string> {
  const holder = await newKey();
  const presenter = order.outcome === "wrong-holder-key" ? await newKey() : holder;
  const nonce = order.outcome === "foreign-nonce" ? crypto.randomUUID() : order.request.nonce;
  const purpose = purposeOf(order.credential);
  const { now, outcome } = order;
  // Longer than a day, so that the status list is checked.
  // The person's document has its own expiry; a proof of age has none.
  const isOver = purpose === "age" && outcome === "expired";
  const validity = {
    from: new Date(now.getTime() - (isOver ? 14 : 1) * dayMs),
    until: new Date(now.getTime() + (isOver ? -1 : 13) * dayMs),
  };
  const status = {
    uri: testStatusUri(publicUrlOf(order.request.responseUri), purpose),
    index: testStatusIndexes[outcome === "revoked" || outcome === "suspended" ? outcome : "valid"],
  };
  const signer = await testIssuer(outcome === "unknown-issuer" ? "unknown" : purpose);
  const shared = { ...order, purpose, holder, presenter, nonce, validity, status, signer };
  return order.credential.format === "mso_mdoc" ? await asMdoc(shared) : await asSdJwt(shared);
}

type Specimen = Order & {
  purpose: Purpose;
  holder: KeyPair;
  presenter: KeyPair;
  nonce: string;
  validity: { from: Date; until: Date };
  status: { uri: string; index: number };
  signer: Awaited<ReturnType<typeof testIssuer>>;
};

async function asMdoc(specimen: Specimen): Promise<string> {
  const { credential, request, outcome, purpose, now, validity } = specimen;
  const paths = firstClaimSet(credential);
  const [[nameSpace = ""] = []] = paths as readonly (readonly string[])[];
  const ages = paths.flatMap(([, name]) => /^age_over_(\d+)$/.exec(String(name))?.[1] ?? []).map(Number);
  const elements = mdocElementsOf(purpose, testPerson(outcome, now), ages);
  const issued = await issueMdoc({
    docType: documentTypes[purpose].mso_mdoc,
    nameSpaces: { [nameSpace]: Object.fromEntries(elements) },
    signer: specimen.signer,
    deviceKey: specimen.holder.publicKey,
    signed: validity.from,
    validFrom: validity.from,
    validUntil: validity.until,
    status: specimen.status,
  });
  const { encryptionKey } = request;
  const transcript = await sessionTranscript({
    kind: "redirect",
    clientId: request.clientId,
    nonce: specimen.nonce,
    responseUri: request.responseUri,
    keyThumbprint: encryptionKey === null ? null : fromBase64Url(await calculateJwkThumbprint(encryptionKey)),
  });
  const response = await presentMdoc(issued, {
    transcript,
    disclose:
      outcome === "discloses-more" ? "all" : paths.map(([space, name]) => [String(space), String(name)]),
    proof: { kind: "signature", privateKey: specimen.presenter.privateKey, algorithm: "ES256" },
  });
  return toBase64Url(response);
}

async function asSdJwt(specimen: Specimen): Promise<string> {
  const { credential, request, outcome, now, validity, status, signer } = specimen;
  const claims = sdJwtClaimsOf(testPerson(outcome, now));
  const issued = await issueSdJwt(
    {
      claims,
      open: {
        iss: "https://pid.test-country.example",
        vct: documentTypes.pid["dc+sd-jwt"],
        iat: seconds(validity.from),
        exp: seconds(validity.until),
        status: { status_list: { uri: status.uri, idx: status.index } },
      },
      holderKey: await exportJWK(specimen.holder.publicKey),
    },
    signer,
  );
  const asked = firstClaimSet(credential);
  const everything = [...asked, ...Object.keys(claims).map((name) => [name])];
  return await presentSdJwt(issued, outcome === "discloses-more" ? everything : asked, {
    privateKey: specimen.presenter.privateKey,
    audience: request.clientId,
    nonce: specimen.nonce,
    issuedAt: now,
  });
}

/** The test country has every claim, so the first choice of the verifier is always possible. */
export function firstClaimSet({ claims = [], claim_sets: sets }: DcqlCredential): readonly ClaimPath[] {
  const [first] = sets ?? [];
  return claims.filter(({ id }) => first === undefined || first.includes(id)).map(({ path }) => path);
}

/** Which of the test country's credentials answers this one. */
export function purposeOf({ meta }: DcqlCredential): Purpose {
  const asked = "doctype_value" in meta ? [meta.doctype_value] : meta.vct_values;
  const found = purposes.find((purpose) =>
    Object.values(documentTypes[purpose]).some((type) => asked.includes(type)),
  );
  if (found === undefined) throw new Error(`The test country does not issue ${asked.join(", ")}.`);
  return found;
}

/** The service that asks also serves the status lists of the test country. */
function publicUrlOf(responseUri: string): string {
  return responseUri.slice(0, responseUri.indexOf("/oid4vp/"));
}

type KeyPair = { privateKey: CryptoKey; publicKey: CryptoKey };

async function newKey(): Promise<KeyPair> {
  return await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
