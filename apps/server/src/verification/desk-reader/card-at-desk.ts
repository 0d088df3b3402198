import type { ChipTransport } from "@assay/emrtd/apdu/transport";
import { EmrtdError, isEmrtdError } from "@assay/emrtd/emrtd-error";
import type { CardReaders, ConnectedCard } from "@assay/emrtd/node/pcsc";

export type CardWait = {
  /** Part of the reader's name, when there are several. */
  readerName?: string;
  /** For all waiting together, also after the document has slipped off. */
  waitSeconds: number;
};

export type DeskReaders = {
  readers: CardReaders;
  print: (line: string) => void;
  delay: (milliseconds: number) => Promise<void>;
};

/** No reader is connected, or none with the requested name. */
export class NoReaderError extends EmrtdError {
  constructor(message: string) {
    super("CHIP_LOST", message);
  }
}

const pollMilliseconds = 250;
/**
 * A reader's state is updated about twice a second, so a card that was removed is still reported for a
 * moment. A card that is reported for this many polls is on the reader, or on it again.
 */
const maxSettlePolls = 4;
const maxRestarts = 3;

/** The document on the reader of a desk. Documents slip off, so it waits for the card again. */
export class CardAtDesk {
  /** Uses the card that is connected at the time, so that a chip can be opened again through it. */
  readonly transport: ChipTransport;
  readonly #wait: CardWait;
  readonly #desk: DeskReaders;
  #card: ConnectedCard | null = null;
  #pollsLeft: number;
  #lost = false;
  #restarts = 0;
  #namedReader: string | null = null;

  constructor(wait: CardWait, desk: DeskReaders) {
    this.#wait = wait;
    this.#desk = desk;
    this.#pollsLeft = this.#maxPolls;
    const connected = () => this.#connected();
    this.transport = {
      transceive: async (command) => {
        try {
          return await connected().transceive(command);
        } catch (error) {
          this.#lost = true;
          throw error;
        }
      },
      reset: async () => {
        await connected().reset?.();
      },
      get maxCommandBytes() {
        return connected().maxCommandBytes;
      },
      get maxResponseBytes() {
        return connected().maxResponseBytes;
      },
      get extendedLength() {
        return connected().extendedLength;
      },
    };
  }

  #connected(): ChipTransport {
    if (this.#card === null) throw new EmrtdError("CHIP_LOST", "No document is on the reader");
    return this.#card.transport;
  }

  /**
   * Runs the task with the document on the reader. If the document leaves, waits for it and restarts the
   * task, within `maxRestarts` and the waiting time. `fresh`: the card was connected for this run.
   */
  async work<T>(task: (fresh: boolean) => Promise<T>): Promise<T> {
    for (;;) {
      const reader = this.#card === null ? await this.untilPresent() : null;
      try {
        if (reader !== null) this.#card = await this.#desk.readers.connect(reader);
        return await task(reader !== null);
      } catch (error) {
        await this.release();
        const lost = isEmrtdError(error) && error.code === "CHIP_LOST";
        if (!lost || this.#restarts >= maxRestarts || this.#pollsLeft <= maxSettlePolls) throw error;
        this.#restarts++;
        this.#lost = true;
      }
    }
  }

  /** Resolves with the name of the reader that has a card. */
  async untilPresent(): Promise<string> {
    const { readers, print, delay } = this.#desk;
    const { readerName } = this.#wait;
    let settlePolls = this.#lost ? maxSettlePolls : 0;
    let asked = this.#lost;
    if (this.#lost) {
      print("The document left the reader. Put it back.");
      this.#lost = false;
      this.#namedReader = null;
    }
    for (; this.#pollsLeft > 0; this.#pollsLeft--) {
      const all = await readers.list();
      const wanted = all.filter(({ name }) => readerName === undefined || name.includes(readerName));
      if (wanted.length === 0) {
        const names = all.map(({ name }) => name).join(", ");
        throw new NoReaderError(
          names === "" ? "No reader is connected" : `No such reader; there is: ${names}`,
        );
      }
      const ready = wanted.find(({ cardPresent }) => cardPresent);
      if (ready === undefined) {
        settlePolls = 0;
        if (!asked) print(`Put the document on the reader: ${wanted.map(({ name }) => name).join(" or ")}`);
        asked = true;
      } else if (settlePolls === 0) {
        if (this.#namedReader !== ready.name) print(`Reader: ${ready.name}`);
        this.#namedReader = ready.name;
        return ready.name;
      } else settlePolls--;
      await delay(pollMilliseconds);
    }
    throw new EmrtdError("CHIP_LOST", "No document was put on the reader in time");
  }

  /** The operator has put the document back: restarts the waiting time and the count of restarts. */
  beginAgain(): void {
    this.#pollsLeft = this.#maxPolls;
    this.#restarts = 0;
    this.#lost = false;
  }

  get #maxPolls(): number {
    return Math.max(1, Math.ceil((this.#wait.waitSeconds * 1000) / pollMilliseconds));
  }

  /** Disconnects from the card; the next task connects again. */
  async release(): Promise<void> {
    const card = this.#card;
    this.#card = null;
    // The card may be gone by now, and the earlier error is more useful.
    await card?.disconnect().catch(() => {});
  }
}
