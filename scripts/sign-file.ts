import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const identity = "release@assay";

function sshKeygen(args: readonly string[], input?: string): string {
  const { status, stdout, stderr, error } = spawnSync("ssh-keygen", args, {
    encoding: "utf8",
    ...(input === undefined ? {} : { input }),
  });
  if (status === 0) return stdout;
  throw new Error(
    `ssh-keygen failed${error === undefined ? "" : ` (${error.message})`}:\n${stdout}${stderr}`,
  );
}

/** Writes FILE.sig, and verifies it as a stranger would. Gives the line that strangers need. */
export function signFile(file: string, key: string, namespace: string): string {
  rmSync(`${file}.sig`, { force: true });
  sshKeygen(["-q", "-Y", "sign", "-f", key, "-n", namespace, file]);
  const [kind, text] = sshKeygen(["-y", "-f", key]).split(" ");
  const signer = `${identity} namespaces="${namespace}" ${kind} ${text?.trim()}`;
  const signers = path.join(path.dirname(file), "allowed_signers");
  writeFileSync(signers, `${signer}\n`);
  const verify = ["-Y", "verify", "-f", signers, "-I", identity, "-n", namespace, "-s", `${file}.sig`];
  sshKeygen(verify, readFileSync(file, "utf8"));
  rmSync(signers);
  return signer;
}

/** The key that was given, or one that is deleted afterwards. */
export function withKey<T>(given: string | undefined, work: (key: string) => T): T {
  if (given !== undefined) return work(given);
  const folder = mkdtempSync(path.join(tmpdir(), "assay-key-"));
  try {
    const key = path.join(folder, "key");
    sshKeygen(["-q", "-t", "ed25519", "-N", "", "-C", "one run", "-f", key]);
    return work(key);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
