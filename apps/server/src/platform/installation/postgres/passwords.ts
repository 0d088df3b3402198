import { randomBytes } from "node:crypto";
import { open, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { ignoring } from "../../lib/error-code.ts";
import { syncToDisk } from "../sync-to-disk.ts";
import { adminRole, type Passwords, serviceRole } from "./address.ts";
import type { Cluster } from "./cluster.ts";

/**
 * In DATA_DIR beside the key ring: the server's folder may belong to another account, which needs no
 * password. No backup contains the file: a folder without it gets new passwords at its next start.
 */
const passwordsFileName = "database-passwords";

const passwordsFile = (cluster: Cluster) => path.join(path.dirname(cluster.base), passwordsFileName);

export function newPasswords(): Passwords {
  const fresh = () => randomBytes(32).toString("base64url");
  return { admin: fresh(), service: fresh() };
}

export async function readPasswords(cluster: Cluster): Promise<Passwords | null> {
  const text = await readFile(passwordsFile(cluster), "utf8").catch(ignoring("ENOENT"));
  const of = (role: string) => text?.match(new RegExp(`^\\*:\\*:\\*:${role}:([\\w-]+)$`, "m"))?.[1];
  const [admin, service] = [of(adminRole), of(serviceRole)];
  return admin === undefined || service === undefined ? null : { admin, service };
}

/** In the format of PGPASSFILE, so that an operator can use the file with `psql`. */
export async function writePasswords(cluster: Cluster, { admin, service }: Passwords): Promise<void> {
  await replaceFile(
    passwordsFile(cluster),
    `*:*:*:${adminRole}:${admin}\n*:*:*:${serviceRole}:${service}\n`,
    async () => {},
  );
}

export async function removePasswords(cluster: Cluster): Promise<void> {
  await rm(passwordsFile(cluster), { force: true });
}

/** Replaces a file atomically; only its owner can read it. A link with its name is replaced, not followed. */
export async function replaceFile(
  file: string,
  text: string,
  prepare: (fresh: string) => Promise<void>,
): Promise<void> {
  const fresh = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    const handle = await open(fresh, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await prepare(fresh);
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
  await syncToDisk(path.dirname(file));
}
