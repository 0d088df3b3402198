import { type CommandApdu, decodeCommand, encodeCommand, needsExtendedLength } from "../apdu/command.ts";
import { encodeResponse, type ResponseApdu, requireOk, statusWords } from "../apdu/response.ts";
import { type ChipTransport, transmit, transmitBytes } from "../apdu/transport.ts";
import { performBac } from "../bac/bac.ts";
import { uintBytes } from "../bytes.ts";
import { type RandomSource, secureRandom } from "../crypto/random.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import { type AtrInfo, readAtrInfo } from "../lds/card-files.ts";
import { type ChipFileName, chipFiles, ldsApplicationId } from "../lds/chip-files.ts";
import { type MrzKeyFields, mrzInformation } from "../mrz/mrz-key.ts";
import { type PaceResult, performPace } from "../pace/pace.ts";
import type { PacePassword } from "../pace/pace-crypto.ts";
import { type PaceOffer, paceOffers } from "../pace/pace-offers.ts";
import { maxProtectedRead, type SecureMessaging } from "../secure-messaging/secure-messaging.ts";
import { readWholeFile } from "./read-file.ts";

/** The printed key of the document, which opens the chip. */
export type AccessKey = { readonly mrz: MrzKeyFields } | { readonly can: string };

export type AccessMethod = "PACE" | "BAC" | "none";

export type ChipProgress =
  | { readonly kind: "connecting" }
  | { readonly kind: "opening"; readonly method: AccessMethod }
  | { readonly kind: "opened"; readonly method: AccessMethod }
  | {
      readonly kind: "reading";
      readonly file: ChipFileName;
      readonly readBytes: number;
      readonly totalBytes: number;
    }
  | { readonly kind: "reopening"; readonly file: ChipFileName };

export type OpenChipOptions = {
  readonly onProgress?: (progress: ChipProgress) => void;
  readonly random?: RandomSource;
  /** Files that claim to be longer are not read. */
  readonly maxFileBytes?: number;
  /**
   * Reopens a chip that leaves the field in the middle of a file, and continues reading there. For readers
   * whose next command waits for a chip; with others the reading would only fail a moment later.
   */
  readonly waitsForReturn?: (lost: EmrtdError) => boolean;
};

/** Sizes of one READ BINARY, tried in turn; each is reduced to what transport and cipher can carry. */
const readLadder: readonly number[] = [4096, 256, 224, 192, 160, 128];
const defaultMaxFileBytes = 1024 * 1024;
const maxReopenings = 8;
const securedClassBits = 0x0c;
const selectMasterFile: CommandApdu = { cla: 0, ins: 0xa4, p1: 0, p2: 0x0c, data: Uint8Array.of(0x3f, 0x00) };
const selectApplication: CommandApdu = { cla: 0, ins: 0xa4, p1: 0x04, p2: 0x0c, data: ldsApplicationId };

/**
 * Readers without a reset that lost a chip to a long command. When the person places the document again, the
 * next reading must not lose it in the same way.
 */
const lostToLongCommands = new WeakSet<ChipTransport>();

export async function openChip(
  transport: ChipTransport,
  accessKey: AccessKey,
  options: OpenChipOptions = {},
): Promise<Chip> {
  const chip = new Chip(transport, accessKey, options);
  await chip.open();
  return chip;
}

/** One document in the field of one reader. Methods must be called one after another. */
export class Chip {
  readonly #transport: ChipTransport;
  readonly #accessKey: AccessKey;
  readonly #random: RandomSource;
  readonly #onProgress: (progress: ChipProgress) => void;
  readonly #maxFileBytes: number;
  readonly #waitsForReturn: (lost: EmrtdError) => boolean;
  #messaging: SecureMessaging | null = null;
  #method: AccessMethod = "none";
  #pace: PaceResult | null = null;
  #cardAccess: Uint8Array | null = null;
  #shortOnly = false;
  /**
   * Whether the chip supports extended length:
   * from EF.ATR/INFO, or from a harmless test command. Null if unknown.
   */
  #chipExtends: boolean | null = null;
  #foundMasterFile = false;
  /**
   * It refused a SELECT in the long form, and then also in the short form, which had worked before. It
   * refuses everything until it is placed again.
   */
  #fellSilentAtProbe = false;
  #chipMaxResponseBytes: number | null = null;
  #askedForLengths = false;
  /** A session existed. From then on only an opening is sent without one. */
  #guarded = false;
  #opening = false;
  #inApplication = false;
  /** On phones that select the application themselves, some chips do not find back to it. */
  #stayInApplication = false;
  #rung = 0;
  #reopenings = 0;
  #handedOver = false;

  constructor(transport: ChipTransport, accessKey: AccessKey, options: OpenChipOptions) {
    this.#transport = transport;
    this.#accessKey = accessKey;
    this.#random = options.random ?? secureRandom;
    this.#onProgress = options.onProgress ?? (() => {});
    this.#maxFileBytes = options.maxFileBytes ?? defaultMaxFileBytes;
    this.#waitsForReturn = options.waitsForReturn ?? (() => false);
  }

  /** Asked each time: a phone learns what it can carry with the first chip in its field. */
  get #extended(): boolean {
    if (this.#shortOnly || !this.#transport.extendedLength || this.#chipExtends === false) return false;
    return this.#transport.reset !== undefined || !lostToLongCommands.has(this.#transport);
  }

  get accessMethod(): AccessMethod {
    return this.#method;
  }

  /** The result of PACE. */
  get pace(): PaceResult | null {
    return this.#pace;
  }

  /** EF.CardAccess as read before the chip was opened; it must equal what DG14 says. */
  get cardAccess(): Uint8Array | null {
    return this.#cardAccess;
  }

  /**
   * Also reopens, for example after the server has used the chip. Some chips refuse after a lost session. The
   * reader then resets the chip if it can; otherwise RESET_NEEDED asks the person to place it again.
   */
  async open(): Promise<void> {
    try {
      await this.#openOnce();
    } catch (error) {
      if (!isEmrtdError(error) || error.code === "CHIP_LOST" || !this.#resetMayHelp(error)) throw error;
      if (this.#transport.reset === undefined) {
        // At most once: after that this reader sends no long commands.
        const isLostToProbe = this.#fellSilentAtProbe && !lostToLongCommands.has(this.#transport);
        if (!this.#guarded && !isLostToProbe) throw error;
        if (this.#shortOnly || isLostToProbe) lostToLongCommands.add(this.#transport);
        throw new EmrtdError("RESET_NEEDED", "The chip refuses a new session until it is laid down again", {
          cause: error,
        });
      }
      await this.#reset();
      this.#stayInApplication = this.#transport.applicationSelected === true;
      await this.#openOnce();
    }
  }

  /** A key that opened the chip before is right, and a first refusal of the key must not be repeated. */
  #resetMayHelp({ code }: EmrtdError): boolean {
    return this.#guarded || (code !== "ACCESS_KEY_INVALID" && code !== "PROTOCOL_UNSUPPORTED");
  }

  async #reset(): Promise<void> {
    try {
      await this.#transport.reset?.();
    } catch (cause) {
      if (isEmrtdError(cause)) throw cause;
      throw new EmrtdError("CHIP_LOST", "The chip did not come back after a reset", { cause });
    }
  }

  async #openOnce(): Promise<void> {
    this.#messaging = null;
    this.#handedOver = false;
    this.#opening = true;
    try {
      await this.#openInTurn();
    } finally {
      this.#opening = false;
    }
  }

  async #openInTurn(): Promise<void> {
    this.#inApplication = this.#transport.applicationSelected === true;
    this.#onProgress({ kind: "connecting" });
    const offers = this.#stayInApplication ? [] : await this.#readPaceOffers();
    if (offers.length > 0 && (await this.#openWithPace(offers))) return;
    if ("can" in this.#accessKey) {
      throw new EmrtdError("PROTOCOL_UNSUPPORTED", "This chip cannot be opened with a card access number");
    }
    await this.#openWithBac(mrzInformation(this.#accessKey.mrz));
  }

  /** The whole file. Reads in steps, falls back to smaller ones, and opens a new session when one is lost. */
  async readFile(name: ChipFileName): Promise<Uint8Array> {
    return await readWholeFile({
      select: async () => {
        if (chipFiles[name].directory === "master") await this.#selectMasterFile();
        const data = uintBytes(chipFiles[name].fileId, 2);
        requireOk(await this.send({ cla: 0, ins: 0xa4, p1: 0x02, p2: 0x0c, data }), `SELECT of ${name}`);
      },
      leave: async () => {
        // Back to where all other files are. When the chip is gone, the error that is on its way says more.
        if (chipFiles[name].directory === "master") await this.#selectApplication().catch(() => {});
      },
      send: (command) => this.send(command),
      blockBytes: () => this.#blockBytes(),
      stepDown: () => this.#stepDown(),
      reopen: () => this.#reopen(name),
      waitsForReturn: this.#waitsForReturn,
      onRead: (readBytes, totalBytes) =>
        this.#onProgress({ kind: "reading", file: name, readBytes, totalBytes }),
      maxFileBytes: this.#maxFileBytes,
      name,
    });
  }

  /** The chip's signature over the challenge of the server. */
  async activeAuthentication(challenge: Uint8Array): Promise<Uint8Array> {
    await this.#ensureSession();
    const answer = await this.send({
      cla: 0,
      ins: 0x88,
      p1: 0,
      p2: 0,
      data: challenge,
      expectedBytes: this.#extended ? 65_536 : 256,
    });
    return requireOk(answer, "INTERNAL AUTHENTICATE").slice();
  }

  /**
   * Passes plain commands of the server to the chip inside the current session. Stops at the first refusal.
   */
  async forwardInSession(commands: readonly Uint8Array[]): Promise<Uint8Array[]> {
    await this.#ensureSession();
    const answers: Uint8Array[] = [];
    for (const command of commands) {
      const answer = await this.send(decodeCommand(command));
      answers.push(encodeResponse(answer));
      if (answer.statusWord !== statusWords.ok) break;
    }
    return answers;
  }

  /** Carries a command that only server and chip understand. The session of this device is over with it. */
  async forwardSealed(command: Uint8Array): Promise<Uint8Array> {
    const endsSession = !this.#handedOver && ((command[0] ?? 0) & securedClassBits) === 0;
    this.#handedOver = true;
    this.#messaging = null;
    // Some chips refuse everything after a command in the clear has ended their session.
    if (endsSession) await this.#reset();
    return encodeResponse(await transmitBytes(this.#transport, command));
  }

  /** One command in the running session, or unprotected where there is none. */
  async send(command: CommandApdu): Promise<ResponseApdu> {
    if (this.#handedOver) throw new EmrtdError("ACCESS_DENIED", "The chip speaks to the server only by now");
    const messaging = this.#messaging;
    if (messaging === null) {
      if (this.#guarded && !this.#opening)
        throw new EmrtdError("SECURE_MESSAGING_FAILED", "The session with the chip has ended");
      if (needsExtendedLength(command)) this.#requireExtended();
      return await transmit(this.#transport, command);
    }
    const sealed = messaging.protectCommand(command);
    if (needsExtendedLength(sealed) && !this.#extended) {
      if ((sealed.data?.length ?? 0) > 255) this.#requireExtended();
      const short = encodeCommand({ ...sealed, expectedBytes: 256 });
      return messaging.unprotectResponse(await transmitBytes(this.#transport, short));
    }
    return messaging.unprotectResponse(
      await transmit(this.#transport, sealed, { resendOnWrongLength: false }),
    );
  }

  /** A session lost with the last file must not look like a chip that refuses its proof. */
  async #ensureSession(): Promise<void> {
    if (this.#handedOver || !this.#guarded || this.#messaging?.alive === true) return;
    await this.open();
  }

  #requireExtended(): void {
    if (this.#transport.extendedLength) return;
    throw new EmrtdError(
      "PROTOCOL_UNSUPPORTED",
      "This chip needs commands that are longer than this reader can send",
    );
  }

  async #readPaceOffers(): Promise<PaceOffer[]> {
    try {
      await this.#selectMasterFile();
      await this.#askForLengths();
      this.#cardAccess = await this.#readCardAccess();
      return paceOffers(this.#cardAccess);
    } catch (error) {
      // A document without a readable EF.CardAccess predates PACE.
      if (!isEmrtdError(error) || error.code === "CHIP_LOST") throw error;
      return [];
    }
  }

  /** Asked in the clear, where a refusal costs nothing: inside of a session it can cost the session. */
  async #askForLengths(): Promise<void> {
    if (this.#askedForLengths || !this.#transport.extendedLength) return;
    this.#askedForLengths = true;
    const info = await this.#readAtrInfo();
    this.#chipMaxResponseBytes = info?.maxResponseBytes ?? null;
    this.#chipExtends = info?.extendedLength ?? (this.#chipMaxResponseBytes === null ? null : true);
    if (this.#chipExtends === null) await this.#selectProbing(selectMasterFile);
  }

  async #readAtrInfo(): Promise<AtrInfo | null> {
    const data = uintBytes(chipFiles.AtrInfo.fileId, 2);
    const selected = await this.send({ cla: 0, ins: 0xa4, p1: 0x02, p2: 0x0c, data });
    if (selected.statusWord !== statusWords.ok) return null;
    const { data: bytes, statusWord } = await this.send({
      cla: 0,
      ins: 0xb0,
      p1: 0,
      p2: 0,
      expectedBytes: 256,
    });
    if (statusWord !== statusWords.ok && statusWord !== statusWords.endOfFile) return null;
    try {
      return readAtrInfo(bytes);
    } catch (error) {
      if (isEmrtdError(error)) return null;
      throw error;
    }
  }

  /**
   * A SELECT in the long form, if it is unknown whether the chip supports that. It only changes the current
   * file, so a refusal costs one round trip and no session.
   */
  async #selectProbing(command: CommandApdu): Promise<ResponseApdu> {
    if (this.#chipExtends !== null || this.#messaging !== null || !this.#extended)
      return await this.send(command);
    const long = await transmit(this.#transport, command, { extended: true });
    if (long.statusWord === statusWords.ok) {
      this.#chipExtends = true;
      return long;
    }
    const short = await this.send(command);
    if (short.statusWord === statusWords.ok) this.#chipExtends = false;
    else this.#fellSilentAtProbe = this.#foundMasterFile;
    return short;
  }

  async #readCardAccess(): Promise<Uint8Array> {
    const data = uintBytes(chipFiles.CardAccess.fileId, 2);
    const selected = await this.send({ cla: 0, ins: 0xa4, p1: 0x02, p2: 0x0c, data });
    // Where the file cannot be selected, its short identifier may still work.
    const shortId = selected.statusWord === statusWords.ok ? 0 : 0x80 | chipFiles.CardAccess.shortId;
    return await readWholeFile({
      select: async () => {},
      leave: async () => {},
      send: (command) =>
        this.send(command.p1 === 0 && command.p2 === 0 ? { ...command, p1: shortId } : command),
      blockBytes: () => 128,
      stepDown: () => false,
      reopen: () => Promise.resolve(false),
      waitsForReturn: () => false,
      onRead: () => {},
      maxFileBytes: 16_384,
      name: "CardAccess",
    });
  }

  /** Some chips refuse this although they have the next file, so a refusal is no error. */
  async #selectMasterFile(): Promise<void> {
    let answer = await this.send(selectMasterFile);
    if (answer.statusWord !== statusWords.ok)
      answer = await this.send({ cla: 0, ins: 0xa4, p1: 0, p2: 0x0c });
    if (answer.statusWord !== statusWords.ok) return;
    this.#inApplication = false;
    this.#foundMasterFile = true;
  }

  async #selectApplication(): Promise<void> {
    const answer = await this.#selectProbing(selectApplication);
    // If the phone has already selected it, some chips refuse a second SELECT.
    if (answer.statusWord !== statusWords.ok && this.#inApplication && this.#messaging === null) return;
    requireOk(answer, "SELECT of the travel document application");
    this.#inApplication = true;
  }

  async #openWithPace(offers: readonly PaceOffer[]): Promise<boolean> {
    this.#onProgress({ kind: "opening", method: "PACE" });
    const password: PacePassword =
      "can" in this.#accessKey
        ? { kind: "can", can: this.#accessKey.can }
        : { kind: "mrz", mrzInformation: mrzInformation(this.#accessKey.mrz) };
    const ambiguous = new Set(offers.map((offer) => offer.parameterId)).size > 1;
    let problem: EmrtdError | null = null;
    for (const offer of offers.slice(0, 3)) {
      try {
        const pace = await performPace((command) => this.send(command), {
          ...offer,
          parameterIdOptional: !ambiguous,
          password,
          random: this.#random,
        });
        this.#messaging = pace.messaging;
        await this.#selectApplication();
        this.#pace = pace;
        this.#opened("PACE");
        return true;
      } catch (error) {
        this.#messaging = null;
        // A wrong key is wrong for every variant, and every try may count against the person.
        if (!isEmrtdError(error) || error.code === "CHIP_LOST" || error.code === "ACCESS_KEY_INVALID")
          throw error;
        problem ??= error;
      }
    }
    if ("can" in this.#accessKey && problem !== null) throw problem;
    return false;
  }

  async #openWithBac(information: string): Promise<void> {
    await this.#selectApplication();
    this.#onProgress({ kind: "opening", method: "BAC" });
    try {
      this.#messaging = await performBac((command) => this.send(command), information, this.#random);
    } catch (error) {
      // Documents from before BAC became common are open to everybody.
      const unsupported = [
        statusWords.instructionNotSupported,
        statusWords.classNotSupported,
        statusWords.functionNotSupported,
      ];
      if (!isEmrtdError(error) || !unsupported.some((word) => word === error.statusWord)) throw error;
      // A chip that had a session requires access control; it refuses another session.
      if (this.#guarded) throw error;
      this.#opened("none");
      return;
    }
    this.#opened("BAC");
  }

  #opened(method: AccessMethod): void {
    this.#method = method;
    if (method !== "none") this.#guarded = true;
    this.#onProgress({ kind: "opened", method });
  }

  #blockBytes(): number {
    const nominal = readLadder[this.#rung] ?? 128;
    const most = Math.min(this.#transport.maxResponseBytes, this.#chipMaxResponseBytes ?? Infinity) - 2;
    const answerBytes = this.#extended ? most : Math.min(256, this.#transport.maxResponseBytes - 2);
    const messaging = this.#messaging;
    const carried =
      messaging === null ? answerBytes : maxProtectedRead(answerBytes, messaging.suite.blockBytes);
    return Math.max(1, Math.min(nominal, carried));
  }

  /** The next smaller size; false when there is none left. */
  #stepDown(): boolean {
    const before = this.#blockBytes();
    while (this.#rung < readLadder.length - 1) {
      this.#rung++;
      // From the second rung on everything fits into short commands, which every chip understands.
      this.#shortOnly = true;
      if (this.#blockBytes() < before) return true;
    }
    return false;
  }

  async #reopen(file: ChipFileName): Promise<boolean> {
    if (this.#reopenings++ >= maxReopenings) return false;
    this.#onProgress({ kind: "reopening", file });
    try {
      await this.open();
    } catch (error) {
      // A document placed by hand may slip again before it is open.
      if (!isEmrtdError(error) || error.code !== "CHIP_LOST" || !this.#waitsForReturn(error)) throw error;
      return await this.#reopen(file);
    }
    return true;
  }
}
