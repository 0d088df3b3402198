import type { CommandApdu } from "../apdu/command.ts";
import { type ResponseApdu, statusError, statusWords } from "../apdu/response.ts";
import { readTlv } from "../ber/read.ts";
import { tlv } from "../ber/write.ts";
import { uintBytes } from "../bytes.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";

type FileReading = {
  readonly name: string;
  readonly maxFileBytes: number;
  select(): Promise<void>;
  /** Undoes what `select` did to the current directory. */
  leave(): Promise<void>;
  send(command: CommandApdu): Promise<ResponseApdu>;
  blockBytes(): number;
  stepDown(): boolean;
  /** Opens a new session; false when that was done too often. */
  reopen(): Promise<boolean>;
  /** Whether to wait for a chip that left the field, and reopen it when it is back. */
  readonly waitsForReturn: (lost: EmrtdError) => boolean;
  onRead(readBytes: number, totalBytes: number): void;
};

const headerBytes = 6;
/** READ BINARY has fifteen bits for the offset; beyond it the odd instruction takes over. */
const maxPlainOffset = 0x7fff;

export async function readWholeFile(reading: FileReading): Promise<Uint8Array> {
  try {
    return await readSelectedFile(reading);
  } finally {
    await reading.leave();
  }
}

async function readSelectedFile(reading: FileReading): Promise<Uint8Array> {
  await selectUntilThere(reading);
  const header = await readBlock(reading, 0, headerBytes, true);
  const totalBytes = fileBytes(header, reading);
  const file = new Uint8Array(totalBytes);
  let offset = Math.min(header.length, totalBytes);
  file.set(header.subarray(0, offset));
  header.fill(0);
  reading.onRead(offset, totalBytes);
  try {
    while (offset < totalBytes) {
      const piece = await readBlock(reading, offset, totalBytes - offset, false);
      file.set(piece, offset);
      offset += piece.length;
      // Freed memory keeps its contents, so pieces are overwritten. The owner overwrites the file.
      piece.fill(0);
      reading.onRead(offset, totalBytes);
    }
  } catch (error) {
    file.fill(0);
    throw error;
  }
  return file;
}

/**
 * A session may be lost between files or inside one;
 * a second loss for the same file is a refusal. A chip may leave more often.
 */
async function selectUntilThere(reading: FileReading): Promise<void> {
  for (let lostSessions = 0; ; ) {
    try {
      return await reading.select();
    } catch (error) {
      const comesBack = isAwaited(error, reading);
      if (!isLostSession(error) && !comesBack) throw error;
      if (!comesBack) {
        refuseAsMissing(error, reading);
        lostSessions += 1;
      }
      if (lostSessions > 1 || !(await reading.reopen())) throw error;
    }
  }
}

/** The chip left the field, and is waited for. */
function isAwaited(error: unknown, reading: FileReading): error is EmrtdError {
  return isEmrtdError(error) && error.code === "CHIP_LOST" && reading.waitsForReturn(error);
}

/**
 * Some chips report a missing file without protection, which costs the session; asking again would cost
 * another. A forged answer gains nothing: the document passes only with every file that the security object
 * names.
 */
function refuseAsMissing(error: EmrtdError, { name }: FileReading): void {
  if (error.statusWord === statusWords.fileNotFound)
    throw statusError(statusWords.fileNotFound, `SELECT of ${name}`);
}

function isLostSession(error: unknown): error is EmrtdError {
  return isEmrtdError(error) && error.code === "SECURE_MESSAGING_FAILED";
}

function fileBytes(header: Uint8Array, reading: FileReading): number {
  // The content is not here yet, so the length is taken from the header alone.
  const tagBytes = ((header[0] ?? 0) & 0x1f) === 0x1f ? 2 : 1;
  const first = header[tagBytes];
  const octets = first === undefined || first < 0x80 ? 0 : first & 0x7f;
  if (first === undefined || first === 0x80 || octets > 3 || tagBytes + 1 + octets > header.length) {
    throw new EmrtdError("CHIP_RESPONSE_INVALID", `${reading.name} does not start with a tag and a length`);
  }
  let length = octets === 0 ? first : 0;
  for (let index = 0; index < octets; index++) length = length * 256 + (header[tagBytes + 1 + index] ?? 0);
  const total = tagBytes + 1 + octets + length;
  if (total > reading.maxFileBytes) {
    throw new EmrtdError("FILE_TOO_LARGE", `${reading.name} says that it is longer than allowed`);
  }
  return total;
}

/** At least one byte and at most `wantedBytes` from `offset`. */
async function readBlock(
  reading: FileReading,
  offset: number,
  wantedBytes: number,
  isHeader: boolean,
): Promise<Uint8Array> {
  let allowedBytes = wantedBytes;
  let left = 0;
  for (;;) {
    const size = Math.min(allowedBytes, reading.blockBytes());
    let problem: EmrtdError;
    try {
      const { data, statusWord } = await readOnce(reading, offset, size);
      const usable = statusWord === statusWords.ok || statusWord === statusWords.endOfFile;
      if (usable && data.length > size) {
        throw new EmrtdError(
          "CHIP_RESPONSE_INVALID",
          `The chip sent more of ${reading.name} than it was asked for`,
        );
      }
      if (usable && data.length > 0 && (!isHeader || data.length >= 2)) return data;
      problem = usable
        ? new EmrtdError("CHIP_RESPONSE_INVALID", `The chip sent nothing of ${reading.name}`)
        : statusError(statusWord, `READ BINARY of ${reading.name}`);
      const offeredBytes = statusWord & 0xff || 256;
      if (statusWord >> 8 === 0x6c && offeredBytes < size && (!isHeader || offeredBytes >= 2)) {
        allowedBytes = offeredBytes;
        continue;
      }
      if (problem.code === "ACCESS_DENIED" || problem.code === "FILE_NOT_FOUND" || !reading.stepDown())
        throw problem;
      if (problem.code !== "SECURE_MESSAGING_FAILED") continue;
    } catch (error) {
      const comesBack = isAwaited(error, reading);
      if (!isLostSession(error) && !comesBack) throw error;
      problem = error;
      // A long answer is the usual reason, but a session can be lost once at any size. A chip that left the
      // field once was moved; one that leaves twice at the same point has too little power for this size.
      if (!comesBack || left++ > 0) reading.stepDown();
    }
    if (!(await reading.reopen())) throw problem;
    await selectUntilThere(reading);
  }
}

async function readOnce(reading: FileReading, offset: number, size: number): Promise<ResponseApdu> {
  if (offset <= maxPlainOffset) {
    return await reading.send({ cla: 0, ins: 0xb0, p1: offset >> 8, p2: offset & 0xff, expectedBytes: size });
  }
  const wrapperBytes = size < 0x80 ? 2 : size < 0x100 ? 3 : 4;
  const inner = Math.max(1, size - wrapperBytes);
  const answer = await reading.send({
    cla: 0,
    ins: 0xb1,
    p1: 0,
    p2: 0,
    data: tlv(0x54, uintBytes(offset, offset > 0xffff ? 3 : 2)),
    expectedBytes: inner + wrapperBytes,
  });
  if (answer.data.length === 0) return answer;
  try {
    const node = readTlv(answer.data, 0, { maxDepth: 1 });
    return { data: node.expect(0x53, "discretionary data").value, statusWord: answer.statusWord };
  } catch (cause) {
    throw new EmrtdError("CHIP_RESPONSE_INVALID", `The chip wrapped ${reading.name} in an unknown way`, {
      cause,
    });
  }
}
