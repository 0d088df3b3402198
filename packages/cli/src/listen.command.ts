import { idLengths } from "@assay/contract/facts";
import { parseUrl, readBase } from "./base-url.ts";
import { type Arguments, type Command, CommandError } from "./command.ts";
import { Listening } from "./listening.ts";
import { parseResponses } from "./respond.ts";
import { Screen } from "./screen.ts";
import { ServiceClient } from "./service.ts";
import { Slot, stateFolder } from "./state.ts";
import { printable } from "./style.ts";

const eventIdPattern = new RegExp(`^evt_[A-Za-z0-9]{${idLengths.evt}}$`);

export const listenCommand: Command = {
  name: "listen",
  about:
    "Receive webhooks on this machine, which nobody needs to reach. Registers a temporary endpoint with a key pair that is made here, then verifies, decrypts and shows what arrives, and forwards it. What your receiver answers counts as the answer to the service, retries included. Ctrl-C removes the endpoint; killed and started again, it goes on with the same one and gets what came meanwhile.",
  environment:
    "ASSAY_URL and ASSAY_API_KEY stand for --url and --key, which keeps the key out of the list of processes. ASSAY_STATE_DIR is where the key pair is kept, NO_COLOR switches colours off. HTTPS_PROXY, HTTP_PROXY and NO_PROXY lead to the service through a proxy; --forward-to is always direct.",
  examples: [
    "listen --url https://id.example.com --key kk_… --forward-to http://127.0.0.1:4000/hook",
    "listen --respond 500,timeout,200",
  ],
  exitCodes: {
    0: "Ended with Ctrl-C.",
    3: "The service refuses.",
    4: "The service cannot be reached.",
    5: "The endpoint was removed or taken over.",
  },
  options: {
    url: {
      type: "string",
      about: "Address of the service, for example https://id.example.com.",
      placeholder: "BASE",
    },
    key: {
      type: "string",
      about: "API key with the scopes webhooks:read and webhooks:write.",
      placeholder: "kk_…",
    },
    "forward-to": {
      type: "string",
      about:
        "Send each delivery on to this address, with the same headers and body. Without it, a delivery that verifies is answered with 200, any other with 401.",
      placeholder: "URL",
    },
    decrypted: {
      type: "boolean",
      about: "Forward the plain event as JSON in place of the original request.",
    },
    events: { type: "string", about: "Only events of these types, comma separated.", placeholder: "TYPES" },
    respond: {
      type: "string",
      about:
        "Answer by itself: the first try of each delivery gets the first of these, and so on; the last one stands for all further tries. Statuses, or timeout, connection_failed, ….",
      placeholder: "500,timeout",
    },
    replay: {
      type: "string",
      about:
        "Send this event again now, as long as this endpoint did not take it. Where a listener with the same key runs already, it is sent to that one, and this command ends.",
      placeholder: "evt_…",
    },
    print: { type: "boolean", about: "Show the decrypted events also when they are forwarded." },
    json: {
      type: "boolean",
      about: "One JSON text a line on the standard output; everything else goes to the standard error.",
    },
  },
  run: async ({ options }) => {
    const env = process.env;
    const url = readBase(options.url ?? env.ASSAY_URL);
    const key = options.key ?? env.ASSAY_API_KEY;
    if (typeof key !== "string" || key === "")
      throw new CommandError(
        "--key is missing: an API key with the scopes webhooks:read and webhooks:write. Make one in the dashboard under API keys.",
      );
    const forwardTo = readForward(options["forward-to"]);
    const responses = typeof options.respond === "string" ? parseResponses(options.respond) : null;
    if (forwardTo !== null && responses !== null)
      throw new CommandError("--forward-to and --respond exclude each other: one of them answers.");
    if (options.decrypted === true && forwardTo === null)
      throw new CommandError("--decrypted says how to forward; give --forward-to as well.");
    const replay = readEventId(options.replay);
    const { slot, running } = takeSlot(url, key);
    try {
      const listening = new Listening({
        service: new ServiceClient(url, key, env),
        slot,
        screen: new Screen(options.json === true, env),
        forwardTo,
        isDecrypted: options.decrypted === true,
        isPrinted: options.print === true || forwardTo === null,
        responses,
        eventTypes: readTypes(options.events),
      });
      return replay !== null && running !== null && running.endpointId !== null
        ? await listening.replayTo(running.endpointId, replay)
        : await listening.run(replay);
    } finally {
      slot.release();
    }
  },
};

function readForward(given: Arguments["options"][string]): URL | null {
  if (typeof given !== "string") return null;
  const url = parseUrl(/^\d+$/.test(given) ? `http://127.0.0.1:${given}/` : given);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CommandError(
      `--forward-to must be an address like http://127.0.0.1:4000/hook, not "${given}".`,
    );
  return url;
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
