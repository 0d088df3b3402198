import { concat, readUint16, uintBytes } from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";

/** ISO/IEC 7816-4. `expectedBytes` is Ne: 0 for no answer data, 256 or 65536 for "all there is". */
export type CommandApdu = {
  readonly cla: number;
  readonly ins: number;
  readonly p1: number;
  readonly p2: number;
  readonly data?: Uint8Array;
  readonly expectedBytes?: number;
};

const maxShortDataBytes = 255;
export const maxShortExpectedBytes = 256;
const maxExtendedExpectedBytes = 65_536;
const maxExtendedDataBytes = 65_535;

export function needsExtendedLength(command: CommandApdu): boolean {
  return (
    (command.data?.length ?? 0) > maxShortDataBytes || (command.expectedBytes ?? 0) > maxShortExpectedBytes
  );
}

/** Short unless the command does not fit, or `extended` asks for the long form. */
export function encodeCommand(command: CommandApdu, extended = false): Uint8Array {
  const data = command.data ?? new Uint8Array(0);
  const expected = command.expectedBytes ?? 0;
  if (data.length > maxExtendedDataBytes || expected < 0 || expected > maxExtendedExpectedBytes) {
    throw new EmrtdError("APDU_INVALID", "The command is longer than any APDU can be");
  }
  const header = Uint8Array.of(command.cla, command.ins, command.p1, command.p2);
  if (extended || needsExtendedLength(command)) {
    const lc = data.length === 0 ? new Uint8Array(0) : concat(Uint8Array.of(0), uintBytes(data.length, 2));
    const marker = data.length === 0 ? Uint8Array.of(0) : new Uint8Array(0);
    const le = expected === 0 ? new Uint8Array(0) : concat(marker, uintBytes(expected % 65_536, 2));
    return concat(header, lc, data, le);
  }
  const lc = data.length === 0 ? new Uint8Array(0) : Uint8Array.of(data.length);
  const le = expected === 0 ? new Uint8Array(0) : Uint8Array.of(expected % 256);
  return concat(header, lc, data, le);
}

export type DecodedCommand = CommandApdu & {
  readonly data: Uint8Array;
  readonly expectedBytes: number;
  readonly extended: boolean;
};

export function decodeCommand(bytes: Uint8Array): DecodedCommand {
  const [cla, ins, p1, p2] = bytes;
  if (cla === undefined || ins === undefined || p1 === undefined || p2 === undefined) {
    throw new EmrtdError("APDU_INVALID", "A command has at least four bytes");
  }
  const header = { cla, ins, p1, p2 };
  const body = bytes.subarray(4);
  const none = new Uint8Array(0);
  const first = body[0];
  if (first === undefined) return { ...header, data: none, expectedBytes: 0, extended: false };
  if (body.length === 1) return { ...header, data: none, expectedBytes: first || 256, extended: false };
  if (first !== 0) {
    const data = body.subarray(1, 1 + first);
    const rest = body.subarray(1 + first);
    if (data.length !== first || rest.length > 1) throw inconsistent();
    const le = rest[0];
    return { ...header, data, expectedBytes: le === undefined ? 0 : le || 256, extended: false };
  }
  if (body.length < 3) throw inconsistent();
  const length = readUint16(body, 1);
  if (body.length === 3) return { ...header, data: none, expectedBytes: length || 65_536, extended: true };
  const data = body.subarray(3, 3 + length);
  const rest = body.subarray(3 + length);
  if (length === 0 || data.length !== length || (rest.length !== 0 && rest.length !== 2))
    throw inconsistent();
  return {
    ...header,
    data,
    expectedBytes: rest.length === 0 ? 0 : readUint16(rest, 0) || 65_536,
    extended: true,
  };
}

function inconsistent(): EmrtdError {
  return new EmrtdError("APDU_INVALID", "The lengths inside the command do not agree");
}
