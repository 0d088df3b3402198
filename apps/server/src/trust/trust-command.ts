import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { SignatureChecker } from "@assay/emrtd/crypto/signature";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import { auditTrust, countryOf } from "@assay/emrtd/trust/audit-trust";
import type { Authority } from "@assay/emrtd/trust/authority";
import { importTrust } from "@assay/emrtd/trust/import-trust";
import { readPem } from "@assay/emrtd/trust/pem";
import type { TrustRecord } from "@assay/emrtd/trust/trust-record";
import { type RefusedRevocationList, TrustStore } from "@assay/emrtd/trust/trust-store";
import { type Certificate, readCertificate } from "@assay/emrtd/x509/certificate";
import { loadTrustRecords, saveTrustRecord } from "./trust-folder.ts";

type Print = (line: string) => void;

export type TrustImportRequest = {
  readonly folder: string;
  readonly file: string;
  /** Certificates that may vouch for the signer of a master list, beside those that are already trusted. */
  readonly rootFiles: readonly string[];
  /** SHA-256 fingerprints of signers, or of their authorities, that the operator has checked by other means. */
  readonly pinnedSha256: readonly string[];
  readonly now: Date;
};

/** A directory's file holds document signers by the thousand, none of which belongs here. */
const maxReasonsShown = 20;

/** `assay trust import`. The exit code is 1 when nothing of the file could be used. */
export async function importTrustFile(request: TrustImportRequest, print: Print): Promise<number> {
  const { folder, file, rootFiles, pinnedSha256, now } = request;
  const wrongPin = pinnedSha256.find((pin) => !/^[0-9a-f]{64}$/i.test(pin.replaceAll(":", "")));
  if (wrongPin !== undefined) {
    print("A pin must be a SHA-256 fingerprint: 64 hexadecimal digits, with or without colons.");
    return 1;
  }
  const checker = createNodeSignatureChecker();
  const before = await loadTrustRecords(folder);
  const trusted = new TrustStore(before, checker);
  const roots = rootsOf(trusted);
  try {
    for (const rootFile of rootFiles) roots.push(...readRoots(new Uint8Array(await readFile(rootFile))));
    const bytes = new Uint8Array(await readFile(file));
    const label = basename(file);
    const options = { label, checker, roots, pinnedSha256, now, trust: trusted };
    const { records, rejected } = importTrust(bytes, options);
    for (const { item, reason } of rejected.slice(0, maxReasonsShown)) print(`Left out ${item}: ${reason}.`);
    if (rejected.length > maxReasonsShown) print(`Left out ${rejected.length - maxReasonsShown} more.`);
    for (const list of listsWithoutEffect(records, before, checker, now))
      print(`Without effect: ${describeRefused(list)}.`);
    for (const [part, record] of records.entries()) {
      await saveTrustRecord(folder, record, part);
      const { certificates, revocationLists, source } = record;
      const signedBy = source.signedBy === null ? "" : `, signed by ${source.signedBy.signer}`;
      print(
        `Imported ${certificates.length} certificates and ${revocationLists.length} revocation lists${signedBy}.`,
      );
    }
    return records.length === 0 ? 1 : 0;
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    print(`Not imported: ${error.message}.`);
    return 1;
  }
}

/** The lists of an import that count for nothing beside what is there already. They are kept: their authority may come later. */
function listsWithoutEffect(
  imported: readonly TrustRecord[],
  before: readonly TrustRecord[],
  checker: SignatureChecker,
  now: Date,
): readonly RefusedRevocationList[] {
  if (imported.every(({ revocationLists }) => revocationLists.length === 0)) return [];
  const files = new Set(imported.map(({ source }) => source.sha256));
  const others = before.filter(({ source }) => !files.has(source.sha256));
  const refused = new TrustStore([...others, ...imported], checker).refusedLists(now);
  return refused.filter(({ source }) => files.has(source.sha256));
}

function describeRefused({ issuer, thisUpdate, reason, source }: RefusedRevocationList): string {
  const of = issuer === null ? "" : ` of ${issuer}`;
  const from = thisUpdate === null ? "" : `, ${thisUpdate.toISOString().slice(0, 10)}`;
  return `the revocation list${of}${from}, from ${source.label}: ${reason}`;
}

/**
 * Who may vouch for a further master list: what the operator imported itself, and what vouched for a list before, so that a new edition
 * needs no root. An authority that is merely named in a list may not, or any state could name the authorities of all others.
 */
function rootsOf(store: TrustStore): Certificate[] {
  const anchors = new Set(
    store.authorities.flatMap(({ sources }) => sources.map(({ signedBy }) => signedBy?.anchorSha256)),
  );
  return store.authorities
    .filter(({ basis, sources, fingerprint }) => {
      const byOperator = basis === "named" && sources.some(({ signedBy }) => signedBy === null);
      return byOperator || anchors.has(fingerprint);
    })
    .map(({ certificate }) => certificate);
}

function readRoots(bytes: Uint8Array): readonly Certificate[] {
  if (bytes[0] === 0x30) return [readCertificate(bytes)];
  const text = new TextDecoder("latin1").decode(bytes);
  return readPem(text)
    .filter(({ label }) => label === "CERTIFICATE")
    .map((block) => readCertificate(block.bytes));
}

export type TrustListRequest = {
  readonly folder: string;
  /** Two letters; all countries when absent. */
  readonly country?: string;
};

/** `assay trust list`: every authority, with the reason it is trusted for. */
export async function listTrust({ folder, country }: TrustListRequest, print: Print): Promise<number> {
  const store = new TrustStore(await loadTrustRecords(folder), createNodeSignatureChecker());
  const shown = store.authorities.filter(
    (authority) => country === undefined || countryOf(authority) === country.toUpperCase(),
  );
  const sorted = [...shown].sort((a, b) => (listKey(a) < listKey(b) ? -1 : 1));
  for (const authority of sorted) {
    const { certificate, fingerprint, sources } = authority;
    const until = certificate.notAfter.toISOString().slice(0, 10);
    const from = [...new Set(sources.map(({ label }) => label))].join(", ");
    print(`${countryOf(authority)}  ${fingerprint}  until ${until}  ${certificate.subject.display}`);
    print(`    ${reasonOf(authority)}; from ${from}`);
  }
  if (shown.length === 0) print("Nothing is trusted. Import a master list with `assay trust import`.");
  return 0;
}

function listKey(authority: Authority): string {
  return `${countryOf(authority)} ${authority.certificate.notAfter.toISOString()} ${authority.fingerprint}`;
}

function reasonOf({ basis, linkedFrom, sources }: Authority): string {
  switch (basis) {
    case "named": {
      const signed = sources.find(({ signedBy }) => signedBy !== null)?.signedBy;
      return signed == null ? "imported by the operator" : `named by ${signed.signer}`;
    }
    case "linked":
      return `linked from ${linkedFrom}`;
    case "none":
      return "not trusted: its predecessor is missing";
  }
}

export type TrustAuditRequest = {
  readonly folder: string;
  readonly now: Date;
};

/** `assay trust audit`: what an operator should look at. The exit code is 1 when nothing is trusted at all. */
export async function auditTrustFolder({ folder, now }: TrustAuditRequest, print: Print): Promise<number> {
  const store = new TrustStore(await loadTrustRecords(folder), createNodeSignatureChecker());
  const audit = auditTrust(store, now);
  print(
    `${audit.authorities} authorities of ${audit.countries.length} countries, ${audit.revocationLists} revocation lists.`,
  );
  for (const { country, authorities, validNow, revocationList, revocationListFrom } of audit.countries) {
    const from = revocationListFrom === null ? "" : ` of ${revocationListFrom.toISOString().slice(0, 10)}`;
    print(
      `${country}  ${authorities} authorities, ${validNow} valid now; revocation list ${revocationList}${from}`,
    );
  }
  const section = (title: string, found: readonly Authority[]) => {
    print(`${title}: ${found.length === 0 ? "none" : found.length}`);
    for (const { certificate, fingerprint } of found)
      print(`    ${fingerprint}  ${certificate.subject.display}`);
  };
  section("Expired", audit.expired);
  section("Not yet valid", audit.notYetValid);
  section("Without parent (not trusted)", audit.withoutParent);
  print(`Revocation lists that no trusted authority signed: ${audit.revocationListsWithoutIssuer}`);
  const refused = audit.revocationListsRefused;
  print(`Revocation lists without effect: ${refused.length === 0 ? "none" : refused.length}`);
  for (const list of refused) print(`    ${describeRefused(list)}`);
  return store.isEmpty ? 1 : 0;
}
