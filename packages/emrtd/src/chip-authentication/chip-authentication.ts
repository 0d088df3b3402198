import { type CommandApdu, encodeCommand } from "../apdu/command.ts";
import { decodeResponse, STATUS } from "../apdu/response.ts";
import { tlv } from "../ber/write.ts";
import { bigIntToBytes, concat } from "../bytes.ts";
import { deriveSessionKeys } from "../crypto/cipher-suite.ts";
import { type RandomSource, secureRandom } from "../crypto/random.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import { SecureMessaging } from "../secure-messaging/secure-messaging.ts";
import { type ChipAuthenticationOffer, chipAuthenticationOffers } from "./chip-authentication-offer.ts";

/**
 * Chip authentication version 1, ICAO Doc 9303-11, section 6.2, cut in two so that the device cannot lie about it. The
 * server makes the ephemeral key and keeps the private half. The device passes on public keys and one protected command
 * that it can neither read nor answer: only the chip whose static key stands in DG14 can.
 */
export interface ChipAuthenticationStart {
  readonly offer: ChipAuthenticationOffer;
  /** Public half of the ephemeral key; it is inside the commands already. */
  readonly publicKey: Uint8Array;
  /** Plain APDUs, in order. The device protects them with its own session and returns the plain answers. */
  readonly commands: readonly Uint8Array[];
  /**
   * Takes the answers to the commands and gives the one command that the device must pass on exactly as it is.
   * Throws CHIP_AUTHENTICATION_FAILED when the chip refused.
   */
  prove(answers: readonly Uint8Array[]): Uint8Array;
  /** Takes the raw answer to that command. Returns when the chip is genuine, throws otherwise; works once. */
  finish(answer: Uint8Array): ChipAuthenticationProof;
}

export interface ChipAuthenticationProof {
  readonly protocol: string;
  readonly cipher: string;
  readonly domain: string;
  /** The status that the chip gave under the new keys. Any status proves the keys. */
  readonly statusWord: number;
}

/** SELECT of DG14: every chip that comes this far has the file, and the answer carries no personal data. */
const PROOF_COMMAND: CommandApdu = { cla: 0, ins: 0xa4, p1: 0x02, p2: 0x0c, data: Uint8Array.of(0x01, 0x0e) };

export interface ChipAuthenticationOptions {
  readonly random?: RandomSource;
  /** One of `chipAuthenticationOffers`; the first unless given. */
  readonly offer?: ChipAuthenticationOffer;
  /**
   * With triple DES the standard knows two sets of commands and chips may understand only one. The older MSE:Set KAT comes first;
   * this asks for the other, when a chip refused it.
   */
  readonly generalAuthenticate?: boolean;
}

/** Undefined when DG14 offers no chip authentication. `dg14` must be covered by a verified SOD. */
export function startChipAuthentication(
  dg14: Uint8Array,
  options: ChipAuthenticationOptions = {},
): ChipAuthenticationStart | undefined {
  const offer = options.offer ?? chipAuthenticationOffers(dg14)[0];
  if (offer === undefined) return undefined;
  const { domain, suite } = offer;
  const privateKey = domain.randomPrivateKey(options.random ?? secureRandom);
  const publicKey = domain.publicKey(privateKey);
  const commands = chipAuthenticationCommands(offer, publicKey, options.generalAuthenticate === true);
  let messaging: SecureMessaging | undefined;
  let stage: "started" | "proving" | "finished" = "started";
  return {
    offer,
    publicKey,
    commands,
    prove(answers) {
      if (stage !== "started") throw failed("The exchange is past this step");
      stage = "finished";
      for (const answer of answers) {
        const { statusWord } = guard(() => decodeResponse(answer));
        if (statusWord !== STATUS.ok) throw failed("The chip refused the ephemeral key", statusWord);
      }
      if (answers.length !== commands.length) throw failed("There must be one answer for every command");
      const secret = guard(() => domain.sharedSecret(privateKey, offer.publicKey));
      messaging = new SecureMessaging(suite, deriveSessionKeys(suite, secret));
      stage = "proving";
      return encodeCommand(messaging.protectCommand(PROOF_COMMAND));
    },
    finish(answer) {
      if (stage !== "proving" || messaging === undefined) throw failed("The exchange is not at this step");
      stage = "finished";
      const session = messaging;
      const { statusWord } = guard(() => session.unprotectResponse(decodeResponse(answer)));
      return { protocol: offer.oid, cipher: suite.name, domain: domain.name, statusWord };
    },
  };
}

/** MSE:Set KAT for triple DES; MSE:Set AT and GENERAL AUTHENTICATE for AES. */
function chipAuthenticationCommands(
  offer: ChipAuthenticationOffer,
  publicKey: Uint8Array,
  generalAuthenticate: boolean,
): Uint8Array[] {
  const keyReference = offer.keyId === undefined ? new Uint8Array(0) : tlv(0x84, bigIntToBytes(offer.keyId));
  if (offer.suite.name === "3DES" && !generalAuthenticate) {
    const data = concat(tlv(0x91, publicKey), keyReference);
    return [encodeCommand({ cla: 0, ins: 0x22, p1: 0x41, p2: 0xa6, data })];
  }
  return [
    encodeCommand({
      cla: 0,
      ins: 0x22,
      p1: 0x41,
      p2: 0xa4,
      data: concat(tlv(0x80, offer.oidBytes), keyReference),
    }),
    encodeCommand({
      cla: 0,
      ins: 0x86,
      p1: 0,
      p2: 0,
      data: tlv(0x7c, tlv(0x80, publicKey)),
      expectedBytes: 256,
    }),
  ];
}

function failed(message: string, statusWord?: number): EmrtdError {
  return new EmrtdError(
    "CHIP_AUTHENTICATION_FAILED",
    message,
    statusWord === undefined ? {} : { statusWord },
  );
}

function guard<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!isEmrtdError(cause)) throw cause;
    throw new EmrtdError("CHIP_AUTHENTICATION_FAILED", "The chip could not prove its key", { cause });
  }
}
