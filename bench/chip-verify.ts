import { createPublicKey, hash, type KeyObject, verify, X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { readWhole } from "@assay/emrtd/ber/read";
import { sequence } from "@assay/emrtd/ber/write";
import { equal } from "@assay/emrtd/bytes";
import { type DigestName, digests } from "@assay/emrtd/crypto/digests";
import type { SignatureScheme } from "@assay/emrtd/crypto/signature-scheme";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import { personalise } from "@assay/emrtd/node/test-country/personalise";
import { readPortrait } from "@assay/emrtd/node/test-country/portraits";
import { type SignerProfile, signerProfiles } from "@assay/emrtd/node/test-country/signer-profiles";
import { signatureAlgorithm } from "@assay/emrtd/node/test-country/signing-key";
import {
  createTestCountry,
  defaultTestSeed,
  type TestCountry,
  testCountryTrust,
} from "@assay/emrtd/node/test-country/test-country";
import { importTrust } from "@assay/emrtd/trust/import-trust";
import { TrustStore } from "@assay/emrtd/trust/trust-store";
import { type DocumentFiles, readSecurityObjectFile } from "@assay/emrtd/verify/document-content";
import { defaultPolicy, type VerificationPolicy } from "@assay/emrtd/verify/policy";
import { checkOf } from "@assay/emrtd/verify/report";
import { verifyDocument, verifySecurityObject } from "@assay/emrtd/verify/verify-document";
import { documentFilesOf } from "@assay/emrtd/virtual/test-document";
import { type Certificate, readCertificate } from "@assay/emrtd/x509/certificate";

const today = new Date("2026-11-15T12:00:00Z");
const goal = 1.5;
/** If both checks run, as in the ceiling. */
const goalPassive = 1.25;
/**
 * A service runs for days, so compiled code is measured. Some thousand calls are compiled before the first
 * figure, because the compiler's threads count as processor time and would burden the first rows. After that
 * every kind of signer only needs a few calls.
 */
const compilingCalls = 4000;
const warmUpCalls = 200;
const rounds = 25;
const roundMilliseconds = 40;

/**
 * Processor time per call in microseconds, so that other load counts less.
 * The minimum of several rounds, because noise only adds.
 */
function measure(...bodies: readonly (() => void)[]): readonly number[] {
  const best = bodies.map(() => Number.POSITIVE_INFINITY);
  for (const body of bodies) for (let warmUp = 0; warmUp < warmUpCalls; warmUp++) body();
  for (let round = 0; round < rounds; round++) {
    // Turn by turn, so that a slow moment of the machine meets all of them.
    for (const [index, body] of bodies.entries()) {
      const start = performance.now();
      const processorTime = process.cpuUsage();
      let calls = 0;
      do {
        body();
        calls++;
      } while (performance.now() - start < roundMilliseconds);
      const { user, system } = process.cpuUsage(processorTime);
      best[index] = Math.min(best[index] ?? 0, (user + system) / calls);
    }
  }
  return best;
}

type BareCheck = {
  readonly digest: string;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
};

function bareCheck(hash: DigestName, message: Uint8Array, signature: Uint8Array): BareCheck {
  return { digest: digests[hash].node, message, signature };
}

/** The bare key: an object around it costs Node 17 µs more, because it catches two internal errors. */
function runBare({ digest, message, signature }: BareCheck, key: KeyObject): void {
  if (!verify(digest, message, key, signature)) throw new Error("A bare signature check failed");
}

/**
 * The certificate's key as the text that node:crypto imports fastest. A PSS key is marked with its
 * parameters, so that it needs no object around it. node:crypto has no other way to set the mask's hash.
 */
function bareKeyText({ publicKey }: X509Certificate, scheme: SignatureScheme): string {
  if (scheme.kind !== "rsa_pss") return publicKey.export({ format: "pem", type: "spki" }).toString();
  const plain = readWhole(new Uint8Array(publicKey.export({ format: "der", type: "spki" })));
  const marked = sequence(signatureAlgorithm(scheme), plain.at(1, "The bits of a key").bytes);
  return `-----BEGIN PUBLIC KEY-----\n${Buffer.from(marked).toString("base64")}\n-----END PUBLIC KEY-----\n`;
}

/** Meets every signer for the first time. */
class ForgetfulStore extends TrustStore {
  override readSigner(der: Uint8Array): Certificate {
    return readCertificate(der);
  }

  override rememberSigner(): void {}
}

function makeDocument(country: TestCountry, profile: SignerProfile): DocumentFiles {
  return documentFilesOf(
    personalise({
      country,
      profile,
      can: "123456",
      portrait: readPortrait("adult.jpg"),
      chipAuthentication: "ecdh_aes128",
      mrz: {
        format: "TD3",
        documentCode: "P",
        issuingState: "UTO",
        nationality: "UTO",
        documentNumber: "BENCH0001",
        dateOfBirth: "900101",
        dateOfExpiry: "331231",
        sex: "X",
        primaryName: "Bench",
      },
    }),
  );
}

/**
 * Two signature checks and the hashes: with imported keys,
 * and with the signer's key imported from its certificate.
 */
function bareChecks(country: TestCountry, profile: SignerProfile, files: DocumentFiles) {
  const { signedData } = readSecurityObjectFile(files.sod);
  const [signerInfo] = signedData.signers;
  const [der] = signedData.certificates;
  const authorityDer = country.authorityCertificates.get(profile.authority);
  if (!signerInfo?.attributes || der === undefined || authorityDer === undefined)
    throw new Error("The document is incomplete");
  const certificate = readCertificate(der);
  const signerText = bareKeyText(new X509Certificate(der), profile.scheme);
  const authorityText = bareKeyText(new X509Certificate(authorityDer), certificate.signatureScheme);
  const authorityKey = createPublicKey(authorityText);
  const readySignerKey = createPublicKey(signerText);
  const overObject = bareCheck(profile.scheme.hash, signerInfo.attributes.signed, signerInfo.signature);
  const { hash: certificateHash } = certificate.signatureScheme;
  const overCertificate = bareCheck(certificateHash, certificate.tbs, certificate.signature);
  const digest = digests[profile.groupHash].node;
  const checks = (signerKey: KeyObject) => {
    runBare(overObject, signerKey);
    runBare(overCertificate, authorityKey);
    hash(digest, signedData.content, "buffer");
    for (const file of files.dataGroups.values()) hash(digest, file, "buffer");
  };
  return {
    ready: () => checks(readySignerKey),
    first: () => {
      const parsed = new X509Certificate(der);
      checks(profile.scheme.kind === "rsa_pss" ? createPublicKey(signerText) : parsed.publicKey);
    },
  };
}

const kinds = ["ratio", "passive", "anew"] as const;
type Kind = (typeof kinds)[number];

/**
 * A document with a portrait of 15 kB, against a ceiling of two signature checks and the hashes by
 * node:crypto.
 * - `ratio`: the signer is cached, and so is its certification, which saves one of the two checks.
 * - `passive`: the signer is cached, and both checks run: passive authentication only, the same work as the
 *   ceiling. Who signed, who certified the signer, when, whether it is revoked, and the hashes.
 * - `anew`: the same within the whole judgement. It also reads the zone, the portrait's header and the chip's
 *   keys, checks that these can be used, and compares countries and dates. The ceiling does none of that.
 * - `first`: an unknown signer. Its certificate is read and its key imported, here and, by X509Certificate,
 *   in the ceiling.
 */
function benchProfile(profile: SignerProfile): Readonly<Record<Kind, number>> & { readonly line: string } {
  const [met = 0, alone = 0, both = 0, never = 0, ready = 0, first = 0] = measure(...bodiesOf(profile));
  const ratio = met / ready;
  const passive = alone / ready;
  const anew = both / ready;
  const cells = [
    profile.id.padEnd(34),
    `${(met / 1000).toFixed(3)} ms`.padStart(10),
    `${(ready / 1000).toFixed(3)} ms`.padStart(10),
    `${ratio.toFixed(2)}x`.padStart(7),
    `${passive.toFixed(2)}x`.padStart(9),
    `${anew.toFixed(2)}x`.padStart(9),
    `${(never / first).toFixed(2)}x`.padStart(9),
    ratio <= goal && passive <= goalPassive ? "" : "  above the goal",
  ];
  return { ratio, passive, anew, line: cells.join(" ") };
}

function bodiesOf(profile: SignerProfile): readonly (() => void)[] {
  const country = createTestCountry(defaultTestSeed, today);
  const checker = createNodeSignatureChecker();
  const trust = new TrustStore(testCountryTrust(country), checker);
  const forgetful = new ForgetfulStore(testCountryTrust(country), checker);
  const files = makeDocument(country, profile);
  const bare = bareChecks(country, profile, files);
  const { digest, hashes } = readSecurityObjectFile(files.sod).securityObject;
  // Results under one set of tolerances are not reused under another.
  const anew = () => ({ ...defaultPolicy, signerCertificate: { ...defaultPolicy.signerCertificate } });
  const passive = (policy: VerificationPolicy) => {
    const report = verifySecurityObject({ sod: files.sod, trust, policy, now: today, checker });
    if (checkOf(report, "revocation").outcome !== "passed") throw new Error("The signer did not verify");
    for (const [number, file] of files.dataGroups) {
      const signed = hashes.get(number);
      if (signed === undefined || !equal(checker.hash(digest, file), signed))
        throw new Error("A group differs");
    }
  };
  const whole = (store: TrustStore, policy: VerificationPolicy) => {
    const { report } = verifyDocument({ files, trust: store, policy, now: today, checker });
    if (report.level !== "data_authentic") throw new Error("The document did not verify");
  };
  return [
    () => whole(trust, defaultPolicy),
    () => passive(anew()),
    () => whole(trust, anew()),
    () => whole(forgetful, defaultPolicy),
    bare.ready,
    bare.first,
  ];
}

function benchMasterList(folder: string): void {
  const bytes = new Uint8Array(readFileSync(path.join(folder, "DE_ML_2026-05-28.ml")));
  const root = readCertificate(new Uint8Array(readFileSync(path.join(folder, "DE_ROOT_CA_CSCA07.cer"))));
  const checker = createNodeSignatureChecker();
  const options = { label: "German list", checker, roots: [root], pinnedSha256: [], now: today };
  const start = performance.now();
  const { records } = importTrust(bytes, options);
  const cold = performance.now() - start;
  const certificates = records[0]?.certificates ?? [];
  const [importing = 0, store = 0, nodeParsing = 0] = measure(
    () => importTrust(bytes, options),
    () => new TrustStore(records, checker),
    () => {
      for (const certificate of certificates) new X509Certificate(certificate);
    },
  );
  console.log(`\nGerman master list, ${certificates.length} certificates, ${bytes.length} bytes`);
  console.log(`  first import in this process   ${cold.toFixed(1)} ms`);
  console.log(`  import, signature checked      ${(importing / 1000).toFixed(1)} ms`);
  console.log(`  index for verification         ${(store / 1000).toFixed(1)} ms`);
  console.log(
    `  the same certificates parsed by node:crypto's X509Certificate alone   ${(nodeParsing / 1000).toFixed(1)} ms`,
  );
  console.log(`  import to that parsing         ${(importing / nodeParsing).toFixed(2)}x`);
}

export async function run(options: readonly string[] = []): Promise<void> {
  const wanted = signerProfiles.filter(
    ({ id }) => options.length === 0 || options.some((option) => id.includes(option)),
  );
  console.log(
    `Passive authentication against its bare signature checks and hashes (goal ${goal}x, passive ${goalPassive}x)\n`,
  );
  const titles = ["whole".padStart(10), "bare".padStart(10), "ratio".padStart(7)];
  for (const title of ["passive", "anew", "first"]) titles.push(title.padStart(9));
  console.log(`${"signer".padEnd(34)} ${titles.join(" ")}`);
  const [cheapest] = signerProfiles;
  const compiled = cheapest === undefined ? [] : bodiesOf(cheapest);
  for (const body of compiled) for (let call = 0; call < compilingCalls; call++) body();
  const results = wanted.map((profile) => {
    const result = benchProfile(profile);
    console.log(result.line);
    return result;
  });
  for (const kind of kinds) {
    const sorted = results.map((result) => result[kind]).sort((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)];
    console.log(
      `${kind === "ratio" ? "\n" : ""}${kind}: median ${median?.toFixed(2)}x, worst ${sorted.at(-1)?.toFixed(2)}x`,
    );
  }
  const folder = path.join(process.env.ASSAY_VECTORS ?? "", "master-lists");
  if (existsSync(folder)) benchMasterList(folder);
  else console.log("\nMaster list skipped: set ASSAY_VECTORS to the folder of independent vectors.");
}
