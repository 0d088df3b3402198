import { readFile, writeFile } from "node:fs/promises";
import type { Environment } from "@assay/contract/facts";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { readPem } from "@assay/emrtd/trust/pem";
import type { Core } from "../../platform/core.ts";
import { newUuid } from "../../platform/kernel/ids.ts";
import { reconcileRing } from "../../platform/key-ring/ring-member.ts";
import { sealingKey } from "../../platform/key-ring/ring-state.ts";
import { isKeyOf, newIdentityKey, sealKey } from "./current-identity.ts";
import {
  findCurrentIdentity,
  insertIdentity,
  listIdentities,
  retireIdentity,
  setChain,
  setRegistration,
  type WalletIdentityRow,
} from "./wallet-identity.store.ts";
import {
  ChainProblem,
  identifiersOf,
  readChain,
  readRegistration,
  registrationFits,
  type UsableChain,
} from "./wallet-identity.ts";
import { type Subject, writeCertificateRequest } from "./write-certificate.ts";

type Print = (line: string) => void;
type Around = Pick<Core, "db" | "ring" | "clock">;

/** `assay wallet identity new`: a key that is stored sealed only, and a request for its certificate. */
export async function newIdentity(
  around: Around,
  request: { environment: Environment; subject: Subject; host: string | null; out: string | null },
  print: Print,
): Promise<number> {
  const now = around.clock.now();
  const id = newUuid(now);
  const key = newIdentityKey();
  await sealAsOthersDo(around);
  const { environment, subject, host, out } = request;
  await insertIdentity(
    around.db,
    { id, environment, privateKeySealed: sealKey(around.ring, key, id) },
    null,
    now,
  );
  const pem = toPem("CERTIFICATE REQUEST", await writeCertificateRequest(subject, host, key));
  if (out === null) for (const line of pem.trimEnd().split("\n")) print(line);
  else await writeFile(out, pem);
  print(
    `Made the identity ${id}. Have ${out ?? "this request"} certified, then run \`assay wallet identity import CHAIN\`.`,
  );
  return 0;
}

/** `assay wallet identity import`: the certificates that an authority issued for the key of an identity. */
export async function importIdentity(
  around: Around,
  { file, environment }: { file: string; environment: Environment },
  print: Print,
): Promise<number> {
  const { db, clock } = around;
  const now = clock.now();
  let chain: UsableChain;
  try {
    chain = readChain(certificatesOf(new Uint8Array(await readFile(file))), now);
  } catch (error) {
    if (!(error instanceof ChainProblem) && !isEmrtdError(error)) throw error;
    print(`Not imported: ${error.message}.`);
    return 1;
  }
  const identities = (await listIdentities(db, environment)).filter(({ retiredAt }) => retiredAt === null);
  const [leaf] = chain.certificates;
  const owner = identities.find((row) => leaf !== undefined && isKeyOf(leaf, row, around.ring));
  if (owner === undefined) {
    print(
      "Not imported: no identity has the key of the first certificate. `assay wallet identity new` makes one.",
    );
    return 1;
  }
  const registration = await keptRegistration(around, environment, chain);
  const id = owner.clientId === null ? owner.id : await insertRenewed(around, owner, chain, registration);
  if (id === null || (id === owner.id && !(await setChain(db, id, chain, registration, now)))) {
    print("That certificate is imported already.");
    return 0;
  }
  if (chain.leftOutAnchor)
    print("The self-signed root was left out: wallets refuse a chain that contains it.");
  print(`Imported for the identity ${id}, valid until ${chain.notAfter.toISOString().slice(0, 10)}.`);
  print(`Its client id is ${chain.clientId}.`);
  if (registration.length > 0) print(`It takes over ${registration.length} registration certificates.`);
  return 0;
}

/** A renewed certificate gets another row, because requests signed with the older one are open. */
async function insertRenewed(
  around: Around,
  owner: WalletIdentityRow,
  chain: UsableChain,
  registration: readonly string[],
): Promise<string | null> {
  const now = around.clock.now();
  const id = newUuid(now);
  await sealAsOthersDo(around);
  const { db, ring } = around;
  const privateKey = ring.open("wallet-identity", owner.privateKeySealed, owner.id);
  const privateKeySealed = ring.seal("wallet-identity", privateKey, id);
  const identity = { id, environment: owner.environment, privateKeySealed, registration };
  return (await insertIdentity(db, identity, chain, now)) ? id : null;
}

/** A registration belongs to the owner of the certificate, so it outlives a renewal. */
async function keptRegistration(
  { db, clock }: Around,
  environment: Environment,
  { certificates: [leaf] }: UsableChain,
): Promise<readonly string[]> {
  const now = clock.now();
  const current = await findCurrentIdentity(db, environment, now);
  return (current?.registration ?? []).filter((jwt) => {
    const read = readRegistration(jwt);
    return (
      read !== null && leaf !== undefined && registrationFits(read, leaf) && !isOver(read.expiresAt, now)
    );
  });
}

/** `assay wallet identity retire`: it signs no further requests. */
export async function retireWalletIdentity({ db, clock }: Around, id: string, print: Print): Promise<number> {
  const found = (await listIdentities(db, "live"))
    .concat(await listIdentities(db, "sandbox"))
    .find((row) => row.id === id && row.retiredAt === null);
  if (found === undefined) {
    print("No identity in use has that identifier. `assay wallet identity list` shows them.");
    return 1;
  }
  await retireIdentity(db, id, clock.now());
  print(`Retired ${id}. Its key is deleted after a day, when no request that it signed is still open.`);
  if (found.environment === "live" && (await findCurrentIdentity(db, "live", clock.now())) === null)
    print("No identity is left for live sessions: wallet_pid and wallet_mdl cannot be offered.");
  return 0;
}

/** `assay wallet identity list`. */
export async function listWalletIdentities(
  { db, clock }: Around,
  print: Print,
  json: boolean,
): Promise<number> {
  const now = clock.now();
  let shown = 0;
  for (const environment of ["live", "sandbox"] as const) {
    const current = await findCurrentIdentity(db, environment, now);
    for (const row of await listIdentities(db, environment)) {
      const state = stateOf(row, now, row.id === current?.id);
      shown += 1;
      const until = row.notAfter?.toISOString() ?? null;
      const registrations = row.registration.length;
      print(
        json
          ? JSON.stringify({
              id: row.id,
              environment,
              state,
              client_id: row.clientId,
              not_after: until,
              registrations,
            })
          : `${row.id}  ${environment}  ${state}${until === null ? "" : `, valid until ${until.slice(0, 10)}`}, ${registrations} registration certificates`,
      );
    }
  }
  if (shown === 0 && !json) print("There is no identity. `assay wallet identity new` makes one.");
  return 0;
}

function stateOf(row: WalletIdentityRow, now: Date, isCurrent: boolean): string {
  if (row.retiredAt !== null) return "retired";
  if (row.notAfter === null || row.notBefore === null) return "waits for its certificate";
  if (isCurrent) return "in use";
  if (row.notAfter <= now) return "expired";
  return row.notBefore > now ? "not yet valid" : "side by side";
}

/** `assay wallet registration import`: adds it to the identity in use and drops expired ones. */
export async function importRegistration(
  { db, clock }: Around,
  { file, environment }: { file: string; environment: Environment },
  print: Print,
): Promise<number> {
  const now = clock.now();
  const jwt = (await readFile(file, "utf8")).trim();
  const read = readRegistration(jwt);
  const current = await findCurrentIdentity(db, environment, now);
  const leaf = current?.chain[0];
  const problem =
    read === null
      ? "the file is no registration certificate (a JWT of the type rc-wrp+jwt)"
      : isOver(read.expiresAt, now)
        ? `it expired at ${read.expiresAt?.toISOString()}`
        : leaf === undefined
          ? "no identity is in use. Import its certificate first"
          : null;
  if (problem !== null || read === null || current === null || leaf === undefined) {
    print(`Not imported: ${problem}.`);
    return 1;
  }
  const kept = current.registration.filter((known) => {
    const expiresAt = readRegistration(known)?.expiresAt ?? null;
    return known !== jwt && !isOver(expiresAt, now);
  });
  await setRegistration(db, current.id, [...kept, jwt]);
  print(
    `Imported for the identity ${current.id}, which now has ${kept.length + 1} registration certificates.`,
  );
  if (!registrationFits(read, leaf))
    print(
      `It is issued to ${read.subjects.join(", ") || "no subject"}, and the certificate to ${identifiersOf(leaf).join(", ") || "no identifier"}: wallets may refuse it.`,
    );
  return 0;
}

function isOver(at: Date | null, now: Date): boolean {
  return at !== null && at <= now;
}

/** New data is sealed with a key that every running process has. */
async function sealAsOthersDo({ db, ring, clock }: Around): Promise<void> {
  const key = sealingKey(await reconcileRing(db, ring, clock.now(), null));
  if (key !== null) ring.sealWith(key.id);
}

function certificatesOf(bytes: Uint8Array): readonly Uint8Array[] {
  if (bytes[0] === 0x30) return [bytes];
  return readPem(new TextDecoder("latin1").decode(bytes))
    .filter(({ label }) => label === "CERTIFICATE")
    .map((block) => block.bytes);
}

function toPem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}
