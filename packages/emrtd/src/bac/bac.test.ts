import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedRandom, scriptedTransport } from "../../test/support/scripted-transport.ts";
import { transmit } from "../apdu/transport.ts";
import { concat, fromHex, toHex } from "../bytes.ts";
import { bacKeys, performBac, sealBacMessage } from "./bac.ts";

const mrzInformation = "L898902C<369080619406236";
const challengeExchange = ["0084000008", "4608F919887022129000"] as const;
const authenticateExchange = [
  "0082000028 72C29C2371CC9BDB65B779B8E8D37B29ECC154AA56A8799FAE2F498F76ED92F2 5F1448EEA8AD90A7 28",
  "46B9342A41396CD7386BF5803104D7CEDC122B9132139BAF2EEDC94EE178534F 2F2D235D074D7449 9000",
] as const;
const terminalRandom = ["781723860C06C226", "0B795240CB7049B01C19B33E32804F0B"] as const;

test("ICAO Doc 9303-11 appendix D.2: the document basic access keys come out as printed", () => {
  const keys = bacKeys(mrzInformation);
  assert.equal(toHex(keys.encryption), "ab94fdecf2674fdfb9b391f85d7f76f2");
  assert.equal(toHex(keys.mac), "7962d9ece03d1acd4c76089dce131543");
});

test("ICAO Doc 9303-11 appendix D.3 and D.4: authentication and the protected reading of EF.COM", async () => {
  const transport = scriptedTransport([
    challengeExchange,
    authenticateExchange,
    ["0CA4020C158709016375432908C044F68E08BF8B92D635FF24F800", "990290008E08FA855A5D4C50A8ED9000"],
    ["0CB000000D9701048E08ED6705417E96BA5500", "8709019FF0EC34F9922651990290008E08AD55CC17140B2DED9000"],
    [
      "0CB000040D9701128E082EA28A70F3C7B53500",
      "871901FB9235F4E4037F2327DCC8964F1F9B8C30F42C8E2FFF224A990290008E08C8B2787EAEA07D749000",
    ],
  ]);
  const messaging = await performBac(
    (command) => transmit(transport, command),
    mrzInformation,
    scriptedRandom(...terminalRandom),
  );
  const send = async (ins: number, p1: number, p2: number, data: string, expectedBytes: number) => {
    const command = messaging.protectCommand({ cla: 0, ins, p1, p2, data: fromHex(data), expectedBytes });
    return messaging.unprotectResponse(await transmit(transport, command));
  };
  assert.deepEqual(await send(0xa4, 2, 0x0c, "011e", 0), { data: new Uint8Array(0), statusWord: 0x9000 });
  assert.equal(toHex((await send(0xb0, 0, 0, "", 4)).data), "60145f01");
  assert.equal(toHex((await send(0xb0, 0, 4, "", 18)).data), "04303130365f36063034303030305c026175");
  assert.equal(transport.remaining(), 0);
});

test("a chip that refuses the key is told apart from a chip that misbehaves", async () => {
  const open = async (answer: string) => {
    const transport = scriptedTransport([challengeExchange, [authenticateExchange[0], answer]]);
    await performBac(
      (command) => transmit(transport, command),
      mrzInformation,
      scriptedRandom(...terminalRandom),
    );
  };
  await assert.rejects(open("6300"), { code: "ACCESS_KEY_INVALID", statusWord: 0x6300 });
  await assert.rejects(open("6988"), { code: "ACCESS_KEY_INVALID" });
  await assert.rejects(open("6700"), { code: "CHIP_STATUS" });
  await assert.rejects(open("00".repeat(40).concat("9000")), { code: "BAC_FAILED" });
  await assert.rejects(open("9000"), { code: "BAC_FAILED" });
});

test("a chip that answers to another challenge is refused although its checksum is right", async () => {
  const [chipNonce, terminalNonce] = [fromHex("4608F91988702212"), fromHex(terminalRandom[0])];
  const other = new Uint8Array(8);
  const answer = async (first: Uint8Array, second: Uint8Array) => {
    const sealed = sealBacMessage(bacKeys(mrzInformation), concat(first, second, new Uint8Array(16)));
    const transport = scriptedTransport([
      challengeExchange,
      [authenticateExchange[0], `${toHex(sealed)}9000`],
    ]);
    return await performBac(
      (command) => transmit(transport, command),
      mrzInformation,
      scriptedRandom(...terminalRandom),
    );
  };
  await answer(chipNonce, terminalNonce);
  // An old answer of this chip, one with our number and a wrong one of the chip, and one with neither.
  await assert.rejects(answer(chipNonce, other), { code: "BAC_FAILED" });
  await assert.rejects(answer(other, terminalNonce), { code: "BAC_FAILED" });
  await assert.rejects(answer(other, other), { code: "BAC_FAILED" });
});
