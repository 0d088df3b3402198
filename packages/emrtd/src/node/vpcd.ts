import { connect, type Socket } from "node:net";
import { concat, fromHex, readUint16, uintBytes } from "../bytes.ts";
import type { VirtualChip } from "../virtual/virtual-chip.ts";

/**
 * Puts a software chip into the virtual reader of vsmartcard ("vpcd"), where PC/SC programs find it. Each
 * message is a length of two bytes and a body: one byte is a control code, more bytes are an APDU.
 */

export const vpcdPort = 35_963;
/** The ATR of contactless readers for a type B or A card without historical bytes. */
const contactlessAtr = fromHex("3B80800101");
const controlCodes = { powerOff: 0, powerOn: 1, reset: 2, atr: 4 } as const;

type VpcdLink = {
  /** Takes the chip out of the reader. */
  close(): Promise<void>;
  /** Settles when the reader goes away or a message could not be handled. */
  readonly closed: Promise<void>;
};

export async function insertIntoVpcd(
  chip: VirtualChip,
  options: { readonly host?: string; readonly port?: number } = {},
): Promise<VpcdLink> {
  const socket = await open(options.host ?? "127.0.0.1", options.port ?? vpcdPort);
  let received: Uint8Array = new Uint8Array(0);
  let work: Promise<void> = Promise.resolve();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => socket.destroy());
  socket.on("data", (piece) => {
    received = concat(received, piece);
    for (;;) {
      if (received.length < 2) return;
      const length = readUint16(received, 0);
      if (received.length < 2 + length) return;
      const body = received.slice(2, 2 + length);
      received = received.slice(2 + length);
      // One after another, because a chip cannot think of two things at once.
      work = work.then(
        () => handle(chip, body, socket),
        () => {},
      );
      work.catch(() => socket.destroy());
    }
  });
  return {
    closed,
    close: async () => {
      socket.destroy();
      await closed;
    },
  };
}

async function handle(chip: VirtualChip, body: Uint8Array, socket: Socket): Promise<void> {
  if (body.length === 1) {
    if (body[0] === controlCodes.atr) send(socket, contactlessAtr);
    else await chip.reset();
    return;
  }
  if (body.length > 0) send(socket, await chip.transceive(body));
}

function send(socket: Socket, body: Uint8Array): void {
  if (!socket.destroyed) socket.write(concat(uintBytes(body.length, 2), body));
}

function open(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.removeListener("error", reject);
      resolve(socket);
    });
  });
}
