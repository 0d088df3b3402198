import assert from "node:assert/strict";
import type { DeviceMessage, ServiceMessage } from "@assay/contract/verify-socket";
import { claimAttempt } from "@assay/device/claim-attempt";
import { DeviceConnection } from "@assay/device/device-connection";
import type { OpenedChip } from "@assay/device/drive-device";
import { sendFiles } from "@assay/device/send-artifacts";
import { virtualPassport } from "@assay/device/virtual-passport";
import { testDocument as makeTestDocument } from "@assay/emrtd/node/test-country/catalogue";
import {
  createTestCountry,
  defaultTestSeed,
  testCountryTrust,
} from "@assay/emrtd/node/test-country/test-country";
import type { TestDocument } from "@assay/emrtd/virtual/test-document";
import type { Core } from "../../src/platform/core.ts";
import type { Clock } from "../../src/platform/kernel/clock.ts";
import { describeImport } from "../../src/verification/trust/describe-import.ts";
import { changeTrust, insertImport } from "../../src/verification/trust/trust.store.ts";
import { type Api, expectData } from "./api.ts";
import { agree } from "./verify.ts";

const made = new Map<string, TestDocument>();

export function testDocument(id: string, now: Date): TestDocument {
  const name = `${id} ${now.getUTCFullYear()}`;
  const document = made.get(name) ?? makeTestDocument(id, now) ?? assert.fail(`no test document ${id}`);
  made.set(name, document);
  return document;
}

/** The test country stands in for the states that an operator trusts. */
export async function trustTestCountry({ core, clock }: { core: Pick<Core, "db">; clock: Clock }) {
  const [record] = testCountryTrust(createTestCountry(defaultTestSeed, clock.now()));
  assert.ok(record !== undefined);
  await changeTrust(core.db, clock.now(), "command", async (tx) =>
    (await insertImport(tx, record, 0, "command")) ? [describeImport(record)] : [],
  );
}

/** A session that a device has claimed, up to the point where the socket is opened. */
export async function claimedSession(api: Api, body: Record<string, unknown> = {}) {
  const session = expectData(await api.post("/v1/sessions", body), 201);
  // A device agrees in the sandbox only; in live the person does, on the page.
  if (!session.sandbox) await agree(api, session.id, Object.keys(session.share_fields));
  const claimed = await claimAttempt({
    verificationUrl: session.verification_url,
    ...(session.sandbox ? {} : { consent: "given" as const }),
  });
  if ("stopped" in claimed) return assert.fail("the claim was not made");
  return { session, ...claimed };
}

/**
 * How long a device waits for a message of the service. Too small: an overloaded machine fails good tests.
 * Too large: a silent service is noticed later.
 */
const patienceMs = 60_000;

type Heard = { message: ServiceMessage } | { closed: string };

/** A connection as a queue of received messages. */
class HeardConnection {
  readonly #connection: DeviceConnection;
  readonly #heard: Heard[] = [];
  #waiting: ((heard: Heard) => void) | null = null;

  private constructor(baseUrl: string, sessionId: string, opened: () => void) {
    this.#connection = new DeviceConnection(baseUrl, sessionId, {
      opened,
      heard: (message) => this.#push({ message }),
      closed: (reason, status) => {
        // A refused socket counts as a closed one.
        opened();
        this.#push({ closed: reason || String(status) });
      },
    });
  }

  static async open(baseUrl: string, sessionId: string): Promise<HeardConnection> {
    const opened = Promise.withResolvers<void>();
    const connection = new HeardConnection(baseUrl, sessionId, opened.resolve);
    await opened.promise;
    return connection;
  }

  #push(heard: Heard): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting) waiting(heard);
    else this.#heard.push(heard);
  }

  /** The next message, or the end repeatedly after it. A silent service fails the test. */
  next(): Promise<Heard> {
    const heard = this.#heard[0];
    if (heard === undefined)
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          this.#waiting = null;
          reject(new Error(`the service said nothing for ${patienceMs / 1000} seconds`));
        }, patienceMs);
        this.#waiting = (next) => {
          clearTimeout(timer);
          resolve(next);
        };
      });
    if ("message" in heard || this.#heard.length > 1) this.#heard.shift();
    return Promise.resolve(heard);
  }

  send(message: DeviceMessage): void {
    this.#connection.send(message);
  }

  sendText(text: string): void {
    this.#connection.sendText(text);
  }

  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    this.#connection.sendBytes(bytes);
  }

  close(): void {
    this.#connection.close();
  }
}

/** A device under the test's control: it does anything, in any order. */
export class TestDevice {
  readonly connection: HeardConnection;
  chip: OpenedChip | null = null;

  constructor(connection: HeardConnection) {
    this.connection = connection;
  }

  static async connect(baseUrl: string, sessionId: string, token?: string): Promise<TestDevice> {
    const device = new TestDevice(await HeardConnection.open(baseUrl, sessionId));
    if (token !== undefined) device.send({ type: "hello", socket_token: token });
    return device;
  }

  send(message: DeviceMessage): void {
    this.connection.send(message);
  }

  /** The next message of this type; earlier ones are skipped. */
  async expect<T extends ServiceMessage["type"]>(type: T): Promise<Extract<ServiceMessage, { type: T }>> {
    for (;;) {
      const event = await this.connection.next();
      if ("closed" in event) return assert.fail(`the socket was closed with ${event.closed} before ${type}`);
      if (event.message.type === type) return event.message as Extract<ServiceMessage, { type: T }>;
    }
  }

  /** The reason with which the service closes the socket. */
  async closed(): Promise<string> {
    for (;;) {
      const event = await this.connection.next();
      if ("closed" in event) return event.closed;
    }
  }

  async read(document: TestDocument) {
    this.chip = await virtualPassport(document)(() => {});
    return await this.chip.readFiles();
  }

  /** The whole chip step, answered honestly. */
  async passChip(document: TestDocument, firstArtifact = 1) {
    sendFiles(this.connection, await this.read(document), firstArtifact);
    for (;;) {
      const event = await this.connection.next();
      if ("closed" in event) return assert.fail(`closed with ${event.closed}`);
      const { message } = event;
      if (message.type === "step_result" || message.type === "outcome" || message.type === "fault")
        return message;
      if (message.type === "chip_command") await this.answer(message);
    }
  }

  async answer(command: Extract<ServiceMessage, { type: "chip_command" }>): Promise<DeviceMessage> {
    assert.ok(this.chip !== null);
    const answers = await this.chip.answer(command);
    assert.ok(answers !== "lost");
    const message: DeviceMessage = { type: "chip_answer", exchange: command.exchange, answers };
    this.send(message);
    return message;
  }
}
