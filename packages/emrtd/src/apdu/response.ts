import { concat, readUint16, uintBytes } from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";

export type ResponseApdu = {
  readonly data: Uint8Array;
  readonly statusWord: number;
};

export const statusWords = {
  ok: 0x9000,
  endOfFile: 0x6282,
  authenticationFailed: 0x6300,
  wrongLength: 0x6700,
  lastCommandExpected: 0x6883,
  securityStatusNotSatisfied: 0x6982,
  conditionsNotSatisfied: 0x6985,
  messagingObjectsMissing: 0x6987,
  messagingObjectsIncorrect: 0x6988,
  wrongData: 0x6a80,
  functionNotSupported: 0x6a81,
  fileNotFound: 0x6a82,
  wrongParameters: 0x6a86,
  referenceNotFound: 0x6a88,
  offsetOutside: 0x6b00,
  instructionNotSupported: 0x6d00,
  classNotSupported: 0x6e00,
} as const;

export function decodeResponse(bytes: Uint8Array): ResponseApdu {
  if (bytes.length < 2) throw new EmrtdError("CHIP_RESPONSE_INVALID", "An answer has at least two bytes");
  return { data: bytes.subarray(0, -2), statusWord: readUint16(bytes, bytes.length - 2) };
}

export function encodeResponse(response: ResponseApdu): Uint8Array {
  return concat(response.data, uintBytes(response.statusWord, 2));
}

/** The error that a refused command becomes. `what` names the command, as in "SELECT of the application". */
export function statusError(statusWord: number, what: string): EmrtdError {
  const shown = statusWord.toString(16).padStart(4, "0").toUpperCase();
  const details = { statusWord };
  switch (statusWord) {
    case statusWords.fileNotFound:
      return new EmrtdError(
        "FILE_NOT_FOUND",
        `${what}: the file or application is not there (${shown})`,
        details,
      );
    case statusWords.securityStatusNotSatisfied:
    case statusWords.conditionsNotSatisfied:
      return new EmrtdError("ACCESS_DENIED", `${what}: the chip does not allow this (${shown})`, details);
    case statusWords.messagingObjectsMissing:
    case statusWords.messagingObjectsIncorrect:
      return new EmrtdError(
        "SECURE_MESSAGING_FAILED",
        `${what}: the chip ended the session (${shown})`,
        details,
      );
    default:
      return new EmrtdError("CHIP_STATUS", `${what}: the chip answered ${shown}`, details);
  }
}

export function requireOk(response: ResponseApdu, what: string): Uint8Array {
  if (response.statusWord !== statusWords.ok) throw statusError(response.statusWord, what);
  return response.data;
}
