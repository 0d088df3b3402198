import assert from "node:assert/strict";
import { test } from "node:test";
import {
  privateKeyAsRandom,
  scriptedRandom,
  scriptedTransport,
} from "../../test/support/scripted-transport.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { decodeCommand } from "../apdu/command.ts";
import { type ChipTransport, transmit } from "../apdu/transport.ts";
import { tlv } from "../ber/write.ts";
import { concat, fromHex, toHex } from "../bytes.ts";
import { cipherSuites } from "../crypto/cipher-suite.ts";
import { standardizedDomain } from "../crypto/key-agreement.ts";
import { type PaceInput, performPace } from "./pace.ts";
import { checkChipAuthenticationMapping, integratedPseudoRandom, passwordKey } from "./pace-crypto.ts";
import { paceProtocol } from "./pace-protocol.ts";

const exampleMrz = "T22000129364081251010318";
const camMrz = "C11T002JM496081222310314";

async function run(
  script: readonly (readonly [string, string])[],
  input: Omit<PaceInput, "random">,
  random: readonly string[],
) {
  const transport = scriptedTransport(script);
  const result = await performPace((command) => transmit(transport, command), {
    ...input,
    random: scriptedRandom(...random),
  });
  assert.equal(transport.remaining(), 0);
  return result;
}

const ecdhGmScript: [string, string][] = [
  ["0022C1A412800A04007F0007020204020283010184010D", "9000"],
  ["10860000027C0000", "7C12801095A3A016522EE98D01E76CB6B98B42C39000"],
  [
    `10860000457C438141047ACF3EFC982EC45565A4B155129EFBC74650DCBFA6362D896FC70262E0C2CC5E
     544552DCB6725218799115B55C9BAA6D9F6BC3A9618E70C25AF71777A9C4922D00`,
    `7C43824104824FBA91C9CBE26BEF53A0EBE7342A3BF178CEA9F45DE0B70AA601651FBA3F57
     30D8C879AAA9C9F73991E61B58F4D52EB87A0A0C709A49DC63719363CCD13C549000`,
  ],
  [
    `10860000457C438341042DB7A64C0355044EC9DF190514C625CBA2CEA48754887122F3A5EF0D5EDD301C
     3556F3B3B186DF10B857B58F6A7EB80F20BA5DC7BE1D43D9BF850149FBB3646200`,
    `7C438441049E880F842905B8B3181F7AF7CAA9F0EFB743847F44A306D2D28C1D9EC65DF6DB
     7764B22277A2EDDC3C265A9F018F9CB852E111B768B326904B59A0193776F0949000`,
  ],
  ["008600000C7C0A8508C2B0BD78D94BA86600", "7C0A86083ABB9674BCE93C089000"],
];
const ecdhGmKeys = [
  privateKeyAsRandom("7F4EF07B9EA82FD78AD689B38D0BC78CF21F249D953BC46F4C6E19259C010F99"),
  privateKeyAsRandom("A73FB703AC1436A18E0CFA5ABB3F7BEC7A070E7A6788486BEE230C4A22762595"),
];
const ecdhGm: Omit<PaceInput, "random"> = {
  protocol: paceProtocol("0.4.0.127.0.7.2.2.4.2.2"),
  domain: standardizedDomain(13),
  parameterId: 13,
  password: { kind: "mrz", mrzInformation: exampleMrz },
};

test("ICAO Doc 9303-11 appendix G.1: PACE with ECDH and generic mapping", async () => {
  const key = passwordKey(cipherSuites["AES-128"], { kind: "mrz", mrzInformation: exampleMrz });
  assert.equal(toHex(key), "89ded1b26624ec1e634c1989302849dd");
  const result = await run(ecdhGmScript, ecdhGm, ecdhGmKeys);
  assert.equal(result.chipAuthentication, null);
  assert.equal(result.messaging.suite.name, "AES-128");
});

test("ICAO Doc 9303-11 appendix G.2: PACE with DH and generic mapping", async () => {
  await run(
    [
      ["0022C1A40F800A04007F00070202040102830101", "9000"],
      ["10860000027C0000", "7C128010854D8DF5827FA6852D1A4FA701CDDDCA9000"],
      [
        `10860000867C8183818180 23FB3749EA030D2A25B278D2A562047ADE3F01B74F17A15402CB7352CA7D2B3E
         B71C343DB13D1DEBCE9A3666DBCFC920B49174A602CB47965CAA73DC702489A44D41DB914DE9613DC5E98C94160551C0
         DF86274B9359BC0490D01B03AD54022DCB4F57FAD6322497D7A1E28D46710F461AFE710FBBBC5F8BA166F4311975EC6C00`,
        `7C8183828180 78879F57225AA8080D52ED0FC890A4B25336F699AA89A2D3A189654AF70729E6
         23EA5738B26381E4DA19E004706FACE7B235C2DBF2F38748312F3C98C2DD4882A41947B324AA1259AC22579DB93F7085
         655AF30889DBB845D9E6783FE42C9F2449400306254C8AE8EE9DD812A804C0B66E8CAFC14F84D8258950A91B44126EE69000`,
      ],
      [
        `10860000867C8183838180 907D89E2D425A178AA81AF4A7774EC8E388C115CAE67031E85EECE520BD91155
         1B9AE4D04369F29A02626C86FBC6747CC7BC352645B6161A2A42D44EDA80A08FA8D61B76D3A154AD8A5A51786B0BC071
         47057871A922212C5F67F43173172236B7747D1671E6D692A3C7D40A0C3C5CE397545D015C175EB5130551EDBC2EE5D400`,
        `7C8183848180 075693D9AE941877573E634B6E644F8E60AF17A0076B8B123D9201074D36152B
         D8B3A213F53820C42ADC79AB5D0AEEC3AEFB91394DA476BD97B9B14D0A65C1FC71A0E019CB08AF55E1F729005FBA7E3F
         A5DC41899238A250767A6D46DB974064386CD456743585F8E5D90CC8B4004B1F6D866C79CE0584E49687FF61BC29AEA19000`,
      ],
      ["008600000C7C0A8508B46DD9BD4D98381F00", "7C0A8608917F37B5C0E6D8D19000"],
    ],
    {
      protocol: paceProtocol("0.4.0.127.0.7.2.2.4.1.2"),
      domain: standardizedDomain(0),
      parameterId: null,
      password: { kind: "mrz", mrzInformation: exampleMrz },
    },
    [
      privateKeyAsRandom("5265030F751F4AD18B08AC565FC7AC952E41618D"),
      privateKeyAsRandom("89CCD99B0E8D3B1F11E1296DCA68EC53411CF2CA"),
    ],
  );
});

// Appendix H starts from the key K_pi and does not print the zone that it is made from.
const appendixHKey = fromHex("591468CDA83D65219CCCB8560233600F");

test("ICAO Doc 9303-11 appendix H.1: the pseudo-random number and the mapped generator", () => {
  const pseudoRandom = integratedPseudoRandom(
    cipherSuites["AES-128"],
    fromHex("2923BE84E16CD6AE529049F1F1BBE9EB"),
    fromHex("5DD4CBFC96F5453B130D890A1CDBAE32"),
    256,
  );
  assert.equal(
    toHex(pseudoRandom),
    "e4447e2dfb3586bac05ddb00156b57fbb2179a3949294c97254189800c517baa8da0ff397ed8c445d3e421e4feb57322",
  );
  const generator = standardizedDomain(13).mapIntegrated(pseudoRandom);
  assert.equal(
    toHex(generator.subarray(1, 33)),
    "8e82d31559ed0fde92a4d0498add3c23baba94fb77691e31e90aea77fb17d427",
  );
});

test("ICAO Doc 9303-11 appendix H.1: PACE with ECDH and integrated mapping", async () => {
  await run(
    [
      ["0022C1A40F800A04007F00070202040402830101", "9000"],
      ["10860000027C0000", "7C128010143DC40C08C8E891FBED7DEDB92B64AD9000"],
      ["10860000147C1281105DD4CBFC96F5453B130D890A1CDBAE3200", "7C0282009000"],
      [
        `10860000457C4383410489CBA23FFE96AA18D824627C3E934E54A9FD0B87A95D1471DC1C0ABFDCD640D4
         6755DE9B7B778280B6BEBD57439ADFEB0E21FD4ED6DF42578C13418A59B34C3700`,
        `7C4384410467F78E5F7F7686082B293E8D087E056916D0F74BC01A5F8957D0DE45691E51E8
         932B69A962B52A0985AD2C0A271EE6A13A8ADDDCD1A3A994B9DED257F4D227539000`,
      ],
      ["008600000C7C0A8508450F02B86F6A090900", "7C0A860875D4D96E8D5B03089000"],
    ],
    {
      protocol: paceProtocol("0.4.0.127.0.7.2.2.4.4.2"),
      domain: standardizedDomain(13),
      parameterId: null,
      password: { kind: "mrz", mrzInformation: exampleMrz },
      passwordKey: appendixHKey,
    },
    [
      "5DD4CBFC96F5453B130D890A1CDBAE32",
      privateKeyAsRandom("A73FB703AC1436A18E0CFA5ABB3F7BEC7A070E7A6788486BEE230C4A22762595"),
    ],
  );
});

test("ICAO Doc 9303-11 appendix H.2: PACE with DH and integrated mapping", async () => {
  // The example's private key is longer than the order of the group, so it goes in reduced.
  const order = BigInt("0xF518AA8781A8DF278ABA4E7D64B7CB9D49462353");
  const privateKey =
    BigInt(
      "0x4BD0E54740F9A028E6A515BFDAF967848C4F5F5FFF65AA0915947FFD1A0DF2FA" +
        "6981271BC905F3551457B7E03AC3B8066DE4AA406C1171FB43DD939C4BA16175" +
        "103BA3DEE16419AA248118F90CC36A3D6F4C373652E0C3CCE7F0F1D0C5425B36" +
        "00F0F0D6A67F004C8BBA33F2B4733C7252445C1DFC4F1107203F71D2EFB28161",
    ) % order;
  await run(
    [
      ["0022C1A40F800A04007F00070202040302830101", "9000"],
      ["10860000027C0000", "7C1280109ABB8864CA0FF1551E620D1EF4E135109000"],
      ["10860000147C128110B3A6DB3C870C3E99245E0D1C06B747DE00", "9000"],
      [
        `10860000867C8183838180 0F0CC62945A8029251FB7EF3C094E12EC68E4EF07F27CB9D9CD04C5C4250FAE0
         E4F8A951557E929AEB48E5C6DD47F2F5CD7C351A9BD2CD722C07EDE166770F08FFCB370262CF308DD7B07F2E0DA9CAAA
         1492344C852906919538C98A4BA4187E76CE9D87832386D319CE2E043C3343AEAE6EDBA1A9894DC5094D22F7FE1351D500`,
        `7C8183848180 928D9A0F9DBA450F13FC859C6F290D1D36E42431138A4378500BEB4E0401854C
         FF111F71CB6DC1D0335807A11388CC8EAA87B07907AAD9FBA6B169AF6D8C26AF8DDDC39ADC3AD2E3FF882B84D23E9768
         E95A80E4746FB07A9767679FE92133B4D379935C771BD7FBED6C7BB4B1708B275EA75679524CDC9C6A91370CC662A2F39000`,
      ],
      ["008600000C7C0A850855D61977CBF5307E00", "7C0A8608C2F04230187E15259000"],
    ],
    {
      protocol: paceProtocol("0.4.0.127.0.7.2.2.4.3.2"),
      domain: standardizedDomain(0),
      parameterId: null,
      password: { kind: "mrz", mrzInformation: exampleMrz },
      passwordKey: appendixHKey,
    },
    ["B3A6DB3C870C3E99245E0D1C06B747DE", privateKeyAsRandom(privateKey.toString(16).padStart(40, "0"))],
  );
});

test("ICAO Doc 9303-11 appendix I: PACE with the chip authentication mapping", async () => {
  const result = await run(
    [
      ["0022C1A40F800A04007F00070202040602830101", "9000"],
      ["10860000027C0000", "7C128010CB60E8E0D85B76A9BD304747C2AD42E29000"],
      [
        `10860000457C438141047F1D410ADB7DDB3B84BF1030800981A9105D7457B4A3ADE002384F3086C67EDE
         1AB889104A27DB6D842B019020FBF3CEACB0DC627F7BDCAC29969E19D0E553C100`,
        `7C43824104A234236AA9B9621E8EFB73B5245C0E09D2576E5277183C1208BDD55280CAE8B3
         04F365713A356E65A451E165ECC9AC0AC46E3771342C8FE5AEDD092685338E239000`,
      ],
      [
        `10860000457C43834104446C934084D9DAB863944F219520076C29EE3F7AE6722B11FF319EC1C7728F95
         5483400BFF60BF0C5929270009277DC2A515E12575010AD9BA916CF1BF86FEFC00`,
        `7C4384410402AD566F3C6EC7F9324509AD50A51FA52030782A4968FCFEDF737DAEA9933331
         11C3B9B4C2287789BD137E7F8AA882E2A3C633CCD6ECC2C63C57AD401A09C2E19000`,
      ],
      [
        "008600000C7C0A8508E86BD06018A1CD3B00",
        `7C3C86088596CF055C67C1A38A301EEA964DAAE372AC990E3EFDE6333353BFC8
         9A6704D93DA8798CF77F5B7A54BD10CBA372B42BE0B9B5F28AA8DE2F4F929000`,
      ],
    ],
    {
      protocol: paceProtocol("0.4.0.127.0.7.2.2.4.6.2"),
      domain: standardizedDomain(13),
      parameterId: null,
      password: { kind: "mrz", mrzInformation: camMrz },
    },
    [
      privateKeyAsRandom("5D8BB87BD74D985A4B7D4325B9F7B976FE835122773400798914AA22738135CC"),
      privateKeyAsRandom("76ECFDAA9841C323A3F5FC5E88B88DB3EFF7E35EBF57A7E6946CB630006C2120"),
    ],
  );
  const evidence = result.chipAuthentication;
  assert.ok(evidence !== null);
  assert.equal(
    toHex(evidence.chipAuthenticationData),
    "85dc3fa93d0952bfa82f5fd189ee75bd82f11d1f0b8ed4bf5319ac9b53c426b3",
  );
  const staticKey = fromHex(
    "041872709494399E7470A6431BE25E83EEE24FEA568C2ED28DB48E05DB3A610DC884D256A40E35EFCB59BF6753D3A489D28C7A4D973C2DA138A6E7A4A08F68E16F",
  );
  assert.equal(checkChipAuthenticationMapping(result.domain, evidence, staticKey), true);
  assert.equal(checkChipAuthenticationMapping(result.domain, evidence, result.domain.generator), false);
});

test("a nonce shorter than the key is refused with the integrated mapping", async () => {
  const protocol = paceProtocol("0.4.0.127.0.7.2.2.4.4.4");
  const script: [string, string][] = [
    ["0022C1A40F800A04007F00070202040404830101", "9000"],
    ["10860000027C0000", "7C128010143DC40C08C8E891FBED7DEDB92B64AD9000"],
  ];
  const password = { kind: "mrz", mrzInformation: exampleMrz } as const;
  const input = { protocol, domain: standardizedDomain(13), parameterId: null, password };
  await assert.rejects(run(script, input, []), { code: "PACE_FAILED" });
});

test("a chip that mirrors the terminal's number with a zero in front is noticed", async () => {
  const mirroring: ChipTransport = {
    maxCommandBytes: 65_544,
    maxResponseBytes: 65_538,
    extendedLength: true,
    transceive: async (command) => {
      if (command[1] === 0x22) return fromHex("9000");
      const { data } = decodeCommand(command);
      if (data.length === 2) return fromHex("7C12801095A3A016522EE98D01E76CB6B98B42C39000");
      return concat(tlv(0x7c, tlv(0x82, Uint8Array.of(0), data.subarray(-128))), fromHex("9000"));
    },
  };
  const started = performPace((command) => transmit(mirroring, command), {
    protocol: paceProtocol("0.4.0.127.0.7.2.2.4.1.2"),
    domain: standardizedDomain(0),
    parameterId: null,
    password: { kind: "can", can: "123456" },
    random: seededRandom("mirror"),
  });
  await assert.rejects(started, { code: "PACE_FAILED", message: /our own public key/ });
});

test("a hostile chip cannot finish PACE", async () => {
  const answers = ecdhGmScript.map(([, answer]) => answer.replace(/\s+/g, ""));
  const commands = ecdhGmScript.map(([command]) => command);
  const withAnswer = (index: number, answer: string) =>
    run(
      commands
        .slice(0, index + 1)
        .map((command, at) => [command, at === index ? answer : (answers[at] ?? "")] as const),
      ecdhGm,
      ecdhGmKeys,
    );
  const flip = (hex: string, at: number) =>
    hex.slice(0, at) + (Number.parseInt(hex.charAt(at), 16) ^ 1).toString(16) + hex.slice(at + 1);
  const ownMappingKey = (commands[2] ?? "").replace(/\s+/g, "").slice(14, -2);
  const ownEphemeralKey = (commands[3] ?? "").replace(/\s+/g, "").slice(14, -2);

  await assert.rejects(withAnswer(1, "7C12811095A3A016522EE98D01E76CB6B98B42C39000"), {
    code: "PACE_FAILED",
  });
  await assert.rejects(withAnswer(1, "7C03800101 9000"), { code: "PACE_FAILED" });
  await assert.rejects(withAnswer(1, "7CFF80019000"), { code: "PACE_FAILED" });
  await assert.rejects(withAnswer(2, flip(answers[2] ?? "", 20)), { code: "PACE_FAILED" });
  await assert.rejects(withAnswer(2, `7C438241${ownMappingKey}9000`), { code: "PACE_FAILED" });
  await assert.rejects(withAnswer(3, `7C438441${ownEphemeralKey}9000`), { code: "PACE_FAILED" });
  await assert.rejects(withAnswer(3, `7C4384410400${"00".repeat(63)}9000`), { code: "PACE_FAILED" });
  await assert.rejects(withAnswer(4, "7C0A86083ABB9674BCE93C099000"), { code: "PACE_FAILED" });
  await assert.rejects(withAnswer(4, "7C0086009000"), { code: "PACE_FAILED" });
  await assert.rejects(withAnswer(4, "6300"), { code: "ACCESS_KEY_INVALID" });
  await assert.rejects(withAnswer(3, "6985"), { code: "ACCESS_DENIED" });
});
