import { readFileSync } from "node:fs";
import { type Command, CommandError } from "./command.ts";
import { readPrivateKey } from "./key-pair.ts";
import { decryptBody, isSignedWith, keyIdOf } from "./open-delivery.ts";

export const decryptCommand: Command = {
  name: "decrypt",
  about:
    "Verify and decrypt the body of a webhook that was saved, and print the event. FILE holds the body exactly as it came; `-` reads it from the standard input.",
  examples: ["decrypt body.txt --private-key private-key.pem --secret whsec_… --signature t=…,v1=…"],
  exitCodes: { 3: "The signature or the key does not fit." },
  positionals: "FILE",
  environment: "Nothing is sent anywhere.",
  options: {
    "private-key": {
      type: "string",
      about: "File with the private key (PEM).",
      placeholder: "FILE",
      required: true,
    },
    secret: {
      type: "string",
      about: "The signing secret of the endpoint, to verify as well.",
      placeholder: "whsec_…",
    },
    signature: {
      type: "string",
      about: "The header X-Service-Signature of the request. Needed with --secret.",
      placeholder: "t=…,v1=…",
    },
  },
  run: async ({ options, positionals }, print) => {
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new CommandError("Name one file with the body.");
    const body = read(file === "-" ? 0 : file);
    const { secret, signature } = options;
    if ((secret === undefined) !== (signature === undefined))
      throw new CommandError("--secret and --signature are given together, or neither.");
    if (typeof secret === "string" && !isSignedWith(String(signature), body, secret))
      throw new CommandError(
        "The signature does not fit: the body was changed, or signed with another secret.",
        3,
      );
    const privateKey = readPrivateKey(read(String(options["private-key"])));
    try {
      print(JSON.stringify(JSON.parse(decryptBody(body, privateKey)), null, 2));
    } catch {
      const kid = keyIdOf(body);
      throw new CommandError(
        kid === null
          ? "This is no body of a webhook: it must be a compact JWE, exactly as it came."
          : `It does not open with this key. It was encrypted to the key "${kid}".`,
        3,
      );
    }
    return 0;
  },
};

function read(file: string | 0): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}
