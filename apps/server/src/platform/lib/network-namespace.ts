import { spawnSync } from "node:child_process";

const unshare = "/usr/bin/unshare";
/**
 * As root, or as a user who may create user namespaces. Containers often allow neither. The second way keeps
 * the user, so the process gains no capability.
 */
const ways: readonly (readonly string[])[] = [["--net"], ["--map-current-user", "--net"]];
let prefix: readonly string[] | null | undefined;

/**
 * The command prefix that runs a program in its own network namespace, without any network, not even
 * loopback. Null if the system does not allow it. Unix sockets stay reachable.
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
