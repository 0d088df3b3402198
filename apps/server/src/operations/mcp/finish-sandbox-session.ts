import { CallError } from "@assay/contract/client";
import { type ErrorCode, errorTable } from "@assay/contract/errors";
import type { OrganizationId, SessionId } from "@assay/contract/ids";
import type { WalletOutcome } from "@assay/credential/test-country/wallet-outcomes";
import { type DeviceOutcome, runDevice } from "@assay/device/run-device";
import { runWallet, type TestWallet } from "@assay/device/run-wallet";
import { DeviceError } from "@assay/device/verification-url";
import { virtualPassport } from "@assay/device/virtual-passport";
import { testDocument } from "@assay/emrtd/node/test-country/catalogue";
import type { Core } from "../../platform/core.ts";
import { ApiError, badField } from "../../platform/kernel/api-error.ts";
import type { Tenant } from "../../platform/kernel/caller.ts";
import { secondMs } from "../../platform/kernel/clock.ts";
import { KeyedSlots } from "../../platform/lib/keyed-slots.ts";
import { findSession, type SessionRow } from "../../verification/sessions/session.store.ts";

export const sandboxDeviceLimits = {
  /**
   * A device needs about half a second. With half of this, a busy machine may fail. With twice this, two
   * calls exceed the minute after which agents give up.
   */
  seconds: 20,
  /**
   * Concurrent devices in one process. With half, two agents wait for each other. With twice as many, their
   * chips take the processor from requests.
   */
  atOnce: 4,
  /** Concurrent devices of one organization, so that others find a slot. */
  forEach: 2,
} as const;

export type Finish = {
  sessionId: SessionId;
  /** Decides how the session ends: a test document by its id, or a credential in the test wallet. */
  by: { kind: "document"; id: string } | { kind: "wallet"; credential: TestWallet; outcome: WalletOutcome };
  /** Optional fields that the person does not share. */
  decline: readonly string[];
};

/**
 * Finishes sandbox sessions as a person with a test document or the test wallet would. The device runs in
 * this process but uses only the public interface, over the network: consent, handoff, claim, socket. So it
 * cannot bring a session into a state that a person could not, and it cannot finish a live session.
 */
export class SandboxDevices {
  readonly #core: Pick<Core, "db" | "clock">;
  readonly #ownUrl: () => string;
  readonly #all = new KeyedSlots<"all">(sandboxDeviceLimits.atOnce);
  readonly #each = new KeyedSlots<OrganizationId>(sandboxDeviceLimits.forEach);
  readonly #stopped = new AbortController();

  /**
   * `ownUrl` is the address on which this process listens. The public address may lead to another process, or
   * be unreachable from here.
   */
  constructor(core: Pick<Core, "db" | "clock">, ownUrl: () => string) {
    this.#core = core;
    this.#ownUrl = ownUrl;
  }

  async finish(tenant: Tenant, finish: Finish, gone: AbortSignal): Promise<SessionRow> {
    const { db } = this.#core;
    const session = await findSession(db, tenant, finish.sessionId);
    if (session === null) throw new ApiError("SESSION_NOT_FOUND");
    if (!session.sandbox)
      throw new ApiError("SESSION_IS_LIVE", {
        message: "The session is live: only the person can finish it.",
        hint: "Send the person to its `verification_url`. For a test, create a sandbox session.",
      });
    const run = this.#runOf(finish);
    const leave = this.#takeSlots(tenant.organizationId);
    try {
      const signal = AbortSignal.any([
        gone,
        this.#stopped.signal,
        AbortSignal.timeout(sandboxDeviceLimits.seconds * secondMs),
      ]);
      await run(`${this.#ownUrl()}/verify/${session.id}`, signal);
    } catch (error) {
      throw refusalOf(error);
    } finally {
      leave();
    }
    const ended = await findSession(db, tenant, session.id);
    if (ended === null) throw new ApiError("SESSION_NOT_FOUND");
    return ended;
  }

  #runOf({ by, decline }: Finish): (verificationUrl: string, signal: AbortSignal) => Promise<void> {
    const { clock } = this.#core;
    const sendUntil =
      (signal: AbortSignal): typeof fetch =>
      (url, init) =>
        fetch(url, { ...init, signal });
    if (by.kind === "wallet")
      return async (verificationUrl, signal) => {
        const { credential: wallet, outcome } = by;
        const now = () => clock.now();
        await runWallet({ verificationUrl, wallet, outcome, now, decline, fetch: sendUntil(signal) });
      };
    const document = testDocument(by.id, clock.now());
    if (document === null) throw badField("document", "is not the id of a test document");
    const chip = virtualPassport(document);
    return async (verificationUrl, signal) =>
      refuseUnfinished(await runDevice({ verificationUrl, chip, decline, signal, fetch: sendUntil(signal) }));
  }

  /** Stops the devices with the service: they would wait for its return while the service waits for them. */
  stop(): void {
    this.#stopped.abort();
  }

  #takeSlots(organizationId: OrganizationId): () => void {
    const own = this.#each.take(organizationId);
    const shared = own === null ? null : this.#all.take("all");
    if (own === null || shared === null) {
      own?.();
      throw new ApiError("SERVICE_UNAVAILABLE", {
        message: "Too many test sessions are being finished at the moment.",
        headers: { "retry-after": "1" },
      });
    }
    return () => {
      own();
      shared();
    };
  }
}

function refuseUnfinished(outcome: DeviceOutcome): void {
  if (outcome.kind === "succeeded" || outcome.kind === "failed") return;
  throw new ApiError("SERVICE_UNAVAILABLE", {
    message: `The test device could not go on (${"code" in outcome ? outcome.code : outcome.kind}).`,
  });
}

/** The caller gets the error that the public interface returned to the device. */
function refusalOf(error: unknown): unknown {
  if (error instanceof CallError && isErrorCode(error.code))
    return new ApiError(error.code, { message: error.message, hint: error.hint });
  if (error instanceof DeviceError) return new ApiError("TEST_DEVICE_REFUSED", { message: error.message });
  if (error instanceof DOMException && ["TimeoutError", "AbortError"].includes(error.name))
    return new ApiError("SERVICE_UNAVAILABLE", {
      message: "The test device did not finish in time.",
    });
  return error;
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code);
}
