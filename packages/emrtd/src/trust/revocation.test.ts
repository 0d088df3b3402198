import assert from "node:assert/strict";
import { test } from "node:test";
import { inFolder, openssl, pem, skipWithoutOpenssl } from "../../test/support/openssl.ts";
import { checker, makeFiles } from "../../test/support/test-country.ts";
import {
  contextTag,
  contextValue,
  generalizedTime,
  integer,
  nullValue,
  sequence,
  tlv,
  utf8String,
} from "../ber/write.ts";
import {
  encodeName,
  type Issuer,
  issueCertificate,
  issueRevocationList,
  type RevocationRequest,
  type TestExtension,
  type TestName,
} from "../node/test-country/issue-certificate.ts";
import { signSecurityObject } from "../node/test-country/sign-message.ts";
import { ecSigningKey } from "../node/test-country/signing-key.ts";
import { defaultPolicy, strictPolicy } from "../verify/policy.ts";
import { failedCheckOf } from "../verify/report.ts";
import { verifySecurityObject } from "../verify/verify-document.ts";
import { importTrust } from "./import-trust.ts";
import type { TrustRecord } from "./trust-record.ts";
import { TrustStore } from "./trust-store.ts";

const today = new Date("2026-05-05T12:00:00Z");
const signedAt = new Date("2024-06-01T00:00:00Z");
const validity = { notBefore: new Date("2020-01-01T00:00:00Z"), notAfter: new Date("2040-01-01T00:00:00Z") };
const scheme = { kind: "ecdsa", hash: "SHA-256" } as const;

function name(commonName: string, country: string | null = "UT"): TestName {
  return { country, organization: "Utopia Test Authority", commonName };
}

function issuer(keyLabel: string, subject: TestName): Issuer {
  const key = ecSigningKey("revocation", keyLabel, "secp256r1", { explicitParameters: false });
  return { name: subject, key, scheme: scheme };
}

/** One authority before and after a change of keys, and after a change of its name as well. */
const before = issuer("first key", name("CSCA"));
const after = issuer("second key", name("CSCA"));
const renamed = issuer("third key", name("CSCA under a new name"));
/** Has the name of the authority, but is not trusted. */
const impostor = issuer("impostor", name("CSCA"));

const serials = {
  signer: Uint8Array.of(0x11),
  root: Uint8Array.of(0x21),
  successor: Uint8Array.of(0x22),
  link: Uint8Array.of(0x23),
};

function root(of: Issuer, serial = serials.root): Uint8Array {
  return link(of, of, serial);
}

function link(from: Issuer, to: Issuer, serial = serials.link): Uint8Array {
  return issueCertificate({
    issuer: from,
    subject: to.name,
    subjectKey: to.key,
    serial,
    validity: validity,
    use: "authority",
  });
}

function signerOf(authority: Issuer) {
  const key = ecSigningKey("revocation", "signer", "secp256r1", { explicitParameters: false });
  const certificate = issueCertificate({
    issuer: authority,
    subject: name("Document signer"),
    subjectKey: key,
    serial: serials.signer,
    validity: validity,
    use: "document_signer",
  });
  return { certificate, key, scheme: scheme };
}

type ListOptions = Partial<Omit<RevocationRequest, "issuer" | "thisUpdate">>;

function list(
  of: Issuer,
  day: string,
  serials: readonly Uint8Array[],
  options: ListOptions = {},
): Uint8Array {
  return issueRevocationList({
    issuer: of,
    thisUpdate: new Date(`${day}T00:00:00Z`),
    nextUpdate: new Date("2026-12-01T00:00:00Z"),
    number: 1,
    revoked: serials.map((serial) => ({ serial, at: new Date("2025-06-01T00:00:00Z") })),
    ...options,
  });
}

function clean(of: Issuer, day: string, options: ListOptions = {}): Uint8Array {
  return list(of, day, [], options);
}

function revoking(of: Issuer, day: string, options: ListOptions = {}): Uint8Array {
  return list(of, day, [serials.signer], options);
}

function record(certificates: readonly Uint8Array[], revocationLists: readonly Uint8Array[]): TrustRecord {
  const source = {
    type: "der",
    label: "test",
    sha256: "",
    importedAt: today.toISOString(),
    signedBy: null,
  } as const;
  return { source, certificates, revocationLists };
}

/** As in a signed master list: trusted without checking the issuer. */
function named(certificates: readonly Uint8Array[]): TrustRecord {
  const signedBy = {
    signer: "a list",
    signerSha256: "",
    anchorSha256: "",
    signedAt: null,
    signerCertificate: null,
  };
  const { source } = record([], []);
  return { source: { ...source, type: "master_list", signedBy }, certificates, revocationLists: [] };
}

type Verdict =
  | "good"
  | "signer_revoked"
  | "authority_revoked"
  | "revocation_list_missing"
  | "revocation_unchecked"
  | "revocation_list_stale";

const { dataGroups } = makeFiles();

function judge(
  records: readonly TrustRecord[],
  authority: Issuer = before,
  { now = today, policy = defaultPolicy } = {},
): Verdict {
  const sod = signSecurityObject({
    groupHash: "SHA-256",
    dataGroups,
    signer: signerOf(authority),
    options: { signedAt: signedAt, identifySignerBy: "issuer_and_serial" },
  });
  const report = verifySecurityObject({ sod, trust: new TrustStore(records, checker), policy, now, checker });
  const failed = failedCheckOf(report);
  if (failed !== null) assert.equal(failed.name, "revocation", failed.reason ?? "");
  const said = failed?.reason ?? report.warnings.find(({ check }) => check === "revocation")?.code ?? "good";
  return said as Verdict;
}

const extension = (type: string, critical: boolean, value: Uint8Array): TestExtension => ({
  type,
  critical,
  value,
});
const truth = Uint8Array.of(0xff);
const atAddress = contextTag(0, contextTag(0, contextValue(6, new TextEncoder().encode("http://x/"))));
const elsewhere = sequence(atAddress);
const pointNamed = (commonName: string) =>
  contextTag(0, contextTag(0, contextTag(4, encodeName(name(commonName)))));
const twoNames = contextTag(
  0,
  contextTag(
    0,
    contextTag(4, encodeName(name("CSCA"))),
    contextTag(4, encodeName(name("CSCA of somebody else"))),
  ),
);
/** A list that holds all signers and no authorities. */
const signersAlone = { extensions: [extension("2.5.29.28", true, sequence(contextValue(1, truth)))] };
const signersAloneNamed = {
  extensions: [extension("2.5.29.28", true, sequence(pointNamed("CSCA"), contextValue(1, truth)))],
};
const pointsElsewhere = sequence(elsewhere);
const certificateIssuer = sequence(contextTag(4, encodeName(name("CSCA of somebody else"))));

/** Each makes a list say less, or something else, than "all that this name has revoked". */
const notComplete: readonly { readonly what: string; readonly options: ListOptions }[] = [
  {
    what: "with a critical extension that nobody knows",
    options: { extensions: [extension("1.3.6.1.4.1.99999.1", true, nullValue())] },
  },
  {
    what: "of a distribution point, not marked as critical",
    options: { extensions: [extension("2.5.29.28", false, elsewhere)] },
  },
  {
    what: "of a distribution point",
    options: { extensions: [extension("2.5.29.28", true, elsewhere)] },
  },
  {
    what: "of authorities alone, not marked as critical",
    options: { extensions: [extension("2.5.29.28", false, sequence(contextValue(2, truth)))] },
  },
  {
    what: "of signers alone, at an address that may be one of several",
    options: { extensions: [extension("2.5.29.28", true, sequence(atAddress, contextValue(1, truth)))] },
  },
  {
    what: "of signers alone, under the name of another authority",
    options: {
      extensions: [
        extension("2.5.29.28", true, sequence(pointNamed("CSCA of somebody else"), contextValue(1, truth))),
      ],
    },
  },
  {
    what: "of signers alone, under a name besides that of its authority",
    options: {
      extensions: [extension("2.5.29.28", true, sequence(twoNames, contextValue(1, truth)))],
    },
  },
  {
    what: "of signers alone, at a point without any name",
    options: {
      extensions: [
        extension("2.5.29.28", true, sequence(contextTag(0, contextTag(0)), contextValue(1, truth))),
      ],
    },
  },
  {
    what: "of signers alone, at a point named relative to its authority",
    options: {
      extensions: [
        extension("2.5.29.28", true, sequence(contextTag(0, contextTag(1)), contextValue(1, truth))),
      ],
    },
  },
  {
    what: "of signers alone as a truth of two bytes",
    options: {
      extensions: [extension("2.5.29.28", true, sequence(contextValue(1, Uint8Array.of(0xff, 0xff))))],
    },
  },
  {
    what: "of signers alone and some reasons alone",
    options: {
      extensions: [
        extension(
          "2.5.29.28",
          true,
          sequence(contextValue(1, truth), contextValue(3, Uint8Array.of(6, 0x40))),
        ),
      ],
    },
  },
  {
    what: "of signers alone that speaks for other issuers",
    options: {
      extensions: [extension("2.5.29.28", true, sequence(contextValue(1, truth), contextValue(4, truth)))],
    },
  },
  {
    what: "that says of itself that it is not of signers alone",
    options: {
      extensions: [extension("2.5.29.28", true, sequence(contextValue(1, Uint8Array.of(0))))],
    },
  },
  {
    what: "of the authority's own name, which may be a part",
    options: { extensions: [extension("2.5.29.28", true, sequence(pointNamed("CSCA")))] },
  },
  {
    what: "of some reasons alone",
    options: {
      extensions: [extension("2.5.29.28", true, sequence(contextValue(3, Uint8Array.of(6, 0x40))))],
    },
  },
  {
    what: "of attribute certificates alone",
    options: { extensions: [extension("2.5.29.28", true, sequence(contextValue(5, truth)))] },
  },
  {
    what: "of changes since another list (a delta), not marked as critical",
    options: { extensions: [extension("2.5.29.27", false, integer(1))] },
  },
  {
    what: "that speaks for other issuers",
    options: { extensions: [extension("2.5.29.28", true, sequence(contextValue(4, truth)))] },
  },
  {
    what: "with an entry of another issuer",
    options: {
      revoked: [
        {
          serial: Uint8Array.of(0x77),
          at: signedAt,
          extensions: [extension("2.5.29.29", true, certificateIssuer)],
        },
      ],
    },
  },
  {
    what: "with an entry of another issuer, not marked as critical",
    options: {
      revoked: [
        {
          serial: Uint8Array.of(0x77),
          at: signedAt,
          extensions: [extension("2.5.29.29", false, certificateIssuer)],
        },
      ],
    },
  },
  {
    what: "with an entry that nobody understands",
    options: {
      revoked: [
        {
          serial: Uint8Array.of(0x77),
          at: signedAt,
          extensions: [extension("1.3.6.1.4.1.99999.1", true, utf8String("?"))],
        },
      ],
    },
  },
  {
    what: "of changes since another list (a delta)",
    options: { extensions: [extension("2.5.29.27", true, integer(1))] },
  },
];

type Case = {
  readonly says: string;
  readonly trusted: readonly Uint8Array[];
  readonly lists: readonly Uint8Array[];
  readonly signedBy?: Issuer;
  readonly expected: Verdict;
  /** Whether OpenSSL supports the case: it cannot treat two roots as one authority, or a name as changed. */
  readonly openssl: boolean;
};

const spelledOtherwise: Issuer = { ...before, name: { ...before.name, commonName: " csca", country: "ut" } };
const foreign = issuer("foreign", name("CSCA of another state", "XX"));
const foreignAsOurs = issuer("foreign second", name("CSCA"));
const ourKeyAsForeign: Issuer = { ...before, name: name("CSCA lent", "XX") };
const foreignBesideOurs = issuer("foreign third", ourKeyAsForeign.name);
const nameless = issuer("nameless", name("CSCA", null));
const namelessAfter = issuer("nameless second", name("CSCA", null));
const sameKeyRenamed: Issuer = { ...before, name: renamed.name };
const sameKeyInSmallLetters: Issuer = { ...before, name: { ...renamed.name, country: "ut" } };

const cases: readonly Case[] = [
  {
    says: "a list of the only key revokes",
    trusted: [root(before)],
    lists: [revoking(before, "2026-01-01")],
    expected: "signer_revoked",
    openssl: true,
  },
  {
    says: "a clean list is good",
    trusted: [root(before)],
    lists: [clean(before, "2026-01-01")],
    expected: "good",
    openssl: true,
  },
  {
    says: "a list of signers alone revokes",
    trusted: [root(before)],
    lists: [revoking(before, "2026-01-01", signersAlone)],
    expected: "signer_revoked",
    openssl: true,
  },
  {
    says: "a clean list of signers alone is good",
    trusted: [root(before)],
    lists: [clean(before, "2026-01-01", signersAlone)],
    expected: "good",
    openssl: true,
  },
  {
    says: "a list of signers alone that its maker did not mark as critical revokes",
    trusted: [root(before)],
    lists: [
      revoking(before, "2026-01-01", {
        extensions: [extension("2.5.29.28", false, sequence(contextValue(1, truth)))],
      }),
    ],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "a newer list of signers alone, which says nothing about authorities, does not bring a revoked one back",
    trusted: [root(before)],
    lists: [list(before, "2026-01-01", [serials.root]), clean(before, "2026-02-01", signersAlone)],
    expected: "authority_revoked",
    openssl: false,
  },
  {
    says: "the newest list of signers counts, whether it holds authorities besides or not",
    trusted: [root(before)],
    lists: [clean(before, "2026-01-01"), revoking(before, "2026-02-01", signersAlone)],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "a list of signers alone that names its authority revokes",
    trusted: [root(before)],
    lists: [revoking(before, "2026-01-01", signersAloneNamed)],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "no list is reported",
    trusted: [root(before)],
    lists: [],
    expected: "revocation_list_missing",
    openssl: true,
  },
  {
    says: "a list past the time of its successor is reported",
    trusted: [root(before)],
    lists: [clean(before, "2026-01-01", { nextUpdate: new Date("2026-05-01T00:00:00Z") })],
    expected: "revocation_list_stale",
    openssl: true,
  },
  {
    says: "after a change of keys with a link certificate, a list of the new key revokes a signer of the old one",
    trusted: [root(before), link(before, after)],
    lists: [revoking(after, "2026-01-01")],
    expected: "signer_revoked",
    openssl: true,
  },
  {
    says: "after a change of keys with a link certificate, a clean list of the new key is good for the old one",
    trusted: [root(before), link(before, after)],
    lists: [clean(after, "2026-01-01")],
    expected: "good",
    openssl: true,
  },
  {
    says: "after a change of keys with a link certificate and a new root, a list of the new key revokes",
    trusted: [root(after, serials.successor), link(before, after), root(before)],
    lists: [revoking(after, "2026-01-01")],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "after a change of keys without a link certificate, a list of the new key revokes a signer of the old one",
    trusted: [root(before), root(after, serials.successor)],
    lists: [revoking(after, "2026-01-01")],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "a list of the old key reaches a signer of the new one",
    trusted: [root(before), root(after, serials.successor)],
    lists: [revoking(before, "2026-01-01")],
    signedBy: after,
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "an old clean list of the old key does not hide the new list of the new one",
    trusted: [root(before), root(after, serials.successor)],
    lists: [clean(before, "2025-01-01"), revoking(after, "2026-01-01")],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "an old clean list of the old key does not hide the new list of the linked one",
    trusted: [root(before), link(before, after)],
    lists: [clean(before, "2025-01-01"), revoking(after, "2026-01-01")],
    expected: "signer_revoked",
    // OpenSSL prefers the list that the issuing key itself signed, however old it is.
    openssl: false,
  },
  {
    says: "the newest list counts where it takes a revocation back",
    trusted: [root(before), root(after, serials.successor)],
    lists: [revoking(before, "2025-01-01"), clean(after, "2026-01-01")],
    expected: "good",
    openssl: false,
  },
  {
    says: "of two lists of one moment the higher number counts",
    trusted: [root(before)],
    lists: [
      clean(before, "2026-01-01", { number: 0xff }),
      revoking(before, "2026-01-01", { number: 0x0100 }),
    ],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "of two lists that nothing tells apart neither hides what the other says",
    trusted: [root(before), root(after, serials.successor)],
    lists: [clean(before, "2026-01-01"), revoking(after, "2026-01-01")],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "a list of the future does not hide a revocation",
    trusted: [root(before)],
    lists: [revoking(before, "2026-01-01"), clean(before, "2026-05-08")],
    expected: "signer_revoked",
    openssl: true,
  },
  {
    says: "a list of the future alone counts for nothing",
    trusted: [root(before)],
    lists: [clean(before, "2026-05-08")],
    expected: "revocation_unchecked",
    openssl: true,
  },
  {
    says: "a list of the next midnight counts, as states write local time",
    trusted: [root(before)],
    lists: [clean(before, "2026-01-01"), revoking(before, "2026-05-06")],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "a list is of the name it gives, however that is written",
    trusted: [root(before)],
    lists: [revoking(spelledOtherwise, "2026-01-01")],
    expected: "signer_revoked",
    openssl: true,
  },
  {
    says: "a list that an untrusted key of the same name signed counts for nothing",
    trusted: [root(before)],
    lists: [revoking(before, "2026-01-01"), clean(impostor, "2026-02-01")],
    expected: "signer_revoked",
    openssl: true,
  },
  {
    says: "a list that only an untrusted key signed is no list",
    trusted: [root(before)],
    lists: [clean(impostor, "2026-02-01")],
    expected: "revocation_unchecked",
    openssl: true,
  },
  {
    says: "a list under a name that the key does not have counts for nothing",
    trusted: [root(before)],
    lists: [clean({ ...before, name: name("Nobody") }, "2026-02-01")],
    expected: "revocation_list_missing",
    openssl: true,
  },
  {
    says: "after a change of names with a link certificate, a list under the new name revokes a signer of the old one",
    trusted: [root(before), link(before, renamed)],
    lists: [revoking(renamed, "2026-01-01")],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "a change of names is followed through several links",
    trusted: [root(before), link(before, after), link(after, renamed, Uint8Array.of(0x24))],
    lists: [revoking(renamed, "2026-01-01")],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "an old clean list under the old name does not hide the list under the new one",
    trusted: [root(before), link(before, renamed)],
    lists: [clean(before, "2025-01-01"), revoking(renamed, "2026-01-01")],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "a newer list under the new name does not take back what the list under the old one says",
    trusted: [root(before), link(before, renamed)],
    lists: [revoking(before, "2025-01-01"), clean(renamed, "2026-01-01")],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "after a change of names, a list under the new name is enough for the old one",
    trusted: [root(before), link(before, renamed)],
    lists: [
      clean(before, "2025-01-01", { nextUpdate: new Date("2025-05-01T00:00:00Z") }),
      clean(renamed, "2026-01-01"),
    ],
    expected: "good",
    openssl: false,
  },
  {
    says: "a list under the old name says nothing of signers under the new one",
    trusted: [root(before), link(before, renamed)],
    lists: [revoking(before, "2026-01-01")],
    signedBy: renamed,
    expected: "revocation_list_missing",
    openssl: false,
  },
  {
    says: "two names of one state are two authorities as long as no link certificate says otherwise",
    trusted: [root(before), root(renamed)],
    lists: [clean(renamed, "2026-01-01")],
    expected: "revocation_list_missing",
    openssl: false,
  },
  {
    says: "one key under two names of one state is one authority",
    trusted: [root(before), root(sameKeyRenamed)],
    lists: [revoking(sameKeyRenamed, "2026-01-01")],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "a state is the same one in capital and in small letters",
    trusted: [root(before), root(sameKeyInSmallLetters)],
    lists: [revoking(sameKeyInSmallLetters, "2026-01-01")],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "two states with one name do not vouch for each other's lists",
    trusted: [root(nameless), root(namelessAfter)],
    lists: [revoking(nameless, "2026-01-01"), clean(namelessAfter, "2026-02-01")],
    signedBy: nameless,
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "of two states with one name, the one without a list has none",
    trusted: [root(nameless), root(namelessAfter)],
    lists: [clean(namelessAfter, "2026-02-01")],
    signedBy: nameless,
    expected: "revocation_list_missing",
    openssl: false,
  },
  {
    says: "an authority whose name has no country is followed through its link certificate",
    trusted: [root(nameless), link(nameless, namelessAfter), root(namelessAfter, serials.successor)],
    lists: [clean(nameless, "2025-01-01"), revoking(namelessAfter, "2026-01-01")],
    signedBy: nameless,
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "a state cannot put its own key under the name of another and speak for it",
    trusted: [root(before), root(foreign), link(foreign, foreignAsOurs)],
    lists: [revoking(before, "2026-01-01"), clean(foreignAsOurs, "2026-02-01")],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "a state with lists of its own cannot put its key under the name of another and speak for it either",
    trusted: [root(before), root(foreign), link(foreign, foreignAsOurs)],
    lists: [revoking(before, "2026-01-01"), clean(foreign, "2026-01-01"), clean(foreignAsOurs, "2026-02-01")],
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "a state cannot link to the key of another and speak for it",
    trusted: [
      root(before),
      root(foreign),
      link(foreign, ourKeyAsForeign),
      link(foreign, foreignBesideOurs, serials.successor),
    ],
    lists: [clean(before, "2026-01-01"), revoking(foreignBesideOurs, "2026-02-01")],
    expected: "good",
    openssl: false,
  },
  {
    says: "an authority that its own list revokes fails its documents",
    trusted: [root(before)],
    lists: [list(before, "2026-01-01", [serials.root])],
    expected: "authority_revoked",
    openssl: false,
  },
  {
    says: "an authority that the list of its next key revokes fails its documents",
    trusted: [root(before), root(after, serials.successor)],
    lists: [list(after, "2026-01-01", [serials.root])],
    expected: "authority_revoked",
    openssl: false,
  },
  {
    says: "the successor of a revoked authority stays good",
    trusted: [root(before), root(after, serials.successor)],
    lists: [list(after, "2026-01-01", [serials.root])],
    signedBy: after,
    expected: "good",
    openssl: false,
  },
  {
    says: "a revoked authority does not come back with a list of its own",
    trusted: [root(before), root(after, serials.successor)],
    lists: [list(after, "2026-01-01", [serials.root]), clean(before, "2026-02-01")],
    expected: "authority_revoked",
    openssl: false,
  },
  {
    says: "the key of a revoked authority does not hide the revocations of the next",
    trusted: [root(before), root(after, serials.successor)],
    lists: [list(after, "2026-01-01", [serials.root, serials.signer]), clean(before, "2026-02-01")],
    signedBy: after,
    expected: "signer_revoked",
    openssl: false,
  },
  {
    says: "a revoked authority cannot save itself with an early list against the key that revokes it",
    trusted: [root(before), root(after, serials.successor)],
    lists: [list(before, "2025-12-01", [serials.successor]), list(after, "2026-01-01", [serials.root])],
    expected: "authority_revoked",
    openssl: false,
  },
  {
    says: "a revoked link certificate fails the documents of the key it leads to",
    trusted: [root(before), link(before, renamed)],
    lists: [list(before, "2026-01-01", [serials.link]), clean(renamed, "2026-01-01")],
    signedBy: renamed,
    expected: "authority_revoked",
    openssl: false,
  },
  {
    says: "a list that says where its changes are published (freshest CRL) is complete without them",
    trusted: [root(before)],
    lists: [revoking(before, "2026-01-01", { extensions: [extension("2.5.29.46", false, pointsElsewhere)] })],
    expected: "signer_revoked",
    openssl: true,
  },
  {
    says: "a clean list that says where its changes are published is good",
    trusted: [root(before)],
    lists: [clean(before, "2026-01-01", { extensions: [extension("2.5.29.46", false, pointsElsewhere)] })],
    expected: "good",
    openssl: true,
  },
  {
    says: "a newer clean list of the linked key takes back what an older one of it says",
    trusted: [root(before), link(before, after)],
    lists: [revoking(after, "2025-01-01"), clean(after, "2026-01-01")],
    expected: "good",
    openssl: true,
  },
  {
    says: "a newer list of the linked key revokes although an older one of it is clean",
    trusted: [root(before), link(before, after)],
    lists: [clean(after, "2025-01-01"), revoking(after, "2026-01-01")],
    expected: "signer_revoked",
    openssl: true,
  },
  {
    says: "a stale list still revokes",
    trusted: [root(before)],
    lists: [revoking(before, "2026-01-01", { nextUpdate: new Date("2026-05-01T00:00:00Z") })],
    expected: "signer_revoked",
    // OpenSSL stops at the age of the list and does not look into it.
    openssl: false,
  },
  ...notComplete.flatMap(({ what, options }): readonly Case[] => [
    {
      says: `a list ${what} does not hide a revocation`,
      trusted: [root(before)],
      lists: [revoking(before, "2026-01-01"), clean(before, "2026-02-01", options)],
      expected: "signer_revoked",
      openssl: false,
    },
    {
      says: `a list ${what} is no list`,
      trusted: [root(before)],
      lists: [clean(before, "2026-02-01", options)],
      expected: "revocation_unchecked",
      // OpenSSL supports lists of distribution points,
      // of several issuers and of signers alone, which no state needs.
      openssl: !/distribution point|other issuers|another issuer|signers alone/.test(what),
    },
  ]),
];

for (const { says, trusted, lists, signedBy, expected } of cases) {
  test(`${says}, in whatever order it was imported`, () => {
    for (const certificates of [trusted, trusted.toReversed()]) {
      for (const order of [lists, lists.toReversed()]) {
        assert.equal(judge([record(certificates, order)], signedBy), expected);
        assert.equal(judge([record([], order), record(certificates, [])], signedBy), expected);
      }
    }
  });
}

test("the list of the future hides nothing under the strict policy either, and counts when its day has come", () => {
  const store = [record([root(before)], [revoking(before, "2026-01-01"), clean(before, "2026-05-08")])];
  assert.equal(judge(store, before, { policy: strictPolicy }), "signer_revoked");
  assert.equal(judge(store, before, { now: new Date("2026-05-09T00:00:00Z") }), "good");
});

test("no link certificate leads from one state to the lists of another", () => {
  const lists = record([], [clean(before, "2026-01-01"), revoking(foreign, "2026-02-01")]);
  const certificates = [root(before), root(foreign), link(before, foreign)];
  assert.equal(judge([named(certificates), lists]), "good");
  assert.equal(judge([record(certificates, []), lists]), "good");
});

test("a link certificate that a master list names counts as one only when the old key signed it", () => {
  const lists = record([], [revoking(renamed, "2026-01-01")]);
  const roots = [root(before), root(renamed, serials.successor)];
  assert.equal(judge([named([...roots, link(before, renamed)]), lists]), "signer_revoked");
  const unsigned = link({ ...impostor, name: before.name }, renamed);
  assert.equal(judge([named([...roots, unsigned]), lists]), "revocation_list_missing");
});

for (const { what, options } of notComplete) {
  test(`a list ${what} is left out of an import, by the name of what makes it so`, () => {
    const bytes = clean(before, "2026-02-01", options);
    const { records, rejected } = importTrust(bytes, {
      label: "test",
      checker,
      roots: [],
      pinnedSha256: [],
      now: today,
    });
    assert.deepEqual(records, []);
    const [{ type } = { type: "" }] = options.extensions ?? options.revoked?.[0]?.extensions ?? [];
    assert.match(rejected[0]?.reason ?? "", new RegExp(`A revocation list with the extension ${type} `));
  });
}

test("reasons and dates of entries do not keep a list from being used", () => {
  const extensions = [
    extension("2.5.29.21", false, tlv(0x0a, Uint8Array.of(1))),
    extension("2.5.29.24", true, generalizedTime(signedAt)),
  ];
  const revoked = [{ serial: serials.signer, at: signedAt, extensions }];
  const lists = [clean(before, "2026-01-01", { revoked })];
  assert.equal(judge([record([root(before)], lists)]), "signer_revoked");
});

/** OpenSSL's verdict on the signer: revoked, not revoked, or unknown. */
function opensslVerdict({ trusted, lists, signedBy = before }: Case): "good" | "revoked" | "unknown" {
  let verdict: "good" | "revoked" | "unknown" = "unknown";
  inFolder((write) => {
    const [anchor, ...links] = trusted;
    assert.ok(anchor);
    const certificates = (all: readonly Uint8Array[]) => all.map((der) => pem("CERTIFICATE", der)).join("");
    const { status, stdout, stderr } = openssl(
      "verify",
      "-crl_check",
      "-extended_crl",
      ...["-attime", String(today.getTime() / 1000)],
      ...["-CAfile", write("root.pem", certificates([anchor]))],
      ...(links.length === 0 ? [] : ["-untrusted", write("links.pem", certificates(links))]),
      ...(lists.length === 0
        ? []
        : ["-CRLfile", write("lists.pem", lists.map((der) => pem("X509 CRL", der)).join(""))]),
      write("signer.pem", certificates([signerOf(signedBy).certificate])),
    );
    const said = stdout + stderr;
    if (status === 0) verdict = "good";
    else if (said.includes("certificate revoked")) verdict = "revoked";
    else assert.match(said, /error \d+ at/);
  });
  return verdict;
}

const asOpensslSays: Readonly<Record<Verdict, "good" | "revoked" | "unknown">> = {
  good: "good",
  signer_revoked: "revoked",
  authority_revoked: "revoked",
  revocation_list_missing: "unknown",
  revocation_unchecked: "unknown",
  revocation_list_stale: "unknown",
};

test("openssl says the same wherever it can be asked", { skip: skipWithoutOpenssl }, () => {
  const asked = cases.filter((candidate) => candidate.openssl);
  assert.deepEqual(
    asked.map((candidate) => [candidate.says, opensslVerdict(candidate)]),
    asked.map(({ says, expected }) => [says, asOpensslSays[expected]]),
  );
});
