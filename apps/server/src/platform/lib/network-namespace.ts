import { spawnSync } from "node:child_process";

const unshare = "/usr/bin/unshare";
/**
 * As root, and as an ordinary user where the system lets one make user namespaces. Containers often allow neither. In the second the process keeps its user, so it gains no
 * capability.
 */
const ways: readonly (readonly string[])[] = [["--net"], ["--map-current-user", "--net"]];
let prefix: readonly string[] | null | undefined;

/**
 * What goes in front of a program so that it runs in a network namespace of its own, where there is no network, not even this machine's own addresses. Null where the system
 * does not allow it. Sockets in the file system stay reachable.
 */
export function withoutNetwork(): readonly string[] | null {
  if (prefix === undefined) prefix = findWay(unshare);
  return prefix;
}

export function findWay(program: string): readonly string[] | null {
  const works = (flags: readonly string[]) =>
    spawnSync(program, [...flags, "--", "/bin/true"], { stdio: "ignore", timeout: 10_000, env: {} })
      .status === 0;
  const flags = process.platform === "linux" ? ways.find(works) : undefined;
  return flags === undefined ? null : [program, ...flags, "--"];
}
