import { spawnSync } from "node:child_process";

/** An ordinary user, for tests that run as root. */
export const ordinaryUser = { uid: 65534, gid: 65534 };

/** Empty if there is none. The full path, because some tests start with an empty PATH. */
const setpriv = spawnSync("sh", ["-c", "command -v setpriv"], { encoding: "utf8" }).stdout.trim();

/** Only root can. */
export const canBecomeOrdinary = process.geteuid?.() === 0 && setpriv !== "";

const drop = [`--reuid=${ordinaryUser.uid}`, `--regid=${ordinaryUser.gid}`, "--clear-groups"];
const passFolders = [
  "--inh-caps=-all,+dac_read_search",
  "--ambient-caps=-all,+dac_read_search",
  // Otherwise access(2), with which PostgreSQL finds its own programs, ignores the capability.
  "--securebits=+no_setuid_fixup",
];

/**
 * The project is below a folder that is closed to other users, such as a home of mode 0700. Then the ordinary
 * user gets the capability to traverse folders, with which it can read every file, too.
 */
export const ordinaryUserReadsAll =
  canBecomeOrdinary &&
  spawnSync(setpriv, [...drop, "--", "/bin/cat", import.meta.filename], { stdio: "ignore" }).status !== 0;

export function asOrdinaryUser(command: readonly string[]): string[] {
  return [setpriv, ...drop, ...(ordinaryUserReadsAll ? passFolders : []), "--", ...command];
}
