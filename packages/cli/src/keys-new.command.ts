import { existsSync, writeFileSync } from "node:fs";
import { type Command, CommandError } from "./command.ts";
import { keyBits, newPrivateKey, readPrivateKey, registrationOf } from "./key-pair.ts";

export const keysNew: Command = {
  name: "keys new",
  about:
    "Make a key pair for a webhook endpoint. Writes the private key to FILE, which must not exist. Prints a shell command that registers the public key.",
  positionals: "FILE",
  examples: ["keys new private-key.pem", "keys new private-key.pem --name my-key-1"],
  environment: "Nothing is sent anywhere.",
  options: {
    name: {
      type: "string",
      about: "Your name for the key, its `key_id`. Left out, today's date.",
      placeholder: "KEY_ID",
    },
    json: { type: "boolean", about: "Print the body of the request alone." },
  },
  run: async ({ options, positionals }, print, style) => {
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new CommandError("Name one file for the private key.");
    if (existsSync(file)) throw new CommandError(`${file} exists. Name a file that does not exist.`);
    const pem = await style.progress("Making the key pair…", () => newPrivateKey(keyBits.lasting));
    try {
      writeFileSync(file, pem, { mode: 0o600, flag: "wx" });
    } catch (error) {
      throw new CommandError(`The private key could not be written: ${(error as Error).message}.`);
    }
    const name = typeof options.name === "string" ? options.name : new Date().toISOString().slice(0, 10);
    const body = JSON.stringify(registrationOf(readPrivateKey(pem), name));
    print(options.json === true ? body : registration(body));
    return 0;
  },
};

/** In a shell, the command names each variable that is not set. */
function registration(body: string): string {
  return `curl -sS "\${ASSAY_URL:?is the address of the service}/v1/webhooks/endpoints/\${ENDPOINT_ID:?is the id of your endpoint}/keys" \\
  -H "authorization: Bearer \${ASSAY_API_KEY:?is a key with webhooks:write}" -H "content-type: application/json" \\
  -d '${body.replaceAll("'", "'\\''")}'`;
}
