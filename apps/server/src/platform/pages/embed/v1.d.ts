/** Types of `/embed/v1.js`, which sets `window.Assay`. */
type AssayStatus = "created" | "in_progress" | "succeeded" | "failed" | "expired" | "cancelled";

/**
 * The progress of the verification. Use it only for the look of your page: take the outcome from the API or a
 * webhook.
 */
type AssayState = {
  sessionId: `vs_${string}`;
  /** Null until the frame has reported it. */
  status: AssayStatus | null;
  /**
   * Null until the frame has reported it, and after an end without success. New values may be added: treat an
   * unknown one as "in progress".
   */
  step: "consent" | "chip" | "face" | "done" | (string & {}) | null;
};

type AssayOptions = {
  /** `verification_url` of a session that was created with the `embed_origin` of this page. */
  verificationUrl: string;
  /** The element, or its selector, that contains the frame. Without it, a dialogue opens over the page. */
  container?: Element | string;
  /** Texts of the script itself, in the language of your page. */
  words?: { title?: string; close?: string; openTab?: string };
  /** The verification is shown. */
  onReady?: (state: AssayState) => void;
  /** The status or the step has changed. */
  onChange?: (state: AssayState) => void;
  /** The session has ended. Your server must confirm `status` with the API. The person is still reading. */
  onDone?: (state: AssayState) => void;
  /** The frame could not be shown. A link that opens the verification in a tab replaces it. */
  onFailure?: (problem: { sessionId: `vs_${string}`; reason: "not_loaded" }) => void;
  /** The frame was removed: the person continued or closed it, or you did. The session may still be open. */
  onClose?: (state: AssayState) => void;
};

type AssayFrame = {
  sessionId: `vs_${string}`;
  frame: HTMLIFrameElement;
  /** Removes the frame. The session stays open; cancel it through the API to end it. */
  close(): void;
};

declare const Assay: { readonly version: 1; open(options: AssayOptions): AssayFrame };
