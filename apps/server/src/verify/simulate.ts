import { randomUUID } from "node:crypto";
import { createClient, type Input, type Result } from "@assay/contract/client";
import type { RouteDefinition } from "@assay/contract/route";
import type { FailureCode } from "@assay/contract/sessions";
import {
  claimHandoff,
  createHandoff,
  getConsentTexts,
  getVerifyDetails,
  giveConsent,
} from "@assay/contract/verify";
import {
  artifactFrames,
  type ChipFile,
  chipFiles,
  type FaceMode,
  type VerifyPhase,
  verifySocketLimits,
  verifySocketPath,
  verifySubprotocol,
} from "@assay/contract/verify-protocol";
import type { DeviceMessage, ServiceMessage } from "@assay/contract/verify-socket";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import type { Chip } from "@assay/emrtd/reader/open-chip";

/**
 * A reading device without a screen: it speaks HTTP and WebSocket to the service and nothing else, like any other
 * device. The partner's simulator and the desk reader are made of it.
 */

export const stopSteps = ["consent", "handoff", "claim", "chip", "face"] as const;
export type StopStep = (typeof stopSteps)[number];

/** Where a chip comes from; called again when it has to be opened anew. */
export type ChipSource = {
  open(): Promise<Chip>;
  /** The files as they are to be sent. */
  read(chip: Chip): Promise<Readonly<Partial<Record<ChipFile, Uint8Array>>>>;
};

export type FaceChallengeMessage = Extract<ServiceMessage, { type: "face_challenge" }>;

/** What a camera sees while the challenge runs: each picture as a JPEG, given out when it is taken. */
export type CameraSource = (
  challenge: FaceChallengeMessage,
) => AsyncIterable<{ readonly jpeg: Uint8Array; readonly atMs: number }>;

export type DeviceRun = {
  verificationUrl: string;
  chip: ChipSource;
  /** Without one, the test document decides in the sandbox, and the face of a live session has to be shown elsewhere. */
  camera?: CameraSource;
  /** `ask`, the default: agree in the person's name, as a simulation does. `given`: the person has done so on the page. */
  consent?: "ask" | "given";
  /** Optional fields that the person does not agree to share. */
  decline?: readonly string[];
  stopAfter?: StopStep;
  onStep?: (step: string) => void;
  /** For tests: what makes the calls. */
  fetch?: typeof fetch;
};

export type DeviceOutcome =
  | { result: "succeeded"; sessionId: string }
  | { result: "failed"; sessionId: string; failureCode: FailureCode | null }
  /** As asked for with `stopAfter`. */
  | { result: "stopped"; sessionId: string; after: StopStep }
  /** The chip has passed. A browser that opens `url` soon goes on in this device's place. */
  | { result: "face_elsewhere"; sessionId: string; url: string }
  /** The service could not carry it out; nothing was counted. */
  | { result: "fault"; sessionId: string; code: string; message: string }
  | { result: "closed"; sessionId: string; code: string };

/** Something that whoever started the device can mend. */
export class DeviceError extends Error {}

export function parseVerificationUrl(text: string): { baseUrl: string; sessionId: string } {
  const url = URL.parse(text);
  const match = /^(.*)\/verify\/(vs_[A-Za-z0-9]{64})$/.exec(url?.pathname ?? "");
  if (url === null || !["http:", "https:"].includes(url.protocol) || match === null)
    throw new DeviceError("This is not the verification_url of a session.");
  return { baseUrl: `${url.origin}${match[1] ?? ""}`, sessionId: match[2] ?? "" };
}

/** Consent, handoff and claim: everything up to the socket. */
export async function claimAttempt(
  run: Pick<DeviceRun, "verificationUrl" | "consent" | "decline" | "stopAfter" | "onStep" | "fetch">,
): Promise<
  { sessionId: string; baseUrl: string; socketToken: string } | { stopped: StopStep; sessionId: string }
> {
  const { baseUrl, sessionId } = parseVerificationUrl(run.verificationUrl);
  const call = createClient({ baseUrl, fetch: run.fetch ?? fetch });
  const params = { id: sessionId };
  const ask = async <const R extends RouteDefinition>(route: R, input: object): Promise<Result<R>["data"]> =>
    (await call(route, input as Input<R>)).data;

  const details = await ask(getVerifyDetails, { params });
  if (run.consent !== "given" && !details.consent?.fixed) {
    if (!details.sandbox)
      throw new DeviceError("Only the person can agree to share, on the page of the session.");
    const decline = new Set(run.decline ?? []);
    for (const key of decline) {
      const field = details.share_fields[key];
      if (field === undefined) throw new DeviceError(`The session does not ask for ${key}.`);
      if (field.required) throw new DeviceError(`${key} is required and cannot be declined.`);
    }
    const texts = await ask(getConsentTexts, {});
    const selected = Object.keys(details.share_fields).filter((key) => !decline.has(key));
    await ask(giveConsent, {
      params,
      body: { selected_field_keys: selected, terms_version: texts.version },
    });
  }
  run.onStep?.("consent");
  if (run.stopAfter === "consent") return { stopped: "consent", sessionId };
  const handoff = await ask(createHandoff, { params, body: {} });
  run.onStep?.("handoff");
  if (run.stopAfter === "handoff") return { stopped: "handoff", sessionId };
  const claimed = await ask(claimHandoff, {
    params,
    body: { handoff_token: handoff.handoff_token, device_id: randomUUID() },
  });
  run.onStep?.("claim");
  if (run.stopAfter === "claim") return { stopped: "claim", sessionId };
  return { sessionId, baseUrl, socketToken: claimed.socket_token };
}

export function describeOutcome(outcome: DeviceOutcome): string {
  switch (outcome.result) {
    case "succeeded":
      return "Succeeded.";
    case "failed":
      return `Failed: ${outcome.failureCode}.`;
    case "stopped":
      return `Stopped after ${outcome.after}, as asked.`;
    case "face_elsewhere":
      return `The chip has passed. Within ${verifySocketLimits.resumeMs / 60_000} minutes, open this in a browser with a camera, and show the face there: ${outcome.url}`;
    case "fault":
      return `The service could not carry it out (${outcome.code}): ${outcome.message}`;
    case "closed":
      return `The service closed the socket: ${outcome.code}.`;
  }
}

/** The whole verification, from the link to the outcome. */
export async function runDevice(run: DeviceRun): Promise<DeviceOutcome> {
  const claimed = await claimAttempt(run);
  if ("stopped" in claimed)
    return { result: "stopped", sessionId: claimed.sessionId, after: claimed.stopped };
  const { baseUrl, sessionId, socketToken } = claimed;
  const socket = await DeviceConnection.open(baseUrl, sessionId);
  try {
    socket.send({ type: "hello", socket_token: socketToken });
    const outcome = await converse(socket, run, sessionId);
    if (outcome.result !== "needs_camera") return outcome;
    return {
      result: "face_elsewhere",
      sessionId,
      url: `${run.verificationUrl}#socket=${encodeURIComponent(socketToken)}`,
    };
  } finally {
    socket.close();
  }
}

/** Far from the numbers of the chip's files. */
const firstFrameArtifact = 1000;

async function converse(
  socket: DeviceConnection,
  run: DeviceRun,
  sessionId: string,
): Promise<DeviceOutcome | { result: "needs_camera" }> {
  let chip: Chip | null = null;
  let faceMode: FaceMode = "unavailable";
  const readAndSend = async () => {
    chip = await run.chip.open();
    sendFiles(socket, await run.chip.read(chip));
  };
  let nextFrame = firstFrameArtifact;
  /** Does what the phase asks of the device. False when that takes a camera, and there is none. */
  const takeTurn = async (phase: VerifyPhase): Promise<boolean> => {
    if (phase === "chip") await readAndSend();
    if (phase.startsWith("face") && faceMode === "camera" && run.camera === undefined) return false;
    if (phase === "face")
      socket.send({ type: "face_start", ...(run.camera === undefined ? {} : { camera: true }) });
    return true;
  };
  for (;;) {
    const event = await socket.next();
    if ("closed" in event) return { result: "closed", sessionId, code: event.closed };
    const { message } = event;
    switch (message.type) {
      case "welcome":
        faceMode = message.face;
        if (!(await takeTurn(message.phase))) return { result: "needs_camera" };
        break;
      case "checking":
        run.onStep?.(message.busy ? "waiting" : message.phase);
        break;
      case "chip_command": {
        run.onStep?.(message.proof);
        // On a resumed socket there is no open chip yet.
        chip ??= await run.chip.open();
        const answers = await answerCommand(chip, message);
        if (answers === "lost") {
          chip = null;
          socket.send({ type: "chip_lost" });
        } else socket.send({ type: "chip_answer", exchange: message.exchange, answers });
        break;
      }
      case "step_result":
        run.onStep?.(
          message.passed
            ? `${message.step}_passed`
            : `${message.step}_failed (${message.failure_code}), ${message.tries_left[message.step]} left`,
        );
        if (message.passed && run.stopAfter === message.step)
          return { result: "stopped", sessionId, after: message.step };
        if (!(await takeTurn(message.phase))) return { result: "needs_camera" };
        break;
      case "face_challenge":
        if (run.camera === undefined) throw new DeviceError("A challenge came that was not asked for.");
        run.onStep?.(`face_capture (${message.movements.join(", ")})`);
        nextFrame = await sendFrames(socket, run.camera(message), nextFrame);
        break;
      case "fault":
        return { result: "fault", sessionId, code: message.code, message: message.message };
      case "outcome":
        return message.status === "succeeded"
          ? { result: "succeeded", sessionId }
          : { result: "failed", sessionId, failureCode: message.failure_code };
      case "closing":
        return { result: "closed", sessionId, code: message.code };
    }
  }
}

/** Announces and sends every file, then asks for the verdict. */
export function sendFiles(
  socket: Pick<DeviceConnection, "send" | "sendBytes">,
  files: Readonly<Partial<Record<ChipFile, Uint8Array>>>,
  firstArtifact = 1,
): void {
  let artifact = firstArtifact;
  for (const file of chipFiles) {
    const bytes = files[file];
    if (bytes === undefined) continue;
    socket.send({ type: "chip_file", artifact, file, size: bytes.length });
    for (const frame of artifactFrames(artifact, bytes)) socket.sendBytes(frame);
    artifact += 1;
  }
  socket.send({ type: "chip_done" });
}

/** Sends each picture as it comes, then asks for the verdict. Gives the number after the last one's. */
async function sendFrames(
  socket: Pick<DeviceConnection, "send" | "sendBytes">,
  frames: ReturnType<CameraSource>,
  firstArtifact: number,
): Promise<number> {
  let artifact = firstArtifact;
  for await (const { jpeg, atMs } of frames) {
    socket.send({ type: "face_frame", artifact, size: jpeg.length, at_ms: Math.round(atMs) });
    for (const frame of artifactFrames(artifact, jpeg)) socket.sendBytes(frame);
    artifact += 1;
  }
  socket.send({ type: "face_done" });
  return artifact;
}

type ChipCommandMessage = Extract<ServiceMessage, { type: "chip_command" }>;

/** Passes commands on to the chip. Everything but a chip that is gone is an answer, if only that there is none. */
export async function answerCommand(
  chip: Chip,
  { kind, commands }: Pick<ChipCommandMessage, "kind" | "commands">,
): Promise<string[] | "lost"> {
  const bytes = commands.map((command) => new Uint8Array(Buffer.from(command, "base64")));
  const [first = new Uint8Array()] = bytes;
  try {
    const answers =
      kind === "in_session"
        ? await chip.forwardInSession(bytes)
        : kind === "sealed"
          ? [await chip.forwardSealed(first)]
          : [await chip.activeAuthentication(first)];
    return answers.map((answer) => Buffer.from(answer).toString("base64"));
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    return error.code === "CHIP_LOST" ? "lost" : [];
  }
}

type ConnectionEvent = { message: ServiceMessage } | { closed: string };

/** A WebSocket as a queue of messages. */
export class DeviceConnection {
  readonly #socket: WebSocket;
  readonly #events: ConnectionEvent[] = [];
  #waiting: ((event: ConnectionEvent) => void) | null = null;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") this.#push({ message: JSON.parse(data) as ServiceMessage });
    });
    socket.addEventListener("close", ({ reason, code }) => this.#push({ closed: reason || String(code) }));
  }

  static open(baseUrl: string, sessionId: string): Promise<DeviceConnection> {
    const url = `${baseUrl.replace(/^http/, "ws")}${verifySocketPath(sessionId)}`;
    const socket = new WebSocket(url, verifySubprotocol);
    const connection = new DeviceConnection(socket);
    return new Promise((resolve, reject) => {
      socket.addEventListener("open", () => resolve(connection));
      socket.addEventListener("error", () => reject(new DeviceError("The service did not open the socket.")));
    });
  }

  #push(event: ConnectionEvent): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting) waiting(event);
    else this.#events.push(event);
  }

  /** The next message. After the end, the end again. */
  next(): Promise<ConnectionEvent> {
    const event = this.#events[0];
    if (event === undefined)
      return new Promise((resolve) => {
        this.#waiting = resolve;
      });
    if ("message" in event || this.#events.length > 1) this.#events.shift();
    return Promise.resolve(event);
  }

  send(message: DeviceMessage): void {
    this.sendText(JSON.stringify(message));
  }

  sendText(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(bytes);
  }

  close(): void {
    this.#socket.close();
  }
}
