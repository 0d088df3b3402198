import { spawnSync } from "node:child_process";

const setpriv = "/usr/bin/setpriv";
const flags = ["--pdeathsig", "KILL", "--"];
let prefix: readonly string[] | null = null;

/**
 * The command prefix that makes the kernel kill a program together with its parent (parent death signal),
 * even in an endless loop. Empty without `setpriv` of util-linux. Only for children of the main thread: the
 * kernel tracks the thread.
 */
export function killedWithParent(): readonly string[] {
  if (prefix === null) {
    const { status } = spawnSync(setpriv, [...flags, "/bin/true"], {
      stdio: "ignore",
      timeout: 10_000,
      env: {},
    });
    prefix = status === 0 ? [setpriv, ...flags] : [];
  }
  return prefix;
}
