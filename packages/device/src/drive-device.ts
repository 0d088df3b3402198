import { CallError } from "@assay/contract/client";
import { framesToSign } from "@assay/contract/verify-protocol";
import type { ServiceMessage } from "@assay/contract/verify-socket";
import { fromBase64, toBase64 } from "@assay/emrtd/base64";
import type { ReadDocumentFiles } from "@assay/emrtd/reader/read-document";
import { problemOf } from "./answer-command.ts";
import { type ConnectionEvents, DeviceConnection } from "./device-connection.ts";
import { advance } from "./device-flow.ts";
import {
  type ChipCommand,
  type DeviceEffect,
  type DeviceInput,
  type DeviceState,
  type DeviceTimer,
  type FaceChallenge,
  type FrameAttestation,
  type ReadStep,
  startDevice,
  type UnattendedPlan,
} from "./device-state.ts";
import { type ChipFiles, sendFiles, sendFrame } from "./send-artifacts.ts";

/** A chip in the field, opened with the printed key of its document. */
export type OpenedChip = {
  readFiles(): Promise<ReadDocumentFiles>;
  /** Answers as base64; "lost" when the chip left the field. Rejects when the fault is this device's. */
  answer(command: Pick<ChipCommand, "kind" | "commands">): Promise<string[] | "lost">;
  reopen(): Promise<void>;
  release(): void;
};

/** Opens a document. The caller knows whether it is a software chip or a real one. */
export type ChipSource = (onStep: (step: ReadStep) => void) => Promise<OpenedChip>;

/** Yields JPEG frames until the movements are over or the signal aborts. */
export type FaceCapture = (
  challenge: FaceChallenge,
  sendFrame: (jpeg: Uint8Array, atMs: number) => void,
  signal: AbortSignal,
) => Promise<void>;

/** An app that can have the phone's secure hardware vouch for the frames it sends. */
export type FrameVoucher = {
  /** Makes a key for the nonce; resolves with its certificates, DER, up to the maker's root. */
  makeKey(nonce: Uint8Array): Promise<readonly Uint8Array[]>;
  /** ECDSA with SHA-256, DER, with the key that was made last. */
  sign(message: Uint8Array): Promise<Uint8Array>;
};

/**
 * The driver does not wait longer for the phone's attestation:
 * the challenge has a deadline, and frames count without it.
 */
const vouchMs = 2000;

type DriverNeeds = {
  baseUrl: string;
  sessionId: string;
  /** Claims the session for this device, or resumes it; resolves with a token for the socket. */
  claim(): Promise<string>;
  /** Stores the token where it outlives this driver; null removes it. */
  keepToken?(token: string | null): void;
  onChange?(state: DeviceState): void;
  /** Reports a step, for a device without a screen. */
  onStep?(step: string): void;
  /** The error behind a problem of which the flow knows only the name. */
  onError?(error: unknown): void;
};

/** Carries out the effects of the device's flow and hands their results back to it, one after another. */
export class DeviceDriver {
  readonly #needs: DriverNeeds;
  readonly #inputs: DeviceInput[] = [];
  readonly #timers = new Map<DeviceTimer, ReturnType<typeof setTimeout>>();
  #state: DeviceState;
  #working = false;
  #connection: DeviceConnection | null = null;
  #artifact = 1;
  #source: ChipSource | null = null;
  #chip: OpenedChip | null = null;
  #files: ChipFiles | null = null;
  /** Counts released chips, so that one that opens too late is noticed. */
  #released = 0;
  #capture: FaceCapture | null = null;
  #capturing: AbortController | null = null;
  #voucher: FrameVoucher | null = null;
  /** Digests of the frames sent in this capture, in order. */
  #frameDigests: Promise<ArrayBuffer>[] = [];

  constructor(needs: DriverNeeds, plan: UnattendedPlan | null = null) {
    this.#needs = needs;
    this.#state = startDevice(plan);
  }

  get state(): DeviceState {
    return this.#state;
  }

  /** The chip that `read_chip` reads. */
  setChip(source: ChipSource): void {
    this.#source = source;
  }

  /** The camera that a challenge is answered with. */
  setCamera(capture: FaceCapture): void {
    this.#capture = capture;
  }

  setVoucher(voucher: FrameVoucher | null): void {
    this.#voucher = voucher;
  }

  feed(input: DeviceInput): void {
    this.#inputs.push(input);
    // An effect may have its result at once; that is handled after the other effects of the same step.
    if (this.#working) return;
    this.#working = true;
    try {
      for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift()) {
        const { state, effects } = advance(this.#state, next, Date.now());
        const changed = state !== this.#state;
        this.#state = state;
        for (const effect of effects) this.#carryOut(effect);
        if (changed) this.#needs.onChange?.(state);
      }
    } finally {
      this.#working = false;
    }
  }

  #carryOut(effect: DeviceEffect): void {
    switch (effect.kind) {
      case "claim":
        void this.#claim(effect.job);
        return;
      case "keep_token":
        this.#needs.keepToken?.(effect.token);
        return;
      case "connect":
        this.#connect();
        return;
      case "disconnect":
        this.#connection?.close();
        this.#connection = null;
        return;
      case "send":
        this.#connection?.send(effect.message);
        return;
      case "send_files":
        if (this.#connection !== null && this.#files !== null)
          this.#artifact = sendFiles(this.#connection, this.#files, this.#artifact);
        return;
      case "send_frame":
        if (this.#connection === null) return;
        sendFrame(this.#connection, this.#artifact++, effect.jpeg, effect.atMs);
        if (this.#voucher !== null)
          this.#frameDigests.push(crypto.subtle.digest("SHA-256", Uint8Array.from(effect.jpeg)));
        return;
      case "read_chip":
        void this.#readChip(effect.job);
        return;
      case "reopen_chip":
        void this.#withChip(effect.job, async (chip) => {
          await chip.reopen();
          return { kind: "chip_reopened", job: effect.job };
        });
        return;
      case "pass_on":
        void this.#withChip(effect.job, async (chip) => {
          if (effect.reopenFirst) await chip.reopen();
          const answers = await chip.answer(effect.command);
          return answers === "lost"
            ? { kind: "chip_lost", job: effect.job }
            : { kind: "chip_answered", job: effect.job, answers };
        });
        return;
      case "release_chip":
        this.#released += 1;
        this.#chip?.release();
        this.#chip = null;
        overwrite(this.#files);
        this.#files = null;
        return;
      case "start_capture":
        void this.#takePictures(effect.job, effect.challenge);
        return;
      case "abort_capture":
        this.#capturing?.abort();
        this.#capturing = null;
        return;
      case "set_timer": {
        const { timer, ms } = effect;
        clearTimeout(this.#timers.get(timer));
        this.#timers.set(
          timer,
          setTimeout(() => this.feed({ kind: "timer", timer }), ms),
        );
        return;
      }
      case "clear_timer":
        clearTimeout(this.#timers.get(effect.timer));
        return;
      case "report":
        this.#needs.onStep?.(effect.step);
        return;
    }
  }

  async #claim(job: number): Promise<void> {
    let result: DeviceInput;
    try {
      result = { kind: "claimed", job, token: await this.#needs.claim() };
    } catch (error) {
      result = { kind: "claim_failed", job, code: error instanceof CallError ? error.code : null };
    }
    this.feed(result);
  }

  #connect(): void {
    // Files and frames are numbered from 1 on every socket.
    this.#artifact = 1;
    const events: ConnectionEvents = {
      opened: () => this.feed({ kind: "connected" }),
      heard: (message: ServiceMessage) => this.feed({ kind: "message", message }),
      closed: (reason) => {
        this.#connection = null;
        this.feed({ kind: "closed", reason });
      },
    };
    this.#connection = new DeviceConnection(this.#needs.baseUrl, this.#needs.sessionId, events);
  }

  async #readChip(job: number): Promise<void> {
    const before = this.#released;
    try {
      if (this.#source === null) throw new Error("There is no chip to read");
      const chip = await this.#source((step) => this.feed({ kind: "chip_step", job, step }));
      if (this.#released !== before) {
        chip.release();
        return;
      }
      this.#chip = chip;
      const files = await chip.readFiles();
      if (this.#released !== before) {
        overwrite(files);
        return;
      }
      this.#files = files;
    } catch (error) {
      this.#failed(job, error);
      return;
    }
    this.feed({ kind: "chip_read", job });
  }

  async #withChip(job: number, work: (chip: OpenedChip) => Promise<DeviceInput>): Promise<void> {
    let result: DeviceInput;
    try {
      if (this.#chip === null) throw new Error("There is no chip to pass commands on to");
      result = await work(this.#chip);
    } catch (error) {
      this.#failed(job, error);
      return;
    }
    this.feed(result);
  }

  #failed(job: number, error: unknown): void {
    this.#needs.onError?.(error);
    this.feed({ kind: "chip_failed", job, problem: problemOf(error) });
  }

  async #takePictures(job: number, challenge: FaceChallenge): Promise<void> {
    const capturing = new AbortController();
    this.#capturing = capturing;
    this.#frameDigests = [];
    const vouch = this.#beginVouching(challenge);
    try {
      if (this.#capture === null) throw new Error("There is no camera");
      const take = (jpeg: Uint8Array, atMs: number) => this.feed({ kind: "frame", job, jpeg, atMs });
      await this.#capture(challenge, take, capturing.signal);
    } catch (error) {
      this.#needs.onError?.(error);
      this.feed({ kind: "capture_failed", job });
      return;
    }
    this.feed({ kind: "capture_over", job, attestation: await vouch() });
  }

  /** The key is made while the person moves. Whatever goes wrong with it, the frames are judged. */
  #beginVouching({ nonce }: FaceChallenge): () => Promise<FrameAttestation | null> {
    const voucher = this.#voucher;
    if (voucher === null || nonce === null) return async () => null;
    const made = voucher.makeKey(fromBase64(nonce));
    const failed = (error: unknown) => {
      this.#needs.onError?.(error);
      return null;
    };
    made.catch(failed);
    const sign = async (): Promise<FrameAttestation> => {
      const certificates = await made;
      const digests = await Promise.all(this.#frameDigests);
      const message = framesToSign(
        fromBase64(nonce),
        digests.map((digest) => new Uint8Array(digest)),
      );
      return { certificates: certificates.map(toBase64), signature: toBase64(await voucher.sign(message)) };
    };
    return () => Promise.race([sign().catch(failed), afterMs(vouchMs)]);
  }
}

function afterMs(ms: number): Promise<null> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(null), ms);
  });
}

/**
 * Freed memory keeps its contents until it is reused, and a page stays open for hours. So personal data is
 * overwritten once the chip has passed, and at any other end.
 */
function overwrite(files: ChipFiles | null): void {
  for (const bytes of Object.values(files ?? {})) bytes.fill(0);
}
