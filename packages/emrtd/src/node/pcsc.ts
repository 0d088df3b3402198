import { decodeCommand } from "../apdu/command.ts";
import type { ChipTransport } from "../apdu/transport.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { PcscdClient, PcscError, type PcscReaderState } from "./pcscd-client.ts";

/** The smart card readers of this machine. */
export type CardReaders = {
  list(): Promise<PcscReaderState[]>;
  /**
   * Rejects with CHIP_LOST without a card or before it is ready,
   * and with another error if another program holds it.
   */
  connect(reader: string): Promise<ConnectedCard>;
  close(): Promise<void>;
};

export type ConnectedCard = {
  readonly transport: ChipTransport;
  disconnect(): Promise<void>;
};

const wrongLength = Uint8Array.of(0x67, 0x00);
const extendedLimits = { maxCommandBytes: 65_544, maxResponseBytes: 65_538 } as const;
const shortLimits = { maxCommandBytes: 261, maxResponseBytes: 258 } as const;
const protocolT1 = 2;

/**
 * Uses pcscd's socket where there is one, on Linux and BSD. On macOS and Windows the operator installs the
 * package "smartcard". It compiles or downloads native code, so it is not a dependency.
 */
export async function openCardReaders(options: { readonly socketPath?: string } = {}): Promise<CardReaders> {
  if (process.platform === "darwin" || process.platform === "win32") return await openNative();
  try {
    return daemonReaders(await PcscdClient.open(options));
  } catch (error) {
    if (!isMissingSocket(error)) throw error;
    throw new EmrtdError(
      "PROTOCOL_UNSUPPORTED",
      "The smart card service is not running or not open to this user: install pcscd and start it",
      { cause: error },
    );
  }
}

function isMissingSocket(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ECONNREFUSED" || code === "EACCES";
}

function daemonReaders(client: PcscdClient): CardReaders {
  return {
    list: () => client.readers(),
    close: () => client.close(),
    connect: async (reader) => {
      const { card, protocol } = await noticingAbsence(() => client.connect(reader));
      try {
        await noticingAbsence(() => client.beginTransaction(card));
      } catch (error) {
        await client.disconnect(card).catch(() => {});
        throw error;
      }
      return {
        transport: readerTransport(
          protocol === protocolT1,
          (command) => client.transmit(card, protocol, command),
          () => client.resetCard(card, protocol),
        ),
        disconnect: () => client.disconnect(card),
      };
    },
  };
}

/**
 * Readers report a card for a moment after it is gone, and before it has power. Callers wait in both cases,
 * so both give the same error.
 */
async function noticingAbsence<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PcscError) || !error.cardIsAbsent) throw error;
    throw new EmrtdError("CHIP_LOST", error.message, { cause: error });
  }
}

/** T=0 cannot carry extended length; with T=1 it depends on reader and card, so a command tests it. */
function readerTransport(
  extendedLength: boolean,
  transmit: (command: Uint8Array) => Promise<Uint8Array>,
  reset: () => Promise<void>,
): ChipTransport {
  return {
    ...(extendedLength ? extendedLimits : shortLimits),
    extendedLength,
    reset: async () => {
      try {
        await reset();
      } catch (cause) {
        throw new EmrtdError("CHIP_LOST", "The card did not come back after a reset", { cause });
      }
    },
    transceive: async (command) => {
      try {
        return await transmit(command);
      } catch (error) {
        // A reader that cannot carry a long command fails instead of answering. So the card is reset, and the
        // chip seems to say "wrong length". The reading continues in smaller steps with a new session.
        if (!(error instanceof PcscError) || !decodeCommand(command).extended) throw error;
        await reset();
        return wrongLength;
      }
    },
  };
}

/** The part of the package "smartcard" 3.x that is used here. */
type NativePackage = {
  readonly Context: new () => {
    listReaders(): readonly {
      readonly name: string;
      readonly state: number;
      readonly atr: Uint8Array | null;
      connect(shareMode?: number, protocol?: number): Promise<NativeCard>;
    }[];
    close(): void;
  };
};

type NativeCard = {
  readonly protocol: number;
  transmit(command: Uint8Array, options: { readonly maxRecvLength: number }): Promise<Uint8Array>;
  reconnect(shareMode: number, protocol: number, initialization: number): Promise<number>;
  disconnect(disposition?: number): void;
};

const nativePackage = "smartcard";
const statePresentBit = 0x20;
const sharedMode = 2;
const anyProtocol = 3;
const resetCardAction = 1;
const leaveCardAction = 0;

async function openNative(): Promise<CardReaders> {
  let native: NativePackage;
  try {
    native = (await import(nativePackage)) as NativePackage;
  } catch (error) {
    throw new EmrtdError(
      "PROTOCOL_UNSUPPORTED",
      `On this system the package "${nativePackage}" must be installed to use a smart card reader`,
      { cause: error },
    );
  }
  return nativeReaders(native);
}

/** Separate from `openNative`, so that tests can replace the package. */
export function nativeReaders(native: NativePackage): CardReaders {
  const context = new native.Context();
  return {
    list: async () =>
      context.listReaders().map((reader) => ({
        name: reader.name,
        cardPresent: (reader.state & statePresentBit) !== 0,
        atr: reader.atr === null ? new Uint8Array(0) : new Uint8Array(reader.atr),
      })),
    close: async () => context.close(),
    connect: async (name) => {
      const reader = context.listReaders().find((candidate) => candidate.name === name);
      if (reader === undefined) throw new EmrtdError("CHIP_LOST", "The reader was removed");
      const card = await noticingAbsence(() =>
        reader.connect(sharedMode, anyProtocol).catch((error) => {
          throw nativeError("SCardConnect", error);
        }),
      );
      const transmit = async (command: Uint8Array) => {
        try {
          return new Uint8Array(
            await card.transmit(command, { maxRecvLength: extendedLimits.maxResponseBytes }),
          );
        } catch (error) {
          throw nativeError("SCardTransmit", error);
        }
      };
      const reset = async () => {
        await card.reconnect(sharedMode, anyProtocol, resetCardAction);
      };
      return {
        transport: readerTransport(card.protocol === protocolT1, transmit, reset),
        disconnect: async () => card.disconnect(leaveCardAction),
      };
    },
  };
}

/** Native code may give the number with a sign. */
function nativeError(what: string, error: unknown): PcscError {
  return new PcscError(what, error instanceof Error && "code" in error ? Number(error.code) >>> 0 : 0);
}
