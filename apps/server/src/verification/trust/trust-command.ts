import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { SignatureChecker } from "@assay/emrtd/crypto/signature";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import { auditTrust, countryOf, listsOfRevokedSigners } from "@assay/emrtd/trust/audit-trust";
import type { Authority } from "@assay/emrtd/trust/authority";
import { importTrust } from "@assay/emrtd/trust/import-trust";
import {
  type KnownDeviationList,
  type RefusedDeviationList,
  readDeviationLists,
} from "@assay/emrtd/trust/known-deviations";
import { readPem } from "@assay/emrtd/trust/pem";
import type { TrustRecord, TrustSource } from "@assay/emrtd/trust/trust-record";
import { type RefusedRevocationList, TrustStore } from "@assay/emrtd/trust/trust-store";
import { describePolicy } from "@assay/emrtd/verify/parse-policy";
import type { VerificationPolicy } from "@assay/emrtd/verify/policy";
import { type Certificate, readCertificate } from "@assay/emrtd/x509/certificate";
import type { Db } from "../../platform/db/db.ts";
import { hourMs } from "../../platform/kernel/clock.ts";
import { describeImport } from "./describe-import.ts";
import {
  changeTrust,
  findImportedFiles,
  insertImport,
  listTrustActs,
  readTrust,
  retireImports,
  type TrustAct,
} from "./trust.store.ts";
import { rootsOf } from "./trust-roots.ts";
import { keepImports, listHeldImports, listSources, makeSourcesDue } from "./trust-source.store.ts";
import { listWalletImports } from "./wallet-trust.store.ts";

type Print = (line: string) => void;

type TrustImportRequest = {
  readonly file: string;
  /** Certificates that may vouch for the signer of a master list, in addition to the trusted ones. */
  readonly rootFiles: readonly string[];
  /** SHA-256 fingerprints of signers, or of their authorities, that the operator has verified out of band. */
  readonly pinnedSha256: readonly string[];
  readonly now: Date;
};

/** A directory's file contains thousands of document signers, which are not imported. */
const maxReasonsShown = 20;

/** `assay trust import`. The exit code is 1 when nothing of the file could be used. */
export async function importTrustFile(db: Db, request: TrustImportRequest, print: Print): Promise<number> {
  const { file, rootFiles, pinnedSha256, now } = request;
  const wrongPin = pinnedSha256.find((pin) => !/^[0-9a-f]{64}$/i.test(pin.replaceAll(":", "")));
  if (wrongPin !== undefined) {
    print("A pin must be a SHA-256 fingerprint: 64 hexadecimal digits, with or without colons.");
    return 1;
  }
  const checker = createNodeSignatureChecker();
  const { records: before } = await readTrust(db);
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
    for (const what of listsWithoutEffect(records, before, checker, now)) print(`Without effect: ${what}.`);
    await changeTrust(db, now, "command", async (tx) => {
      const acts: TrustAct[] = [];
      for (const [part, record] of records.entries()) {
        if (await insertImport(tx, record, part, "command")) acts.push(describeImport(record));
      }
      return acts;
    });
    for (const record of records) print(`Imported ${describeImport(record).detail}.`);
    return records.length === 0 ? 1 : 0;
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    print(`Not imported: ${error.message}.`);
    return 1;
  }
}

/** The imported lists that have no effect yet. They are kept: their authority may be imported later. */
function listsWithoutEffect(
  imported: readonly TrustRecord[],
  before: readonly TrustRecord[],
  checker: SignatureChecker,
  now: Date,
): readonly string[] {
  const hasLists = ({ revocationLists, deviationLists = [] }: TrustRecord) =>
    revocationLists.length + deviationLists.length > 0;
  if (!imported.some(hasLists)) return [];
  const files = new Set(imported.map(({ source }) => source.sha256));
  const others = before.filter(({ source }) => !files.has(source.sha256));
  const trust = new TrustStore([...others, ...imported], checker);
  const revocation = trust.refusedLists(now).filter(({ source }) => files.has(source.sha256));
  const { refused } = readDeviationLists(imported, { checker, trust, now });
  return [...revocation.map(describeRefused), ...refused.map(describeRefusedDeviations)];
}

function describeRefusedDeviations({ reason, source }: RefusedDeviationList): string {
  return `the deviation list from ${source.label}: ${reason}`;
}

function describeDeviations({ list, source }: KnownDeviationList): string {
  const { country, signer, signedAt, deviations } = list;
  const from = signedAt === null ? "" : ` of ${signedAt.toISOString().slice(0, 10)}`;
  return `${country}  deviation list${from}: ${deviations.length} deviations, signed by ${signer}; from ${source.label}`;
}

function describeRefused({ issuer, thisUpdate, reason, source }: RefusedRevocationList): string {
  const of = issuer === null ? "" : ` of ${issuer}`;
  const from = thisUpdate === null ? "" : `, ${thisUpdate.toISOString().slice(0, 10)}`;
  return `the revocation list${of}${from}, from ${source.label}: ${reason}`;
}

function readRoots(bytes: Uint8Array): readonly Certificate[] {
  if (bytes[0] === 0x30) return [readCertificate(bytes)];
  const text = new TextDecoder("latin1").decode(bytes);
  return readPem(text)
    .filter(({ label }) => label === "CERTIFICATE")
    .map((block) => readCertificate(block.bytes));
}

type TrustListRequest = {
  /** Two letters; all countries when absent. */
  readonly country?: string;
  readonly json?: boolean;
  readonly now: Date;
};

/** `assay trust list`: every authority with the reason for its trust, and every deviation list in effect. */
export async function listTrust(
  db: Db,
  { country, json = false, now }: TrustListRequest,
  print: Print,
): Promise<number> {
  const { records } = await readTrust(db);
  const checker = createNodeSignatureChecker();
  const store = new TrustStore(records, checker);
  const shown = store.authorities.filter(
    (authority) => country === undefined || countryOf(authority) === country.toUpperCase(),
  );
  const sorted = [...shown].sort((a, b) => (listKey(a) < listKey(b) ? -1 : 1));
  for (const authority of sorted) {
    const { certificate, fingerprint, sources } = authority;
    const until = certificate.notAfter.toISOString().slice(0, 10);
    const labels = [...new Set(sources.map(({ label }) => label))];
    const from = labels.join(", ");
    if (json) {
      const subject = certificate.subject.display;
      const reason = reasonOf(authority);
      print(
        JSON.stringify({
          country: countryOf(authority),
          fingerprint,
          until,
          subject,
          reason,
          sources: labels,
        }),
      );
      continue;
    }
    print(`${countryOf(authority)}  ${fingerprint}  until ${until}  ${certificate.subject.display}`);
    print(`    ${reasonOf(authority)}; from ${from}`);
  }
  if (json) return 0;
  for (const known of readDeviationLists(records, { checker, trust: store, now }).lists) {
    if (country === undefined || known.list.country === country.toUpperCase())
      print(describeDeviations(known));
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

/** `assay trust audit`: what an operator should check. The exit code is 1 if nothing is trusted. */
export async function printTrustAudit(
  db: Db,
  policy: VerificationPolicy,
  now: Date,
  print: Print,
): Promise<number> {
  const { version, records } = await readTrust(db);
  const checker = createNodeSignatureChecker();
  const store = new TrustStore(records, checker);
  const audit = auditTrust(store, now);
  print(`Version ${version} of the trust store.`);
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
  print(`Certificates that cannot be read (without effect): ${audit.unreadable.length || "none"}`);
  for (const { fingerprint, reason, source } of audit.unreadable)
    print(`    ${fingerprint}  from ${source.label}: ${reason}`);
  print(`Revocation lists that no trusted authority signed: ${audit.revocationListsWithoutIssuer}`);
  const refused = audit.revocationListsRefused;
  print(`Revocation lists without effect: ${refused.length === 0 ? "none" : refused.length}`);
  for (const list of refused) print(`    ${describeRefused(list)}`);
  const deviations = readDeviationLists(records, { checker, trust: store, now });
  print(`Deviation lists: ${deviations.lists.length === 0 ? "none" : deviations.lists.length}`);
  for (const known of deviations.lists) print(`    ${describeDeviations(known)}`);
  for (const list of deviations.refused) print(`    Without effect: ${describeRefusedDeviations(list)}`);
  printRevokedSigners(listsOfRevokedSigners(store, checker, now), print);
  printPolicy(policy, print);
  return store.isEmpty ? 1 : 0;
}

/** Authorities of such a list stay trusted until the operator removes it. */
function printRevokedSigners(sources: readonly TrustSource[], print: Print): void {
  print(`Master lists whose signer was revoked since: ${sources.length === 0 ? "none" : sources.length}`);
  for (const { sha256, label, signedBy } of sources)
    print(
      `    ${sha256.slice(0, 16)}  ${label}, signed by ${signedBy?.signer}; \`assay trust remove\` takes it back`,
    );
}

/** Every switch with its value, marked if it differs from the default. */
function printPolicy(policy: VerificationPolicy, print: Print): void {
  print("How documents are judged (TRUST_POLICY):");
  for (const { name, ruling, byDefault, forOperators, description } of describePolicy(policy)) {
    const origin = !forOperators
      ? "cannot be set"
      : ruling === byDefault
        ? "the default"
        : `not the default, ${byDefault}`;
    print(`    ${name}=${ruling} (${origin})  ${description}`);
  }
}

/** The only imported file whose fingerprint has this prefix. Otherwise prints the reason; null. */
async function findOneFile(db: Db, sha256Prefix: string, print: Print): Promise<string | null> {
  const prefix = sha256Prefix.toLowerCase();
  const files = /^[0-9a-f]{8,64}$/.test(prefix) ? await findImportedFiles(db, prefix) : [];
  if (files.length === 1) return files[0] ?? null;
  print(
    files.length > 1
      ? `${files.length} imported files have a fingerprint with this prefix. Name more digits.`
      : "No imported file has that fingerprint. Name at least eight digits; `assay trust list --imports` shows them.",
  );
  return null;
}

/** Changes the imports of the file with this prefix, and logs each change. Null if no file matches. */
async function changeOneFile(
  db: Db,
  sha256Prefix: string,
  act: "taken_back" | "kept",
  now: Date,
  print: Print,
): Promise<{ file: string; changed: number } | null> {
  const file = await findOneFile(db, sha256Prefix, print);
  if (file === null) return null;
  const acts = await changeTrust(db, now, "command", async (tx) => {
    const labels = await (act === "kept" ? keepImports(tx, file) : retireImports(tx, file, now));
    return labels.map((label) => ({ act, subject: label, detail: `the file ${file}` }));
  });
  return { file, changed: acts.length };
}

/** `assay trust remove`: removes the import of one file. */
export async function removeTrustImport(
  db: Db,
  sha256Prefix: string,
  now: Date,
  print: Print,
): Promise<number> {
  const done = await changeOneFile(db, sha256Prefix, "taken_back", now, print);
  if (done === null) return 1;
  print(`Taken back: ${done.file}.`);
  return 0;
}

/** `assay trust keep`: keeps authorities that a later edition of a source lacks. */
export async function keepTrustImport(
  db: Db,
  sha256Prefix: string,
  now: Date,
  print: Print,
): Promise<number> {
  const done = await changeOneFile(db, sha256Prefix, "kept", now, print);
  if (done === null) return 1;
  print(done.changed === 0 ? "No authority of that file is scheduled for removal." : `Kept: ${done.file}.`);
  return done.changed === 0 ? 1 : 0;
}

/** `assay trust refresh`: the running service fetches every source. */
export async function refreshTrustNow(db: Db, now: Date, print: Print): Promise<number> {
  const count = await makeSourcesDue(db, now);
  print(
    count === 0
      ? "No source is followed. Name some in TRUST_SOURCES or WALLET_TRUST_SOURCES and start the service."
      : `${count} sources will be asked within a minute, while the service runs.`,
  );
  return count === 0 ? 1 : 0;
}

/** `assay trust status`: one screen. The exit code is 1 if nothing is trusted. */
export async function printTrustStatus(db: Db, now: Date, print: Print): Promise<number> {
  const { version, records } = await readTrust(db);
  const checker = createNodeSignatureChecker();
  const store = new TrustStore(records, checker);
  const { authorities, countries, unreadable } = auditTrust(store, now);
  const withList = (state: string) =>
    countries.filter(({ revocationList }) => revocationList === state).length;
  print(`Trusted: ${authorities} authorities of ${countries.length} countries (version ${version}).`);
  print(
    `Revocation lists: fresh for ${withList("fresh")} countries, stale for ${withList("stale")}, missing for ${withList("missing")}.`,
  );
  const { lists, refused } = readDeviationLists(records, { checker, trust: store, now });
  if (lists.length + refused.length > 0)
    print(`Deviation lists: ${lists.length}, and ${refused.length} without effect.`);
  if (unreadable.length > 0)
    print(`Certificates that cannot be read: ${unreadable.length} (\`assay trust audit\` names them).`);
  const revoked = listsOfRevokedSigners(store, checker, now);
  if (revoked.length > 0) printRevokedSigners(revoked, print);
  const sources = await listSources(db);
  print(
    sources.length === 0 ? "Sources: none is followed (TRUST_SOURCES, WALLET_TRUST_SOURCES)." : "Sources:",
  );
  for (const { address, succeededAt, editionAt, problem } of sources) {
    const edition = editionAt === null ? "nothing yet" : `edition of ${editionAt.toISOString().slice(0, 10)}`;
    print(`    ${address}`);
    print(
      `        ${edition}, last asked with success ${agoOf(succeededAt, now)}${problem === null ? "" : `; now: ${problem}`}`,
    );
  }
  const held = await listHeldImports(db);
  if (held.length > 0) print("To be removed, unless you keep it (`assay trust keep`):");
  for (const { sha256, label, retireAt } of held)
    print(`    ${sha256.slice(0, 16)}  at ${retireAt?.toISOString()}  what ${label} no longer has`);
  if (store.isEmpty) print("Nothing is trusted: no live document can be accepted.");
  return store.isEmpty ? 1 : 0;
}

function agoOf(then: Date | null, now: Date): string {
  if (then === null) return "never";
  const hours = Math.floor((now.getTime() - then.getTime()) / hourMs);
  return hours < 1
    ? "within the hour"
    : hours < 48
      ? `${hours} hours ago`
      : `${Math.floor(hours / 24)} days ago`;
}

/** `assay trust list --imports`: the imported files in effect. */
export async function listTrustImports(db: Db, print: Print, json = false): Promise<number> {
  const { records } = await readTrust(db);
  for (const record of records) {
    const { sha256, importedAt, label } = record.source;
    const { detail } = describeImport(record);
    print(
      json
        ? JSON.stringify({ sha256, imported_at: importedAt, label, detail })
        : `${sha256}  ${importedAt.slice(0, 10)}  ${label}: ${detail}`,
    );
  }
  const wallets = await listWalletImports(db);
  for (const { sha256, importedAt, label, purpose, scope, anchors } of wallets) {
    const detail = `${anchors} certificates for ${purpose}${scope === "sandbox" ? " in the sandbox" : ""}`;
    print(
      json
        ? JSON.stringify({ sha256, imported_at: importedAt, label, purpose, scope, detail })
        : `${sha256}  ${importedAt.toISOString().slice(0, 10)}  ${label}: ${detail}`,
    );
  }
  if (!json && records.length + wallets.length === 0) print("Nothing was imported.");
  return 0;
}

const actsShown = 100;

/** `assay trust log`: the changes, the newest first. */
export async function printTrustLog(db: Db, print: Print, json = false): Promise<number> {
  for (const entry of await listTrustActs(db, actsShown)) {
    const { at, version, actor, act, subject, detail } = entry;
    print(
      json
        ? JSON.stringify(entry)
        : `${at.toISOString()}  version ${version}  ${actor}  ${act}  ${subject}: ${detail}`,
    );
  }
  return 0;
}
