import { equal } from "../bytes.ts";
import { chipAuthenticationOffersIn } from "../chip-authentication/chip-authentication-offer.ts";
import {
  announcesChipMapping,
  chipMappingOffer,
  needsCardSecurity,
  readCardSecurity,
} from "../chip-authentication-mapping/card-security.ts";
import { clockSkewMilliseconds, isInFuture } from "../clock-skew.ts";
import type { SignedData } from "../cms/signed-data.ts";
import { type SignedDataVerdict, verifySignedData } from "../cms/verify-signed-data.ts";
import type { DigestName } from "../crypto/digests.ts";
import { describePublicKey } from "../crypto/public-key.ts";
import type { SignatureChecker } from "../crypto/signature.ts";
import { describeScheme } from "../crypto/signature-scheme.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import type { DataGroupNumber } from "../lds/data-group.ts";
import { readFullDateOfBirth } from "../lds/dg11.ts";
import type { LdsSecurityObject } from "../lds/lds-security-object.ts";
import type { SecurityInfo } from "../lds/security-infos.ts";
import { endOfValidity, type MrzDate, withBirthBefore, withFullDateOfBirth } from "../mrz/mrz-date.ts";
import type { Mrz } from "../mrz/parse-mrz.ts";
import type { Authority } from "../trust/authority.ts";
import { type DeviationDescription, type DeviationList, deviationsOf } from "../trust/deviation-list.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import type { Certificate } from "../x509/certificate.ts";
import { certificateCountriesOf, sameCountry } from "./country.ts";
import {
  type ChipKeys,
  type DocumentContent,
  type DocumentFiles,
  readDocumentContent,
  readSecurityObjectFile,
  type SecurityObjectFile,
} from "./document-content.ts";
import type { PolicySwitch, Ruling, VerificationPolicy } from "./policy.ts";
import {
  type Check,
  type CheckName,
  checkNames,
  type Evidence,
  makeReport,
  type Report,
  type Warning,
  type WarningCode,
} from "./report.ts";

type DocumentVerification = {
  readonly files: DocumentFiles;
  readonly trust: TrustStore;
  /** Reports of states about faults of their documents. */
  readonly deviations?: readonly DeviationList[];
  readonly policy: VerificationPolicy;
  readonly now: Date;
  readonly checker: SignatureChecker;
};

/** What a session needs after the report: the groups read, and which of them the state signed. */
type VerifiedDocument = {
  readonly report: Report;
  /** Null if the files could not be read; authentic only if `report.level` says so. */
  readonly content: DocumentContent | null;
};

/** The zone and the portrait: without them there is nothing to verify. */
const requiredGroups: readonly DataGroupNumber[] = [1, 2];

/** Whether a certificate had begun, give or take the skew, and had not ended. */
function wasValidAt({ notBefore, notAfter }: Certificate, time: Date): boolean {
  const at = time.getTime();
  return at >= notBefore.getTime() - clockSkewMilliseconds && at <= notAfter.getTime();
}

/**
 * Passive authentication, document expiry, and the selection of the chip's proof. Stops at the first failed
 * check. `withChipProof` adds the proofs later.
 */
export function verifyDocument(input: DocumentVerification): VerifiedDocument {
  const { files, now, checker } = input;
  const run = new Run(input.policy);
  let content: DocumentContent | null = null;
  run.untilFailure(() => {
    const document = run.check("structure", () => checkStructure(files, now, run));
    content = document;
    const { securityObject, mrz, chipKeys } = document;
    const { signer, authority, signingTime } = checkAuthorship(run, signedHashes(document), input);
    run.check("data_group_hashes", () => checkHashes(files, securityObject, checker, run));
    const dateOfBirth = settleBirth(run, document, files, signingTime, now);
    if (dateOfBirth !== mrz.dateOfBirth) content = { ...document, mrz: { ...mrz, dateOfBirth } };
    run.check("undeclared_groups", () => checkUndeclaredGroups(files, securityObject, run));
    const found = findDeviations(document, signer, authority, signingTime, input);
    run.check("country_agreement", () => {
      checkCountries(signer, authority, mrz, run);
      checkDocumentType(signer, mrz, run);
      if (found.length === 0) return;
      run.add({ deviations: [...new Set(found.map(({ kind }) => kind))] });
      run.judge("document_deviates");
    });
    run.check("document_expiry", () => checkExpiry(mrz, now, run));
    offerChipAuthentication(run, chipKeys);
    // A key that the state itself calls compromised proves nothing.
    const compromised = found.some(({ kind }) => kind === "active_authentication_key_compromised");
    run.offer("active_authentication", chipKeys.activeAuthenticationKey !== null && !compromised);
    offerChipMapping(run, document, input);
  });
  return { report: run.report(), content };
}

/**
 * Chip authentication keys that are all unsupported (another curve, another group, a version that needs
 * terminal authentication) are no fault of the document. The state signed DG14, so a copy cannot cause this.
 * Chip authentication counts as not offered, with a warning. The next proof is requested if there is one;
 * otherwise the chip may be a copy.
 */
function offerChipAuthentication(run: Run, { securityInfos }: ChipKeys): void {
  const { offers, problem } = chipAuthenticationOffersIn(securityInfos ?? []);
  const facts: Evidence = problem === null ? noEvidence : { error: problem.code, rule: problem.message };
  if (problem !== null && run.ruling("chip_authentication_unsupported") === "refuse")
    run.check("chip_authentication", () => {
      run.evidence(facts);
      run.fail("chip_authentication_unsupported");
    });
  run.offer("chip_authentication", offers.length > 0, facts);
  if (problem !== null && run.ruling("chip_authentication_unsupported") === "warn")
    run.warn("chip_authentication_unsupported", "chip_authentication");
}

/**
 * If the signed DG14 announces the mapping and no other proof is offered, the document must give it. A
 * missing, foreign or keyless EF.CardSecurity is refused, or a copy could simply omit it. If nothing signed
 * announces the mapping, it counts as not offered.
 */
function offerChipMapping(run: Run, { chipKeys, mrz }: DocumentContent, input: DocumentVerification): void {
  const name = "chip_authentication_mapping";
  const infos = chipKeys.securityInfos ?? [];
  if (!announcesChipMapping(infos)) run.offer(name, false);
  if (!needsCardSecurity(infos, chipKeys.activeAuthenticationKey !== null)) return;
  run.check(name, () => checkCardSecurity(infos, mrz, input, run), "pending");
}

/** Passive authentication of EF.CardSecurity, by the same rules as that of the security object. */
function checkCardSecurity(
  dg14: readonly SecurityInfo[],
  mrz: Mrz,
  input: DocumentVerification,
  run: Run,
): void {
  const file = input.files.cardSecurity ?? run.fail("card_security_missing");
  const { signedData, securityInfos } = readCardSecurity(file);
  // The content is a set, like signed attributes:
  // without attributes, those of another message could replace it.
  const tolerance = { ...input.policy.securityObject, noSignedAttributes: false };
  const inner = new Run({ ...input.policy, securityObject: tolerance });
  inner.untilFailure(() => {
    const { signer, authority } = checkAuthorship(inner, { signedData, groupHash: null }, input);
    inner.check("country_agreement", () => checkCountries(signer, authority, mrz, inner));
  });
  const { checks, warnings } = inner.report();
  const failed = checks.find(({ outcome }) => outcome === "failed");
  if (failed !== undefined) {
    run.evidence({ ...failed.evidence, card_security_check: failed.name });
    run.fail(`card_security_${failed.reason}`);
  }
  for (const { code } of warnings) run.warn(code);
  if (chipMappingOffer(dg14, securityInfos) === null) run.fail("card_security_without_key");
}

/** Who signed the security object, without its groups: the checks up to `revocation`. */
export function verifySecurityObject(
  input: Omit<DocumentVerification, "files"> & { readonly sod: Uint8Array },
): Report {
  const run = new Run(input.policy);
  run.untilFailure(() => {
    const file = run.check("structure", () => {
      const read = readSecurityObjectFile(input.sod);
      judgeContentType(read, run);
      return read;
    });
    checkAuthorship(run, signedHashes(file), input);
  });
  return run.report();
}

/** A message of the state, and the hash that it holds of the data groups. */
type SignedFile = { readonly signedData: SignedData; readonly groupHash: DigestName | null };

function signedHashes({ signedData, securityObject: { digest } }: SecurityObjectFile): SignedFile {
  return { signedData, groupHash: digest };
}

function checkAuthorship(
  run: Run,
  { signedData, groupHash }: SignedFile,
  { trust, now, checker }: Omit<DocumentVerification, "files" | "policy">,
): { readonly signer: Certificate; readonly authority: Authority; readonly signingTime: Date | null } {
  const { signer, signingTime } = run.check("sod_signature", () => {
    const read = (der: Uint8Array) => trust.readSigner(der);
    const verdict = verifySignedData(signedData, checker, run.policy.securityObject, read);
    return checkSignature(verdict, groupHash, run);
  });
  run.check("signer_certificate", () => checkSignerCertificate(signer, run));
  const authority = run.check("chain", () => checkChain(signer, trust, checker, run));
  trust.rememberSigner(signer);
  run.check("signer_validity_at_signing", () =>
    checkValidityAtSigning(signer, authority, signingTime, now, run),
  );
  run.check("revocation", () => checkRevocation(signer, authority, trust, now, run));
  return { signer, authority, signingTime };
}

/**
 * The zone has two digits of the birth year. If two centuries are possible, other signed data may settle it:
 * DG11, whose hash is already checked, or the time of the signature.
 */
function settleBirth(
  run: Run,
  { mrz: { dateOfBirth }, securityObject }: DocumentContent,
  { dataGroups }: DocumentFiles,
  signingTime: Date | null,
  now: Date,
): MrzDate {
  if (dateOfBirth.otherYears.length === 0) return dateOfBirth;
  const settled = withBirthBefore(dateOfBirth, signingTime ?? now);
  const dg11 = securityObject.hashes.has(11) ? dataGroups.get(11) : undefined;
  const fullDate = dg11 === undefined ? null : readFullDateOfBirth(dg11);
  const known = fullDate === null ? settled : withFullDateOfBirth(settled, fullDate);
  if (known.otherYears.length === 0) return known;
  // If refused, the century stays open: the document is valid, and only claims that need the century fail.
  const ruling = run.ruling("century_of_birth_unknown");
  if (ruling === "warn") run.warn("century_of_birth_unknown", "data_group_hashes");
  return ruling === "refuse" ? known : { ...known, otherYears: [] };
}

class CheckFailed extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

const noEvidence: Evidence = {};

/** The checks of a document in sequence, and the results of the one that runs. */
class Run {
  readonly #checks: Check[] = [];
  readonly #warnings: Warning[] = [];
  readonly policy: VerificationPolicy;
  #check: CheckName = "structure";
  #written = noEvidence;

  constructor(policy: VerificationPolicy) {
    this.policy = policy;
  }

  ruling(code: PolicySwitch): Ruling {
    return this.policy.rulings[code];
  }

  check<T>(name: CheckName, body: () => T, outcome: "passed" | "pending" = "passed"): T {
    this.#check = name;
    this.#written = noEvidence;
    try {
      const result = body();
      this.#checks.push({ name, outcome, reason: null, evidence: this.#written });
      return result;
    } catch (error) {
      if (!(error instanceof CheckFailed) && !isEmrtdError(error)) throw error;
      const failed = error instanceof CheckFailed ? error : new CheckFailed("unreadable");
      // The package's messages name structures and rules, never what was read.
      if (isEmrtdError(error)) this.add({ error: error.code, rule: error.message });
      this.#checks.push({ name, outcome: "failed", reason: failed.reason, evidence: this.#written });
      throw failed;
    }
  }

  /** Replaces the previous evidence: merging two objects takes longer than writing one again. */
  evidence(facts: Evidence): void {
    this.#written = facts;
  }

  add(facts: Evidence): void {
    this.#written = { ...this.#written, ...facts };
  }

  warn(code: WarningCode, check = this.#check): void {
    const known = this.#warnings.some((warning) => warning.check === check && warning.code === code);
    if (!known) this.#warnings.push({ check, code });
  }

  fail(reason: string): never {
    throw new CheckFailed(reason);
  }

  /** Accepts, warns or fails, as the operator decided. */
  judge(code: PolicySwitch): void {
    const ruling = this.ruling(code);
    if (ruling === "refuse") this.fail(code);
    if (ruling === "warn") this.warn(code);
  }

  /** Runs the checks in the body up to the first that fails. */
  untilFailure(body: () => void): void {
    try {
      body();
    } catch (error) {
      if (!(error instanceof CheckFailed)) throw error;
    }
  }

  offer(name: CheckName, offered: boolean, evidence: Evidence = noEvidence): void {
    const outcome = offered ? "pending" : "not_offered";
    this.#checks.push({ name, outcome, reason: null, evidence });
  }

  report(): Report {
    const checks = this.#checks;
    for (const name of checkNames) {
      if (checks.some((made) => made.name === name)) continue;
      checks.push({ name, outcome: "not_run", reason: null, evidence: noEvidence });
    }
    return makeReport(checks, this.#warnings);
  }
}

function ascending(numbers: Iterable<number>): readonly number[] {
  return [...numbers].sort((one, other) => one - other);
}

function checkStructure(files: DocumentFiles, now: Date, run: Run): DocumentContent {
  const groups = ascending(files.dataGroups.keys());
  run.evidence({ groups });
  for (const required of requiredGroups)
    if (!files.dataGroups.has(required)) run.fail(`dg${required}_missing`);
  const content = readDocumentContent(files, now);
  judgeContentType(content, run);
  if (!content.mrz.checkDigitsAgree) run.judge("mrz_check_digits_differ");
  run.evidence({
    groups,
    lds_version: content.securityObject.ldsVersion ?? null,
    document_format: content.mrz.format,
  });
  return content;
}

function judgeContentType({ legacyContentType }: SecurityObjectFile, run: Run): void {
  if (!legacyContentType) return;
  if (!run.policy.securityObject.legacyContentType) run.fail("legacy_content_type");
  run.warn("legacy_content_type");
}

type ValidSignature = Extract<SignedDataVerdict, { valid: true }>;

function checkSignature(verdict: SignedDataVerdict, groupHash: DigestName | null, run: Run): ValidSignature {
  if (!verdict.valid) return run.fail(verdict.fault);
  for (const warning of verdict.warnings) run.warn(warning);
  run.evidence({ algorithm: describeScheme(verdict.scheme), group_hash: groupHash });
  if (verdict.scheme.hash === "SHA-1" || groupHash === "SHA-1") run.judge("sha1");
  return verdict;
}

/**
 * Signers of master lists, deviation lists and visible seals:
 * certified by the same authorities, but not for documents.
 */
const icaoUses = "2.23.136.1.1.";

function checkSignerCertificate(signer: Certificate, run: Run): void {
  const key = signer.publicKey;
  run.evidence({
    subject: signer.subject.display,
    serial: signer.serial,
    key: describePublicKey(key),
    algorithm: describeScheme(signer.signatureScheme),
  });
  if (key.kind === "rsa" && key.bits < run.policy.minimumRsaBits) run.fail("short_rsa_key");
  if (key.kind === "rsa" && key.bits < 2048) run.warn("short_rsa_key");
  if (signer.signatureScheme.hash === "SHA-1") run.judge("sha1");
  if (signer.basicConstraints?.ca === true) run.fail("signer_is_an_authority");
  if (signer.keyUsage?.digitalSignature !== true) run.judge("signer_key_usage");
  const uses = signer.extendedKeyUsage ?? [];
  if (uses.some((use) => use.startsWith(icaoUses))) run.fail("signer_is_for_another_use");
  if (uses.length > 0) run.judge("signer_key_usage");
  if (signer.unknownCritical.length > 0) {
    run.add({ unknown_critical: signer.unknownCritical });
    run.judge("unknown_critical_extension");
  }
  judgeUnreadable(signer, run);
}

/** Hints that cannot be read are missing hints; the certificate says all the same whom its key belongs to. */
function judgeUnreadable({ unreadable }: Certificate, run: Run): void {
  if (unreadable.length === 0) return;
  run.add({ unreadable });
  run.judge("extension_unreadable");
}

function checkChain(signer: Certificate, trust: TrustStore, checker: SignatureChecker, run: Run): Authority {
  const issuer = signer.issuer.display;
  run.evidence({ issuer });
  if (trust.isEmpty) run.fail("trust_store_empty");
  const { authorities, foundBy } = trust.issuersOf(signer);
  if (authorities.length === 0) run.fail("no_authority_known");
  const found = trust.findCertifier(signer, authorities, checker, run.policy.signerCertificate);
  if (found === null) return run.fail("authority_signature_invalid");
  for (const warning of found.warnings) run.warn(warning);
  // A root and the link to it share a key; the one that was valid when the signer was certified counts.
  const authority =
    found.candidates.find(({ certificate }) => wasValidAt(certificate, signer.notBefore)) ??
    found.candidates[0];
  if (foundBy === "key_id") run.judge("issuer_name_mismatch");
  if (foundBy === "name" && signer.authorityKeyId !== null && authority.certificate.subjectKeyId !== null) {
    run.judge("issuer_key_id_mismatch");
  }
  const { certificate, fingerprint, basis, sources } = authority;
  run.evidence({
    issuer,
    authority: certificate.subject.display,
    authority_sha256: fingerprint,
    authority_key: describePublicKey(certificate.publicKey),
    trusted_because: basis,
    sources: [...new Set(sources.map(({ label }) => label))],
  });
  if (certificate.keyUsage !== null && !certificate.keyUsage.keyCertSign)
    run.fail("authority_may_not_sign_certificates");
  if (certificate.basicConstraints?.ca !== true) {
    run.judge("authority_not_marked");
  }
  judgeUnreadable(certificate, run);
  return authority;
}

function checkValidityAtSigning(
  signer: Certificate,
  { certificate: authority }: Authority,
  signingTime: Date | null,
  now: Date,
  run: Run,
): void {
  run.evidence({
    signed_at: signingTime === null ? "not stated" : signingTime.toISOString(),
    signer_valid_from: signer.notBefore.toISOString(),
    signer_valid_until: signer.notAfter.toISOString(),
    authority_valid_from: authority.notBefore.toISOString(),
    authority_valid_until: authority.notAfter.toISOString(),
  });
  if (isInFuture(signer.notBefore, now)) run.fail("signer_not_yet_valid");
  if (!wasValidAt(authority, signer.notBefore)) run.fail("authority_not_valid_when_it_signed");
  if (signer.notAfter.getTime() < now.getTime()) run.judge("signer_expired");
  if (signingTime === null) return;
  if (isInFuture(signingTime, now)) run.fail("signed_in_the_future");
  if (!wasValidAt(signer, signingTime)) run.fail("signer_not_valid_at_signing");
  if (!wasValidAt(authority, signingTime)) run.fail("authority_not_valid_at_signing");
  const period = signer.privateKeyUsagePeriod;
  const signed = signingTime.getTime();
  const beforePeriod = period?.notBefore != null && signed < period.notBefore.getTime();
  const afterPeriod = period?.notAfter != null && signed > period.notAfter.getTime();
  if (beforePeriod || afterPeriod) run.judge("signed_after_key_usage_period");
}

function checkRevocation(
  signer: Certificate,
  authority: Authority,
  trust: TrustStore,
  now: Date,
  run: Run,
): void {
  const { lists, authorityRevokedAt } = trust.revocationOf(authority, now);
  const [newest] = lists;
  const stale =
    newest !== undefined && (newest.nextUpdate === null || newest.nextUpdate.getTime() < now.getTime());
  run.evidence(
    newest === undefined
      ? { revocation_list: "missing" }
      : {
          revocation_list: stale ? "stale" : "fresh",
          revocation_list_from: newest.thisUpdate.toISOString(),
          revocation_list_until: newest.nextUpdate === null ? null : newest.nextUpdate.toISOString(),
        },
  );
  for (const list of lists) {
    const revokedAt = list.revokedAt.get(signer.serial);
    if (revokedAt === undefined) continue;
    run.add({ revoked_at: revokedAt.toISOString() });
    run.fail("signer_revoked");
  }
  if (authorityRevokedAt !== null) {
    run.add({ revoked_at: authorityRevokedAt.toISOString() });
    run.fail("authority_revoked");
  }
  if (newest === undefined)
    run.judge(trust.hasRefusedList(authority, now) ? "revocation_unchecked" : "revocation_list_missing");
  if (stale) run.judge("revocation_list_stale");
}

/** The proof that a chip is no copy needs these groups, so omitting one must not look like having none. */
const groupsWithChipKeys: readonly DataGroupNumber[] = [14, 15];

function checkHashes(
  { dataGroups }: DocumentFiles,
  { digest, hashes }: LdsSecurityObject,
  checker: SignatureChecker,
  run: Run,
): void {
  const matching: number[] = [];
  const declared = ascending(hashes.keys());
  run.evidence({ declared });
  for (const [number, expected] of hashes) {
    const file = dataGroups.get(number);
    if (file === undefined) {
      if (groupsWithChipKeys.includes(number)) run.fail(`dg${number}_declared_but_missing`);
      continue;
    }
    if (!equal(checker.hash(digest, file), expected)) run.fail(`dg${number}_hash_differs`);
    matching.push(number);
  }
  run.evidence({ declared, matching: ascending(matching) });
  for (const required of requiredGroups) if (!hashes.has(required)) run.fail(`dg${required}_not_declared`);
}

function checkUndeclaredGroups({ dataGroups }: DocumentFiles, { hashes }: LdsSecurityObject, run: Run): void {
  const undeclared: number[] = [];
  for (const number of dataGroups.keys()) if (!hashes.has(number)) undeclared.push(number);
  run.evidence({ undeclared });
  if (undeclared.length > 0) run.judge("undeclared_group");
}

/** Otherwise any state could sign the documents of any other. */
function checkCountries(
  signer: Certificate,
  { certificate: authority }: Authority,
  { issuingState }: Mrz,
  run: Run,
): void {
  const signerCountry = (signer.subject.country ?? signer.issuer.country)?.toUpperCase() ?? null;
  const authorityCountry = authority.subject.country?.toUpperCase() ?? null;
  run.evidence({ signer: signerCountry, authority: authorityCountry, issuing_state: issuingState });
  const behind = certificateCountriesOf(issuingState);
  if (authorityCountry === null && signerCountry !== null && behind.includes(signerCountry)) {
    run.judge("authority_without_country");
    return;
  }
  const agree =
    signerCountry !== null &&
    authorityCountry !== null &&
    sameCountry(signerCountry, authorityCountry) &&
    behind.includes(authorityCountry);
  if (!agree) run.judge("country_mismatch");
}

function findDeviations(
  { mrz: { documentCode, documentNumber } }: DocumentContent,
  signer: Certificate,
  { certificate }: Authority,
  signedAt: Date | null,
  { deviations = [], checker }: DocumentVerification,
): readonly DeviationDescription[] {
  const country = certificate.subject.country?.toUpperCase() ?? null;
  return deviationsOf(deviations, { country, documentCode, documentNumber, signer, signedAt }, checker);
}

/** The signer's certificate may list its document types; Doc 9303 part 12 writes them as in the zone. */
function checkDocumentType({ documentTypes }: Certificate, { documentCode }: Mrz, run: Run): void {
  if (documentTypes === null) return;
  run.add({ document_types: documentTypes });
  const listed = documentTypes.some((type) => type === documentCode || type === documentCode.slice(0, 1));
  if (!listed) run.judge("document_type_not_listed");
}

function checkExpiry({ dateOfExpiry, endless }: Mrz, now: Date, run: Run): void {
  run.evidence({ expires: !endless });
  if (endless) return;
  const validUntil = endOfValidity(dateOfExpiry) ?? run.fail("expiry_not_stated");
  const end = validUntil + run.policy.expiryGraceHours * 3_600_000;
  if (now.getTime() >= end) run.fail("expired");
}
