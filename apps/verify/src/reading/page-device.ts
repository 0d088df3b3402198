import { type DeviceView, viewOf } from "@assay/device/device-view";
import { type ChipSource, DeviceDriver, type FaceCapture } from "@assay/device/drive-device";
import type { SessionApi } from "../session/api.ts";
import type { Kept } from "../session/kept.ts";
import { shellVoucher } from "./frame-voucher.ts";

/** What decides about the face: camera frames, or in the sandbox the test document. */
export type FaceSource = FaceCapture | "test_document";

/** This page as a reading device: the device's flow with the page's storage, events and screens. */
export class PageDevice {
  readonly #kept: Kept;
  readonly #driver: DeviceDriver;
  readonly #listeners = new Set<() => void>();
  #view: DeviceView;

  constructor(api: SessionApi, kept: Kept) {
    this.#kept = kept;
    this.#driver = new DeviceDriver({
      baseUrl: location.origin,
      sessionId: api.sessionId,
      claim: async () => {
        const token = kept.reading?.handoffToken ?? (await api.handoff(kept.cancelToken)).handoff_token;
        return (await api.claim(token, kept.deviceId(), kept.returnCode)).socket_token;
      },
      keepToken: (socketToken) => {
        kept.reading = { handoffToken: kept.reading?.handoffToken ?? null, socketToken };
      },
      onChange: (state) => {
        this.#view = viewOf(state);
        for (const listener of this.#listeners) listener();
      },
    });
    this.#view = viewOf(this.#driver.state);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): DeviceView => this.#view;

  start(): void {
    window.addEventListener("online", this.#wake);
    document.addEventListener("visibilitychange", this.#wake);
    // A page that comes out of the back/forward cache has lost its socket there.
    window.addEventListener("pageshow", this.#wake);
    this.#driver.feed({ kind: "start", token: this.#kept.reading?.socketToken ?? null });
  }

  stop(): void {
    window.removeEventListener("online", this.#wake);
    document.removeEventListener("visibilitychange", this.#wake);
    window.removeEventListener("pageshow", this.#wake);
    this.#driver.feed({ kind: "stop" });
  }

  /** Aborts the chip's work, releases the chip and reconnects. No try is used, because nothing was judged. */
  beginAgain(): void {
    this.stop();
    this.start();
  }

  readonly #wake = () => {
    if (document.visibilityState === "visible") this.#driver.feed({ kind: "awake" });
  };

  retry(): void {
    this.#driver.feed({ kind: "retry" });
  }

  /** Reads the chip whole and sends it to be judged. */
  readChip(source: ChipSource): void {
    this.#driver.setChip(source);
    this.#driver.feed({ kind: "read_chip" });
  }

  /** `stillHead`: the person cannot turn the head. */
  startFace(source: FaceSource, { stillHead = false }: { stillHead?: boolean } = {}): void {
    if (source !== "test_document") this.#driver.setCamera(source);
    this.#driver.setVoucher(shellVoucher());
    this.#driver.feed({
      kind: "start_face",
      source: source === "test_document" ? source : stillHead ? "still_camera" : "camera",
    });
  }

  /** Ends what was started without a verdict, so that no try is used. */
  stopFace(): void {
    this.#driver.feed({ kind: "stop_face" });
  }

  /** The person starts over: verdict, fault and problem of the last try are cleared. */
  forgetSetbacks(): void {
    this.#driver.feed({ kind: "forget_setbacks" });
  }
}
