import { concat } from "../bytes.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import { type CommandApdu, encodeCommand } from "./command.ts";
import { decodeResponse, type ResponseApdu } from "./response.ts";

/** The one thing a device has to offer: NFC of a phone, a PC/SC reader, or the software chip. */
export type ChipTransport = {
  /** Sends one command APDU and gives back the answer with its status word. Rejects when the chip is gone. */
  transceive(command: Uint8Array): Promise<Uint8Array>;
  readonly maxCommandBytes: number;
  /** Status word included. */
  readonly maxResponseBytes: number;
  readonly extendedLength: boolean;
  /**
   * Resets the chip's power, so that it forgets every session. Absent if only a person can do that, by
   * lifting the document and placing it again.
   */
  reset?(): Promise<void>;
  /**
   * Whether the travel document application is already selected when a connection begins, as on some phones.
   */
  readonly applicationSelected?: boolean;
};

const maxAnswerBytes = 70_000;
const maxRounds = 400;

/**
 * One command and its whole answer. Follows 61xx (more data) for every command, and 6Cxx (wrong expected
 * length) for unprotected ones. A protected command cannot be repeated, because its counter has advanced.
 */
export async function transmit(
  transport: ChipTransport,
  command: CommandApdu,
  options: { readonly extended?: boolean; readonly resendOnWrongLength?: boolean } = {},
): Promise<ResponseApdu> {
  return await transmitBytes(
    transport,
    encodeCommand(command, options.extended),
    (options.resendOnWrongLength ?? true)
      ? (expectedBytes) => encodeCommand({ ...command, expectedBytes }, options.extended)
      : undefined,
  );
}

/** Like `transmit`, for an encoded command. */
export async function transmitBytes(
  transport: ChipTransport,
  command: Uint8Array,
  withExpectedBytes?: (expectedBytes: number) => Uint8Array,
): Promise<ResponseApdu> {
  if (command.length > transport.maxCommandBytes) {
    throw new EmrtdError("APDU_INVALID", "The command is longer than this reader can send");
  }
  let answer = await exchange(transport, command);
  if (answer.statusWord >> 8 === 0x6c && withExpectedBytes !== undefined) {
    answer = await exchange(transport, withExpectedBytes(answer.statusWord & 0xff || 256));
  }
  const pieces: Uint8Array[] = [answer.data];
  let total = answer.data.length;
  for (let round = 0; answer.statusWord >> 8 === 0x61; round++) {
    if (round >= maxRounds || total > maxAnswerBytes) {
      throw new EmrtdError("CHIP_RESPONSE_INVALID", "The chip does not come to an end with its answer");
    }
    const expectedBytes = answer.statusWord & 0xff || 256;
    answer = await exchange(transport, encodeCommand({ cla: 0, ins: 0xc0, p1: 0, p2: 0, expectedBytes }));
    pieces.push(answer.data);
    total += answer.data.length;
  }
  return { data: pieces.length === 1 ? answer.data : concat(...pieces), statusWord: answer.statusWord };
}

async function exchange(transport: ChipTransport, command: Uint8Array): Promise<ResponseApdu> {
  let answer: Uint8Array;
  try {
    answer = await transport.transceive(command);
  } catch (cause) {
    if (isEmrtdError(cause)) throw cause;
    throw new EmrtdError("CHIP_LOST", "The chip left the field or stopped answering", { cause });
  }
  if (answer.length > maxAnswerBytes) {
    throw new EmrtdError("CHIP_RESPONSE_INVALID", "The answer is longer than any APDU can be");
  }
  return decodeResponse(answer);
}
