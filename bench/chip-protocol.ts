import { median } from "@assay/face/median";
import { type CipherName, cipherSuites } from "../packages/emrtd/src/crypto/cipher-suite.ts";
import { standardizedDomain } from "../packages/emrtd/src/crypto/key-agreement.ts";
import { type PaceMapping, paceOid } from "../packages/emrtd/src/pace/pace-protocol.ts";
import { openChip } from "../packages/emrtd/src/reader/open-chip.ts";
import { SecureMessaging } from "../packages/emrtd/src/secure-messaging/secure-messaging.ts";
import { createVirtualChip } from "../packages/emrtd/src/virtual/virtual-chip.ts";

const rounds = 9;
const fileBytes = 20_000;
const mrz = { documentNumber: "L898902C3", dateOfBirth: "740812", dateOfExpiry: "300415" };

/** A file whose header says how long it is. */
function file(tag: number): Uint8Array {
  const bytes = new Uint8Array(4 + fileBytes).fill(0x5a);
  bytes.set([tag, 0x82, fileBytes >> 8, fileBytes & 0xff]);
  return bytes;
}

const files = { DG2: file(0x75) };

async function measure(work: () => Promise<void> | void): Promise<number> {
  await work();
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return median(times);
}

function line(name: string, milliseconds: number, ceiling: string): void {
  console.log(`${name.padEnd(44)} ${milliseconds.toFixed(1).padStart(8)} ms   ${ceiling}`);
}

/**
 * PACE and the protected reading of 20 kB, with both ends in this process: the terminal's share is about
 * half. The ceiling of PACE is its bare scalar multiplications, that of reading the cipher and MAC over the
 * same bytes.
 */
export async function run(): Promise<void> {
  const variants: readonly (readonly ["DH" | "ECDH", PaceMapping, CipherName, number])[] = [
    ["ECDH", "generic", "AES-128", 12],
    ["ECDH", "generic", "AES-128", 13],
    ["ECDH", "integrated", "AES-128", 13],
    ["ECDH", "chip-authentication", "AES-128", 13],
    ["ECDH", "generic", "AES-256", 17],
    ["DH", "generic", "AES-128", 0],
    ["DH", "generic", "AES-128", 2],
  ];
  console.log(`Median of ${rounds}, terminal and chip together\n`);
  for (const [agreement, mapping, cipher, parameterId] of variants) {
    const pace = [{ oid: paceOid(agreement, mapping, cipher), parameterId }];
    const took = await measure(async () => {
      await openChip(createVirtualChip({ files, mrzKey: mrz, pace }), { mrz });
    });
    // Per side: two key generations, two agreements,
    // and with generic mapping one more multiplication by the nonce.
    const domain = standardizedDomain(parameterId);
    const privateKey = (1n << BigInt(agreement === "DH" ? 159 : domain.bits - 2)) + 12_345n;
    const publicKey = domain.publicKey(privateKey);
    const multiplications = mapping === "integrated" ? 4 : 10;
    const bare = await measure(() => {
      for (let count = 0; count < multiplications; count++) domain.sharedElement(privateKey, publicKey);
    });
    line(
      `PACE ${agreement} ${mapping} ${cipher} ${domain.name}`,
      took,
      `${(took / bare).toFixed(2)} × ${multiplications} multiplications`,
    );
  }
  console.log("");
  for (const cipher of Object.keys(cipherSuites) as CipherName[]) {
    const suite = cipherSuites[cipher];
    const pace = [{ oid: paceOid("ECDH", "generic", cipher), parameterId: 12 }];
    for (const refuseExtendedLength of [false, true]) {
      const quirks = { refuseExtendedLength };
      const chip = await openChip(createVirtualChip({ files, mrzKey: mrz, pace, quirks }), { mrz });
      // The first reading finds out which length the chip takes.
      await chip.readFile("DG2");
      const took = await measure(async () => {
        await chip.readFile("DG2");
      });
      const keys = { encryption: new Uint8Array(suite.keyBytes), mac: new Uint8Array(suite.keyBytes) };
      const data = new Uint8Array(fileBytes);
      const bare = await measure(() => {
        const chipSide = new SecureMessaging(suite, keys);
        const terminal = new SecureMessaging(suite, keys);
        terminal.unprotectResponse(chipSide.protectResponse(0xb0, { data, statusWord: 0x9000 }));
      });
      line(
        `read 20 kB ${cipher} ${refuseExtendedLength ? "short" : "extended"} commands`,
        took,
        `${(took / bare).toFixed(2)} × one protected answer of 20 kB`,
      );
    }
  }
}
