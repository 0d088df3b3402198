import assert from "node:assert/strict";
import { test } from "node:test";
import { CompactSign } from "jose";
import {
  anchorOf,
  binding,
  everything,
  issuerOf,
  newAuthority,
  newHolder,
  newSigner,
  now,
  openMembers,
  type PidFaults,
  PidWorld,
  person,
  seconds,
} from "../../test/support/pid.ts";
import { fromBase64Url, toBase64, toBase64Url } from "../base64url.ts";
import { utf8 } from "../bytes.ts";
import type { JudgeContext } from "../judge-context.ts";
import { judgeSdJwt } from "./judge-sd-jwt.ts";
import { keyBinding } from "./present-sd-jwt.ts";

const world = await PidWorld.create();

async function outcome(presentation: string, more: Partial<JudgeContext> = {}): Promise<string> {
  const verdict = await judgeSdJwt(presentation, world.context(more));
  return verdict.kind === "accepted" ? "accepted" : verdict.reason;
}

async function refusal(faults: PidFaults, more: Partial<JudgeContext> = {}): Promise<string> {
  return outcome(await world.present(faults), more);
}

/** The credential with its disclosures, without the key binding. */
const issuedPart = (presentation: string) => presentation.slice(0, presentation.lastIndexOf("~") + 1);
const boundAgain = async (part: string) => part + (await keyBinding(part, "sha-256", world.proof()));

test("a valid presentation gives what was asked for, and where the issuer says that it still counts", async () => {
  const verdict = await judgeSdJwt(await world.present(), world.context());
  assert.deepEqual(verdict, {
    kind: "accepted",
    id: "pid_sd",
    purpose: "pid",
    format: "dc+sd-jwt",
    anchor: anchorOf(world.authority),
    holder: "key_proven",
    attributes: {
      familyName: "Čapek",
      givenName: "Ærø",
      birthDate: "1990-02-28",
      nationalities: ["DE"],
      documentNumber: "T220001293",
      expiryDate: "2031-05-01",
    },
    status: { uri: "https://pid.example/status/1", index: 412 },
    validFrom: new Date(openMembers.iat * 1000),
    validUntil: new Date(openMembers.exp * 1000),
    disclosedMore: false,
  });
});

test("types that extend the PID's count from an issuer on the PID list, other types do not", async () => {
  for (const vct of ["urn:eudi:pid:1", "urn:eudi:pid:de:1", "urn:eudi:pid:fr:2"]) {
    assert.equal(await refusal({ open: { ...openMembers, vct } }), "accepted", vct);
  }
  for (const vct of ["urn:eudi:pid", "urn:eudi:pid:", "urn:eudi:pidx:1", "https://library.example/card", 1]) {
    assert.equal(await refusal({ open: { ...openMembers, vct } }), "wrong_type", String(vct));
  }
  const ofLicences = [anchorOf(world.authority, "mdl")];
  assert.equal(await refusal({}, { anchors: ofLicences }), "issuer_unknown");
});

test("older wallets name the media type vc+sd-jwt; another token under a right signature is refused", async () => {
  for (const typ of ["vc+sd-jwt", "application/dc+sd-jwt", "DC+SD-JWT"]) {
    assert.equal(await refusal({ order: { typ } }), "accepted", typ);
  }
  for (const typ of ["JWT", "kb+jwt", "statuslist+jwt", "example+sd-jwt"]) {
    assert.equal(await refusal({ order: { typ } }), "wrong_type", typ);
  }
});

test("issuers sign with keys on P-256, P-384 and P-521, and hash with SHA-2", async () => {
  for (const algorithm of ["ES256", "ES384", "ES512"] as const) {
    const issuer = issuerOf(await newSigner(world.authority, { algorithm }));
    assert.equal(await refusal({ issuer }), "accepted", algorithm);
  }
  for (const digestName of ["sha-256", "sha-384", "sha-512"] as const) {
    assert.equal(await refusal({ order: { digestName } }), "accepted", digestName);
  }
  for (const name of ["md5", "SHA-256", "sha3-256", "__proto__", 1]) {
    const alter = (payload: Record<string, never>) => ({ ...payload, _sd_alg: name });
    assert.equal(await refusal({ order: { alter } }), "algorithm_not_allowed", String(name));
  }
});

test("a presentation for another request is refused", async () => {
  assert.equal(await refusal({ proof: { nonce: "another" } }), "wrong_nonce");
  assert.equal(await refusal({ proof: { audience: "x509_hash:another" } }), "wrong_audience");
  assert.equal(await refusal({ proof: { audience: "origin:https://verifier.example" } }), "wrong_audience");
});

test("over the Digital Credentials API the audience is the page", async () => {
  const overApi = {
    kind: "dc_api",
    origin: "https://verifier.example",
    nonce: binding.nonce,
    keyThumbprint: null,
  } as const;
  const made = (audience: string) => refusal({ proof: { audience } }, { binding: overApi });
  assert.equal(await made("origin:https://verifier.example"), "accepted");
  assert.equal(await made("https://verifier.example"), "wrong_audience");
  assert.equal(await made(binding.clientId), "wrong_audience");
  const annexC = { kind: "annex_c", origin: "https://verifier.example", encryptionInfo: "" } as const;
  assert.equal(await refusal({}, { binding: annexC }), "wrong_audience");
});

test("a key binding is at most five minutes old and not from the future", async () => {
  const at = (later: number) => refusal({ proof: { issuedAt: new Date(now.getTime() + later * 1000) } });
  assert.equal(await at(-300), "accepted");
  assert.equal(await at(-301), "holder_proof_too_old");
  assert.equal(await at(60), "accepted", "clocks of phones differ");
  assert.equal(await at(61), "holder_proof_in_future");
});

test("a presentation needs the key binding of the holder's key", async () => {
  const presentation = await world.present();
  assert.equal(await outcome(issuedPart(presentation)), "holder_proof_missing");
  const [head = "", payload = ""] = presentation.slice(presentation.lastIndexOf("~") + 1).split(".");
  for (const other of ["x", "..", `${head}.${payload}`, `x.${payload}.x`]) {
    assert.equal(await outcome(issuedPart(presentation) + other), "holder_proof_missing", other);
  }
  const stranger = await newHolder();
  assert.equal(await refusal({ proof: { privateKey: stranger.privateKey } }), "holder_signature");
  assert.equal(await refusal({ order: { holderKey: stranger.jwk } }), "holder_signature");
  const withoutKey = { alter: ({ cnf: _, ...payload }: Record<string, never>) => payload };
  assert.equal(await refusal({ order: withoutKey }), "holder_proof_missing");
});

test("the key binding is an ES256 signature of its own type, with all its claims", async () => {
  const part = issuedPart(await world.present());
  const valid = JSON.parse(
    new TextDecoder().decode(
      fromBase64Url((await keyBinding(part, "sha-256", world.proof())).split(".")[1] ?? ""),
    ),
  );
  const made = async (claims: object, header: object = {}) => {
    const proof = new CompactSign(utf8(JSON.stringify({ ...valid, ...claims })));
    proof.setProtectedHeader({ alg: "ES256", typ: "kb+jwt", ...header });
    return outcome(part + (await proof.sign(world.holder.privateKey)));
  };
  assert.equal(await made({}), "accepted");
  assert.equal(await made({}, { typ: "JWT" }), "holder_proof_missing");
  assert.equal(await made({}, { typ: undefined }), "holder_proof_missing");
  assert.equal(await made({ aud: [binding.clientId] }), "wrong_audience");
  assert.equal(await made({ iat: undefined }), "holder_proof_too_old");
  assert.equal(await made({ iat: "now" }), "malformed");
  assert.equal(await made({ exp: seconds(now, -1) }), "holder_proof_too_old");
  assert.equal(await made({ nbf: seconds(now, 3600) }), "holder_proof_in_future");
  assert.equal(await made({ sd_hash: undefined }), "wrong_sd_hash");
  assert.equal(await made({ nonce: undefined }), "wrong_nonce");
  const unsigned = `${toBase64Url(utf8('{"alg":"none","typ":"kb+jwt"}'))}.${toBase64Url(utf8(JSON.stringify(valid)))}.`;
  assert.equal(await outcome(part + unsigned), "holder_signature");
  const secret = new CompactSign(utf8(JSON.stringify(valid))).setProtectedHeader({
    alg: "HS256",
    typ: "kb+jwt",
  });
  const symmetric = await secret.sign(utf8(JSON.stringify(world.holder.jwk)));
  assert.equal(await outcome(part + symmetric), "holder_signature");
});

test("disclosures that were added, taken away or exchanged after the holder signed are noticed", async () => {
  const presentation = await world.present();
  const [jws = "", first = "", ...rest] = presentation.split("~");
  assert.equal(await outcome([jws, ...rest].join("~")), "wrong_sd_hash");
  const all = (await world.issue()).split("~");
  assert.equal(
    await outcome([jws, all[3], first, ...rest].join("~")),
    "digest_mismatch",
    "of another credential",
  );
});

test("a disclosure that the issuer did not sign is refused, also under the holder's signature", async () => {
  const part = issuedPart(await world.present());
  const forged = toBase64Url(utf8('["salt","family_name","Mallory"]'));
  assert.equal(await outcome(await boundAgain(`${part}${forged}~`)), "digest_mismatch");
  const [, disclosure = ""] = part.split("~");
  assert.equal(await outcome(await boundAgain(`${part}${disclosure}~`)), "repeated_element");
  for (const broken of [
    "",
    "%%",
    toBase64Url(utf8("{}")),
    toBase64Url(utf8('["salt"]')),
    toBase64Url(utf8("[1,2]")),
  ]) {
    assert.equal(await outcome(await boundAgain(`${part}${broken}~`)), "digest_mismatch", broken);
  }
});

test("an issuer's signature, chain and algorithm are checked", async () => {
  const presentation = await world.present();
  const [header = "", payload = "", rest = ""] = presentation.split(".");
  const flipped = `${rest.startsWith("A") ? "B" : "A"}${rest.slice(1)}`;
  const tail = presentation.slice(header.length + payload.length + rest.length + 2);
  assert.equal(await outcome(`${header}.${payload}.${flipped}${tail}`), "issuer_signature");
  const elsewhere = await newAuthority("C=XX, CN=Elsewhere");
  assert.equal(await refusal({ issuer: issuerOf(await newSigner(elsewhere)) }), "issuer_unknown");
  const namesake = await newAuthority();
  assert.equal(await refusal({ issuer: issuerOf(await newSigner(namesake)) }), "issuer_unknown");
  const old = await newSigner(world.authority, { notAfter: new Date("2026-06-01T00:00:00Z") });
  assert.equal(await refusal({ issuer: issuerOf(old) }), "issuer_not_valid");
  assert.equal(await refusal({ issuer: { ...issuerOf(world.signer), chain: [] } }), "malformed");
  const other = await newSigner(world.authority);
  const exchanged = { ...issuerOf(other), chain: [world.signer.certificate] };
  assert.equal(await refusal({ issuer: exchanged }), "issuer_signature");
  const signer = await newSigner(world.authority, { algorithm: "ES384" });
  const [, claims = ""] = (await world.issue()).split(".");
  const mixed = `${toBase64Url(utf8(JSON.stringify({ alg: "ES256", typ: "dc+sd-jwt", x5c: [toBase64(signer.certificate)] })))}.${claims}.${toBase64Url(new Uint8Array(64))}`;
  assert.equal(await outcome(`${mixed}~`), "issuer_signature");
  for (const alg of ["none", "HS256", "RS256", "EdDSA"]) {
    const head = toBase64Url(utf8(JSON.stringify({ alg, typ: "dc+sd-jwt" })));
    assert.equal(await outcome(`${head}.${claims}.~`), "algorithm_not_allowed", alg);
  }
});

test("technical validity and the document's expiry are two things", async () => {
  const open = (more: object) => refusal({ open: { ...openMembers, ...more } });
  assert.equal(await open({ exp: seconds(now) }), "credential_expired");
  assert.equal(await open({ exp: seconds(now, 1) }), "accepted");
  assert.equal(await open({ nbf: seconds(now, 3600) }), "not_yet_valid");
  assert.equal(await open({ iat: seconds(now, 3600) }), "not_yet_valid");
  assert.equal(await open({ exp: "tomorrow" }), "malformed");
  const document = (date_of_expiry: string) => refusal({ claims: { ...person, date_of_expiry } });
  assert.equal(await document("2026-11-17"), "document_expired");
  assert.equal(await document("2026-11-18"), "accepted");
  assert.equal(await document("2026-02-30"), "claim_unreadable");
});

test("without an end of its own a credential ends with its signer's certificate", async () => {
  const { exp: _, ...endless } = openMembers;
  const verdict = await judgeSdJwt(await world.present({ open: endless }), world.context());
  assert.equal(verdict.kind === "accepted" && verdict.validUntil.toISOString(), "2028-01-01T00:00:00.000Z");
});

test("a required claim that is missing or unreadable refuses, an optional one does not", async () => {
  const without = (name: string) => everything.filter(([first]) => first !== name);
  for (const name of ["family_name", "given_name", "birthdate", "nationalities"]) {
    assert.equal(await refusal({ paths: without(name) }), "claim_missing", name);
  }
  const verdict = await judgeSdJwt(
    await world.present({ paths: without("document_number") }),
    world.context(),
  );
  assert.equal(verdict.kind === "accepted" && "documentNumber" in verdict.attributes, false);
  assert.equal(await refusal({ claims: { ...person, birthdate: "1990" } }), "claim_unreadable");
  assert.equal(await refusal({ claims: { ...person, family_name: { first: "x" } } }), "claim_unreadable");
  assert.equal(await refusal({ paths: [] }), "claim_missing", "valid, and says nothing");
});

test("what was not asked for is dropped, and the verdict says that there was more", async () => {
  const paths = [...everything, ["sex"], ["issuing_authority"], ["nationalities", 1]];
  const verdict = await judgeSdJwt(await world.present({ paths }), world.context());
  assert.equal(verdict.kind === "accepted" && verdict.disclosedMore, true);
  assert.deepEqual(verdict.kind === "accepted" && verdict.attributes.nationalities, ["DE"]);
  assert.equal(verdict.kind === "accepted" && "sex" in verdict.attributes, false);
  const unreadable = await world.present({ paths, claims: { ...person, sex: "unreadable" } });
  assert.equal(await outcome(unreadable), "accepted");
  const openly = await world.present({ open: { ...openMembers, issuing_country: "DE", sex: 1 } });
  const inTheClear = await judgeSdJwt(openly, world.context());
  assert.equal(inTheClear.kind === "accepted" && inTheClear.disclosedMore, false, "not the wallet's choice");
});

test("every nationality of a list that cannot be taken apart is given, for the warning", async () => {
  const { nationalities, ...claims } = person;
  const verdict = await judgeSdJwt(
    await world.present({ claims, open: { ...openMembers, nationalities } }),
    world.context(),
  );
  assert.deepEqual(verdict.kind === "accepted" && verdict.attributes.nationalities, ["DE", "FR"]);
});

test("claims of the token itself cannot be disclosed afterwards", async () => {
  const disclosed = async (name: string) => {
    const { [name as "exp"]: _, ...open } = openMembers;
    const claims = { ...person, [name]: name === "vct" ? "urn:eudi:pid:1" : 9_999_999_999 };
    return outcome(await boundAgain(await world.issue({ claims, open })));
  };
  for (const name of ["exp", "status", "nbf", "iss"]) assert.equal(await disclosed(name), "malformed", name);
  assert.equal(await disclosed("vct"), "wrong_type");
  assert.equal(await disclosed("cnf"), "repeated_element");
});

test("a status reference that cannot be followed is refused, one of another kind is none", async () => {
  const status = (value: never) => refusal({ open: { ...openMembers, status: value } });
  for (const broken of [1, "x", { status_list: 1 }, { status_list: { idx: -1, uri: "https://a.example" } }]) {
    assert.equal(await status(broken as never), "malformed");
  }
  assert.equal(await status({ status_list: { idx: 1.5, uri: "https://a.example" } } as never), "malformed");
  assert.equal(await status({ status_list: { idx: 1, uri: "no address" } } as never), "malformed");
  const verdict = await judgeSdJwt(
    await world.present({ open: { ...openMembers, status: { other: {} } } }),
    world.context(),
  );
  assert.equal(verdict.kind === "accepted" && verdict.status, null);
});

test("what is no SD-JWT is malformed, whatever it is", async () => {
  const presentation = await world.present();
  const [jws = ""] = presentation.split("~");
  const inputs = ["", "~", "~~~", "a.b.c~", "..~", jws, "~".repeat(300_000)];
  for (const input of inputs) assert.equal(await outcome(input), "malformed", input.slice(0, 20));
  const critical = {
    alg: "ES256",
    typ: "dc+sd-jwt",
    crit: ["x"],
    x: 1,
    x5c: [toBase64(world.signer.certificate)],
  };
  const unknown = await new CompactSign(utf8(JSON.stringify(openMembers)))
    .setProtectedHeader({ ...critical })
    .sign(world.signer.privateKey, { crit: { x: true } });
  assert.equal(await outcome(`${unknown}~`), "issuer_signature");
});

test("every single character that changes on the way is noticed", async () => {
  const presentation = await world.present();
  const reasons = new Map<string, number>();
  for (let at = 0; at < presentation.length; at += 7) {
    const changed = presentation[at] === "A" ? "B" : "A";
    const reason = await outcome(presentation.slice(0, at) + changed + presentation.slice(at + 1));
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  assert.equal(reasons.get("accepted"), undefined, JSON.stringify([...reasons]));
  // The last letter of 64 bytes has four unused bits;
  // a decoder that ignores them accepts sixteen signatures for one.
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const same = letters[letters.indexOf(presentation.at(-1) ?? "") + 1];
  assert.equal(await outcome(presentation.slice(0, -1) + same), "holder_signature");
});
