/** Types of `/embed/v1.js`, which puts `Assay` into the window. */
type AssayStatus = "created" | "in_progress" | "succeeded" | "failed" | "expired" | "cancelled";

/** What the page is at. It is for the look of your page: the outcome comes from the API or a webhook, never from here. */
type AssayState = {
  sessionId: `vs_${string}`;
  /** Null until the frame has told. */
  status: AssayStatus | null;
  /** Null until the frame has told, and at an end without success. Other steps than these may come: treat one that you do not know as "under way". */
  step: "consent" | "chip" | "face" | "done" | (string & {}) | null;
};

type AssayOptions = {
  /** `verification_url` of a session that was created with the `embed_origin` of this page. */
  verificationUrl: string;
  /** An element, or a selector of one: the frame stands in it. Left out: a dialogue over the page. */
  container?: Element | string;
  /** Texts of the script itself, in the language of your page. */
  words?: { title?: string; close?: string; openTab?: string };
  /** The verification is shown. */
  onReady?: (state: AssayState) => void;
  /** Status or step is another one. */
  onChange?: (state: AssayState) => void;
  /** The session has ended, well or not: `status` says how, and your server must ask whether it is true. The person is still reading. */
  onDone?: (state: AssayState) => void;
  /** The frame could not be shown. In its place stands a link that opens the verification in a tab. */
  onFailure?: (problem: { sessionId: `vs_${string}`; reason: "not_loaded" }) => void;
  /** The frame is gone: the person went on or closed it, or you did. The session may still be open. */
  onClose?: (state: AssayState) => void;
};

type AssayFrame = {
  sessionId: `vs_${string}`;
  frame: HTMLIFrameElement;
  /** Takes the frame away. The session goes on; cancel it through the API if you want it ended. */
  close(): void;
};

declare const Assay: { readonly version: 1; open(options: AssayOptions): AssayFrame };
