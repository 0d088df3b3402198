import { spawnSync } from "node:child_process";

const setpriv = "/usr/bin/setpriv";
const flags = ["--pdeathsig", "KILL", "--"];
let prefix: readonly string[] | null = null;

/**
 * What goes in front of a program so that the kernel kills it together with the process that started it (parent death signal), whatever it is doing: one in an endless
 * loop notices nothing by itself. Nothing where `setpriv` of util-linux is not to be had. Only for children of the main thread: the kernel goes by the thread.
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
