import { validateHeaderName, validateHeaderValue } from "node:http";
import { idLengths } from "@assay/contract/facts";
import { parseUrl } from "./base-url.ts";
import { type Arguments, type Command, CommandError } from "./command.ts";
import type { Receiver } from "./forward.ts";
import { Listening } from "./listening.ts";
import { readService, serviceEnvironment, serviceOptions } from "./reach-service.ts";
import { parseResponses } from "./respond.ts";
import { Screen } from "./screen.ts";
import { ServiceClient } from "./service.ts";
import { type Prepared, Slot, stateFolder } from "./state.ts";
import { printable } from "./style.ts";

const eventIdPattern = new RegExp(`^evt_[A-Za-z0-9]{${idLengths.evt}}$`);

export const listenCommand: Command = {
  name: "listen",
  about:
    "Receive webhooks on this machine, which need not be reachable. Registers a temporary endpoint with a new key pair, then verifies, decrypts, shows and forwards deliveries. Your receiver's answer counts as the answer to the service, retries included. Ctrl-C removes the endpoint. After a kill, the next start continues with the same endpoint and its waiting deliveries.",
  environment: `${serviceEnvironment} --forward-to is always direct. ASSAY_STATE_DIR is where the key pair is kept, NO_COLOR switches colours off.`,
  examples: [
    "listen --url https://id.example.com --key kk_… --forward-to localhost:4000/hook",
    "listen --print-secret",
    "listen --respond 500,timeout,200",
  ],
  exitCodes: {
    0: "Ended with Ctrl-C.",
    3: "The service refuses.",
    4: "The service cannot be reached.",
    5: "The endpoint was removed or taken over.",
  },
  options: {
    ...serviceOptions,
    key: { ...serviceOptions.key, about: "API key with the scopes webhooks:read and webhooks:write." },
    "forward-to": {
      type: "string",
      about:
        "Send each delivery on to this address, with the same headers and body. Without it, a delivery that verifies is answered with 200, any other with 401.",
      placeholder: "URL",
    },
    header: {
      type: "string",
      multiple: true,
      about: "Send this header on as well, for example 'Host: shop.test'. May be given several times.",
      placeholder: "'NAME: VALUE'",
    },
    "skip-verify": {
      type: "boolean",
      about: "Forward to an https address also where its certificate is not trusted here.",
    },
    decrypted: {
      type: "boolean",
      about: "Forward the plain event as JSON in place of the original request.",
    },
    events: { type: "string", about: "Only events of these types, comma separated.", placeholder: "TYPES" },
    respond: {
      type: "string",
      about:
        "Reply without a receiver: attempt 1 gets the first value, attempt 2 the second; the last value repeats. Statuses, or timeout, connection_failed, ….",
      placeholder: "500,timeout",
    },
    replay: {
      type: "string",
      about:
        "Send this event again now, as long as this endpoint did not take it. Where a listener with the same key runs already, it is sent to that one, and this command ends.",
      placeholder: "evt_…",
    },
    "print-secret": {
      type: "boolean",
      about:
        "Print the signing secret that the next start on this machine uses, and end. With --json also where the private key is.",
    },
    print: { type: "boolean", about: "Show the decrypted events also when they are forwarded." },
    json: {
      type: "boolean",
      about: "One JSON text per line on the standard output; all else goes to the standard error.",
    },
  },
  run: async ({ options, lists }, print) => {
    const env = process.env;
    const needs = "an API key with the scopes webhooks:read and webhooks:write";
    const { url, key } = readService(options, env, needs);
    const forwardTo = readReceiver({ options, lists });
    const responses = typeof options.respond === "string" ? parseResponses(options.respond) : null;
    if (forwardTo !== null && responses !== null)
      throw new CommandError("--forward-to and --respond exclude each other: one of them answers.");
    const replay = readEventId(options.replay);
    const isSecretAsked = options["print-secret"] === true;
    const { slot, running } = takeSlot(url, key);
    try {
      const listening = new Listening({
        service: new ServiceClient(url, key, env),
        slot,
        // The standard output holds only what a script reads.
        screen: new Screen(options.json === true || isSecretAsked, env),
        forwardTo,
        isDecrypted: options.decrypted === true,
        isPrinted: options.print === true || forwardTo === null,
        responses,
        eventTypes: readTypes(options.events),
      });
      if (isSecretAsked) {
        const isRunning = running !== null && running.signingSecret !== null;
        printSecret(isRunning ? running : await listening.prepare(), options.json === true, print);
        return 0;
      }
      return replay !== null && running !== null && running.endpointId !== null
        ? await listening.replayTo(running.endpointId, replay)
        : await listening.run(replay);
    } finally {
      slot.release();
    }
  },
};

function printSecret(prepared: Prepared, json: boolean, print: (line: string) => void): void {
  const { endpointId, signingSecret, keyFile: privateKeyFile } = prepared;
  print(
    json
      ? JSON.stringify({
          endpoint_id: endpointId,
          signing_secret: signingSecret,
          private_key_file: privateKeyFile,
        })
      : (signingSecret ?? ""),
  );
}

function readReceiver({ options, lists }: Pick<Arguments, "options" | "lists">): Receiver | null {
  const given = options["forward-to"];
  if (typeof given !== "string") {
    const useless = ["decrypted", "skip-verify", "header"].find((name) => name in options || name in lists);
    if (useless === undefined) return null;
    throw new CommandError(`--${useless} needs --forward-to.`);
  }
  return {
    url: readForward(given),
    headers: (lists.header ?? []).map(readHeader),
    isCertificateChecked: options["skip-verify"] !== true,
  };
}

/** `localhost:4000/hook` or `4000/hook` will do: a receiver on this machine rarely has a certificate. */
function readForward(given: string): URL {
  const local = /^\d+(\/|$)/.test(given) ? `127.0.0.1:${given}` : given;
  const url = parseUrl(local.includes("://") ? local : `http://${local}`);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CommandError(`--forward-to must be an address like localhost:4000/hook, not "${given}".`);
  return url;
}

function readHeader(given: string): [name: string, value: string] {
  const colon = given.indexOf(":");
  const [name, value] = [given.slice(0, colon).trim(), given.slice(colon + 1).trim()];
  try {
    if (colon < 0 || /^(content-length|transfer-encoding|connection)$/i.test(name)) throw new Error();
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    throw new CommandError(`--header must be like 'X-Trace: 1', not "${printable(given)}".`);
  }
  return [name, value];
}

/** Looked at before anything is registered, so that a slip of the hand leaves no endpoint behind. */
function readEventId(given: Arguments["options"][string]): string | null {
  if (typeof given !== "string") return null;
  if (!eventIdPattern.test(given))
    throw new CommandError(
      `--replay must be the id of an event, "evt_" and ${idLengths.evt} letters and digits, not "${printable(given)}".`,
    );
  return given;
}

function readTypes(given: Arguments["options"][string]): string[] | null {
  if (typeof given !== "string") return null;
  return given.split(",").map((type) => type.trim());
}

function takeSlot(url: string, key: string): ReturnType<typeof Slot.take> {
  const folder = stateFolder(process.env);
  try {
    return Slot.take(folder, url, key);
  } catch (error) {
    throw new CommandError(
      `The key pair cannot be kept in ${folder}: ${(error as Error).message} Set ASSAY_STATE_DIR to a folder that can be written.`,
    );
  }
}
