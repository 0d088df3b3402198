import { problemOf } from "@assay/device/answer-command";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { type AccessKey, type Chip, openChip } from "@assay/emrtd/reader/open-chip";
import { accessKeyFromTyped } from "./access-key.ts";
import { type CardAtDesk, NoReaderError } from "./card-at-desk.ts";
import { adviseOn } from "./desk-guide.ts";
import { EndedAtDesk, type Terminal } from "./terminal.ts";

type Print = (line: string) => void;

/**
 * The document of a session on the reader of a desk. With a terminal, it prints what went wrong and what to
 * do, and then tries again. Without one, it ends with the error.
 */
export class DocumentAtDesk {
  readonly #card: CardAtDesk;
  readonly #terminal: Terminal | null;
  readonly #print: Print;
  #key: AccessKey;

  constructor(
    card: CardAtDesk,
    key: AccessKey,
    { terminal, print }: { terminal: Terminal | null; print: Print },
  ) {
    this.#card = card;
    this.#key = key;
    this.#terminal = terminal;
    this.#print = print;
  }

  /** The chip, opened with the given key or with one that is typed now. */
  async open(): Promise<Chip> {
    return await this.#untilItWorks(async () => {
      await this.#card.release();
      return await this.#card.work(() => openChip(this.#card.transport, this.#key));
    });
  }

  /** Runs the task on an open chip. If the chip was lost, opens it again first. */
  async work<T>(chip: Chip, task: () => Promise<T>): Promise<T> {
    return await this.#untilItWorks(() =>
      this.#card.work(async (fresh) => {
        if (fresh) await chip.open();
        return await task();
      }),
    );
  }

  /** Before a document that the service refused is read once more: every reading uses up a try. */
  async confirmAgain(): Promise<void> {
    if (this.#terminal !== null)
      await this.#waitFor(this.#terminal, "Lay the document on the reader for another try");
  }

  async #untilItWorks<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const advice = isEmrtdError(error) && !(error instanceof NoReaderError) ? adviseOn(error) : null;
        if (this.#terminal === null || advice === null) throw error;
        this.#print(advice.says);
        this.#print(advice.todo);
        if (problemOf(error) === "key") this.#key = await askForKey(this.#terminal, this.#print);
        else await this.#waitFor(this.#terminal, "Lay the document on the reader again");
        await this.#card.release();
        this.#card.beginAgain();
      }
    }
  }

  async #waitFor(terminal: Terminal, what: string): Promise<void> {
    const answer = await terminal.ask(`${what} and press Enter, or type q to end: `);
    if (answer.toLowerCase() === "q") throw new EndedAtDesk();
  }
}

/** Asks for the key of the chip until it is well-formed. */
export async function askForKey(terminal: Terminal, print: Print): Promise<AccessKey> {
  for (;;) {
    const can = await terminal.ask("Card access number, six digits; Enter where the document has none: ");
    try {
      if (can !== "") return accessKeyFromTyped({ can: can.replaceAll(" ", "") });
      return accessKeyFromTyped({
        documentNumber: await terminal.ask("Document number: "),
        dateOfBirth: await terminal.ask("Date of birth, YYYY-MM-DD: "),
        dateOfExpiry: await terminal.ask("Date of expiry, YYYY-MM-DD: "),
      });
    } catch (error) {
      if (!isEmrtdError(error)) throw error;
      print(`${error.message}.`);
    }
  }
}
