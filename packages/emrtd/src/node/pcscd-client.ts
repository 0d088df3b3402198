import { connect, type Socket } from "node:net";
import { concat } from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";

/**
 * The protocol between libpcsclite and its daemon on Linux and BSD, so that a smart card reader needs no
 * native module. Numbers are in the machine's byte order, which is little-endian wherever Node runs today.
 * A request is a header (size, command) and a structure; the answer is the same structure with results. The
 * layout has been stable since protocol 4.4 (pcsc-lite 1.9, 2021), and the daemon reports a mismatch at once.
 */

export const defaultPcscdSocket = "/run/pcscd/pcscd.comm";

const commandCodes = {
  establishContext: 0x01,
  releaseContext: 0x02,
  connect: 0x04,
  reconnect: 0x05,
  disconnect: 0x06,
  beginTransaction: 0x07,
  transmit: 0x09,
  version: 0x11,
  readersState: 0x12,
} as const;

const protocolMajor = 4;
/** The oldest minor version with this layout; daemons accept all minors from it up to their own. */
const protocolMinor = 4;
const maxReaders = 16;
const readerStateBytes = 184;
const nameBytes = 128;
const cardPresentBit = 0x0004;
const systemScope = 2;
const sharedMode = 2;
const protocolT1 = 2;
const anyProtocol = 3;
const resetCardAction = 1;
const leaveCardAction = 0;
const maxAnswerBytes = 65_548;

const resultNames: Readonly<Record<number, string>> = {
  2148532226: "cancelled",
  2148532234: "the smart card service did not answer in time",
  2148532233: "the reader is unknown",
  2148532235: "another program uses the card exclusively",
  2148532236: "there is no card in the reader",
  2148532240: "the card is not ready",
  2148532246: "the reader could not carry the command",
  2148532247: "the reader is not available",
  2148532253: "the smart card service is not running",
  2148532254: "the smart card service has stopped",
  2148532326: "the card does not answer",
  2148532327: "the card has no power",
  2148532328: "the card was reset",
  2148532329: "the card was taken away",
  2148532330: "this user may not use the reader",
};

const timeoutResult = 2148532234;
const serviceStoppedResult = 2148532254;
/** No card, not ready, not answering, without power, reset, removed. */
const absentResults: readonly number[] = [
  2148532236, 2148532240, 2148532326, 2148532327, 2148532328, 2148532329,
];

export type PcscReaderState = {
  readonly name: string;
  readonly cardPresent: boolean;
  readonly atr: Uint8Array;
};

export class PcscError extends Error {
  readonly result: number;

  constructor(what: string, result: number) {
    const known = resultNames[result] ?? `error ${result.toString(16)}`;
    super(`${what}: ${known}`);
    this.name = "PcscError";
    this.result = result;
  }

  /** There is no card that can be spoken to right now; waiting for one may help. */
  get cardIsAbsent(): boolean {
    return absentResults.includes(this.result);
  }
}

/** One connection to the daemon, with one context. Requests must not overlap; `request` sees to that. */
export class PcscdClient {
  readonly #socket: Socket;
  readonly #timeoutMilliseconds: number;
  #received: Uint8Array = new Uint8Array(0);
  #wanted: { bytes: number; resolve: (bytes: Uint8Array) => void; reject: (error: Error) => void } | null =
    null;
  #failure: Error | null = null;
  #context = 0;
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(socket: Socket, timeoutMilliseconds: number) {
    this.#socket = socket;
    this.#timeoutMilliseconds = timeoutMilliseconds;
    socket.on("data", (piece) => {
      this.#received = concat(this.#received, piece);
      this.#deliver();
    });
    socket.on("error", () => this.#fail(new PcscError("pcscd", serviceStoppedResult)));
    socket.on("close", () => this.#fail(new PcscError("pcscd", serviceStoppedResult)));
  }

  static async open(
    options: { readonly socketPath?: string; readonly timeoutMilliseconds?: number } = {},
  ): Promise<PcscdClient> {
    const socketPath = options.socketPath ?? defaultPcscdSocket;
    const socket = await new Promise<Socket>((resolve, reject) => {
      const attempt = connect(socketPath);
      attempt.once("error", reject);
      attempt.once("connect", () => {
        attempt.removeListener("error", reject);
        resolve(attempt);
      });
    });
    const client = new PcscdClient(socket, options.timeoutMilliseconds ?? 20_000);
    try {
      await client.#agreeOnVersion();
      const answer = await client.#request(commandCodes.establishContext, [systemScope, 0, 0]);
      checkResult(answer, "SCardEstablishContext");
      client.#context = answer.getUint32(4, true);
      return client;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  async #agreeOnVersion(): Promise<void> {
    const answer = await this.#request(commandCodes.version, [protocolMajor, protocolMinor, 0]);
    const result = answer.getUint32(answer.byteLength - 4, true);
    if (result === 0 && answer.getUint32(0, true) === protocolMajor) return;
    const version = `${answer.getUint32(0, true)}.${answer.getUint32(4, true)}`;
    throw new EmrtdError(
      "PROTOCOL_UNSUPPORTED",
      `The smart card service speaks protocol ${version}; this reader knows ${protocolMajor}.${protocolMinor}`,
    );
  }

  async readers(): Promise<PcscReaderState[]> {
    const bytes = await this.#exclusive(async () => {
      this.#send(commandCodes.readersState, new Uint8Array(0));
      return await this.#receive(maxReaders * readerStateBytes);
    });
    const readers: PcscReaderState[] = [];
    for (let index = 0; index < maxReaders; index++) {
      const entry = bytes.subarray(index * readerStateBytes, (index + 1) * readerStateBytes);
      const view = new DataView(entry.buffer, entry.byteOffset, entry.byteLength);
      const end = entry.indexOf(0);
      const name = new TextDecoder().decode(entry.subarray(0, end < 0 || end > nameBytes ? nameBytes : end));
      if (name === "") continue;
      readers.push({
        name,
        cardPresent: (view.getUint32(132, true) & cardPresentBit) !== 0,
        atr: entry.slice(140, 140 + Math.min(33, view.getUint32(176, true))),
      });
    }
    return readers;
  }

  /** Connects to the card, T=1 before T=0 because only T=1 carries extended length. */
  async connect(reader: string): Promise<{ card: number; protocol: number }> {
    let last: Error | null = null;
    for (const protocols of [protocolT1, anyProtocol]) {
      const body = new Uint8Array(4 + nameBytes + 5 * 4);
      const view = new DataView(body.buffer);
      view.setUint32(0, this.#context, true);
      body.set(new TextEncoder().encode(reader).subarray(0, nameBytes - 1), 4);
      view.setUint32(132, sharedMode, true);
      view.setUint32(136, protocols, true);
      const answer = await this.#requestBytes(commandCodes.connect, body);
      const result = answer.getUint32(148, true);
      if (result === 0) return { card: answer.getInt32(140, true), protocol: answer.getUint32(144, true) };
      last = new PcscError("SCardConnect", result);
    }
    throw last ?? new Error("SCardConnect");
  }

  /** Other programs wait until this connection ends, so that none sends commands in between. */
  async beginTransaction(card: number): Promise<void> {
    checkResult(await this.#request(commandCodes.beginTransaction, [card, 0]), "SCardBeginTransaction");
  }

  async resetCard(card: number, protocol: number): Promise<void> {
    const body = [card, sharedMode, protocol, resetCardAction, 0, 0];
    checkResult(await this.#request(commandCodes.reconnect, body), "SCardReconnect");
  }

  async disconnect(card: number): Promise<void> {
    checkResult(await this.#request(commandCodes.disconnect, [card, leaveCardAction, 0]), "SCardDisconnect");
  }

  async transmit(card: number, protocol: number, command: Uint8Array): Promise<Uint8Array> {
    return await this.#exclusive(async () => {
      const body = words([card, protocol, 8, command.length, protocol, 8, maxAnswerBytes, 0]);
      this.#send(commandCodes.transmit, body);
      this.#socket.write(command);
      const answer = viewOf(await this.#receive(body.length));
      checkResult(answer, "SCardTransmit");
      const bytes = answer.getUint32(24, true);
      if (bytes > maxAnswerBytes) {
        this.#socket.destroy();
        throw new EmrtdError("CHIP_RESPONSE_INVALID", "The reader returned more than any APDU can hold");
      }
      return await this.#receive(bytes);
    });
  }

  async close(): Promise<void> {
    try {
      if (this.#failure === null) await this.#request(commandCodes.releaseContext, [this.#context, 0]);
    } finally {
      this.#socket.destroy();
    }
  }

  async #request(command: number, body: readonly number[]): Promise<DataView> {
    return await this.#requestBytes(command, words(body));
  }

  async #requestBytes(command: number, body: Uint8Array): Promise<DataView> {
    return await this.#exclusive(async () => {
      this.#send(command, body);
      return viewOf(await this.#receive(body.length));
    });
  }

  async #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work, work);
    this.#queue = turn.catch(() => {});
    return await turn;
  }

  #send(command: number, body: Uint8Array): void {
    if (this.#failure !== null) throw this.#failure;
    this.#socket.write(concat(words([body.length, command]), body));
  }

  async #receive(bytes: number): Promise<Uint8Array> {
    if (bytes === 0) return new Uint8Array(0);
    return await new Promise<Uint8Array>((resolve, reject) => {
      // After a missed answer the stream is out of step, so the connection is closed.
      const timer = setTimeout(() => {
        this.#socket.destroy();
        this.#fail(new PcscError("pcscd", timeoutResult));
      }, this.#timeoutMilliseconds);
      this.#wanted = {
        bytes,
        resolve: (value) => {
          clearTimeout(timer);
          resolve(value);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      if (this.#failure !== null) this.#fail(this.#failure);
      else this.#deliver();
    });
  }

  #deliver(): void {
    const wanted = this.#wanted;
    if (wanted === null || this.#received.length < wanted.bytes) return;
    this.#wanted = null;
    const bytes = this.#received.slice(0, wanted.bytes);
    this.#received = this.#received.slice(wanted.bytes);
    wanted.resolve(bytes);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    const wanted = this.#wanted;
    this.#wanted = null;
    wanted?.reject(this.#failure);
  }
}

function words(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [index, value] of values.entries()) view.setUint32(index * 4, value >>> 0, true);
  return bytes;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Every structure ends with its result. */
function checkResult(answer: DataView, what: string): void {
  const result = answer.getUint32(answer.byteLength - 4, true);
  if (result !== 0) throw new PcscError(what, result);
}
