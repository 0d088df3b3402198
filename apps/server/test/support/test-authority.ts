import {
  contextTag,
  contextValue,
  integer,
  oid,
  printableString,
  sequence,
  setOf,
} from "@assay/emrtd/ber/write";
import { latin1 } from "@assay/emrtd/bytes";
import {
  type Issuer,
  issueCertificate,
  issueRevocationList,
  type TestExtension,
} from "@assay/emrtd/node/test-country/issue-certificate";
import { type MessageSigner, signMasterList, signMessage } from "@assay/emrtd/node/test-country/sign-message";
import { ecSigningKey } from "@assay/emrtd/node/test-country/signing-key";
import { deviationListSigningKey, deviationListType } from "@assay/emrtd/trust/deviation-list";

const scheme = { kind: "ecdsa", hash: "SHA-256" } as const;
const keyOf = (label: string) =>
  ecSigningKey("test authority", label, "secp256r1", { explicitParameters: false });
const validity = { notBefore: new Date("2020-01-01T00:00:00Z"), notAfter: new Date("2040-01-01T00:00:00Z") };
const signerSerial = Uint8Array.of(0x31);

/** One more authority of the test country, which signs lists of every kind. */
export function createTestAuthority(label: string, revocationListsAt: readonly string[] = []) {
  const name = { country: "UT", organization: "Utopia Test Authority", commonName: `CSCA ${label}` };
  const issuer: Issuer = { name, key: keyOf(label), scheme };
  const points: TestExtension = {
    type: "2.5.29.31",
    critical: false,
    value: sequence(
      ...revocationListsAt.map((address) =>
        sequence(contextTag(0, contextTag(0, contextValue(6, latin1(address))))),
      ),
    ),
  };
  const certificate = issueCertificate({
    issuer,
    subject: name,
    subjectKey: issuer.key,
    serial: Uint8Array.of(1),
    validity,
    use: "authority",
    extensions: revocationListsAt.length === 0 ? [] : [points],
  });
  const signer = (of: "master_list_signer" | "document_signer", extensions: readonly TestExtension[]) => {
    const key = keyOf(`${label} ${of}`);
    const subject = { ...name, commonName: `${label} ${of}` };
    const request = { issuer, subject, subjectKey: key, serial: signerSerial, validity, use: of, extensions };
    return { certificate: issueCertificate(request), key, scheme } satisfies MessageSigner;
  };
  const listSigner = signer("master_list_signer", []);
  const deviationSigner = signer("document_signer", [
    { type: "2.5.29.37", critical: true, value: sequence(oid(deviationListSigningKey)) },
  ]);
  return {
    certificate,
    listSigner,
    masterList: (certificates: readonly Uint8Array[], signedAt: Date) =>
      signMasterList(certificates, listSigner, { signedAt, identifySignerBy: "subject_key_id" }),
    /** `revoked` says whether the signers of its lists are on it. */
    revocationList: (thisUpdate: Date, revoked: boolean) =>
      issueRevocationList({
        issuer,
        thisUpdate,
        nextUpdate: new Date(thisUpdate.getTime() + 90 * 24 * 3600 * 1000),
        number: Math.floor(thisUpdate.getTime() / 1000),
        revoked: revoked ? [{ serial: signerSerial, at: thisUpdate }] : [],
      }),
    /** Says that DG12 of every passport of the state has a wrong hash. */
    deviationList: (signedAt: Date, type = "P") =>
      signMessage(
        deviationListType,
        sequence(
          integer(0),
          sequence(oid("2.16.840.1.101.3.4.2.1")),
          setOf(
            sequence(
              sequence(contextValue(0, latin1(`${type}<`))),
              setOf(
                sequence(
                  printableString("wrong"),
                  oid(`${deviationListType}.2.2`),
                  contextTag(0, integer(12)),
                ),
              ),
            ),
          ),
        ),
        deviationSigner,
        { signedAt, identifySignerBy: "issuer_and_serial" },
      ),
  };
}
