import { spawnSync } from "node:child_process";
import path from "node:path";
import { BuildProblem, packagesOf } from "./tools.ts";

const root = path.resolve(import.meta.dirname, "../../..");
/** Debian 12 with the Node that the project has. */
const image = "docker.io/library/node:24-bookworm";
const archives = "/archives";

/** Arguments of podman or docker. The build sees no folder of this machine but the checkout. */
export function containerArguments(args: readonly string[]): string[] {
  const build = `apt-get update -qq && apt-get install -qq --no-install-recommends ${packagesOf.join(" ")} && exec node apps/android/main.ts "$@"`;
  return [
    ...["run", "--rm", "--volume", `${root}:/assay`, "--workdir", "/assay"],
    // Fetched once, as outside of a container.
    ...["--volume", `assay-android:${archives}`, "--env", `ASSAY_ANDROID_DIR=${archives}`],
    // By its name alone, so that the password is in no list of processes.
    ...["--env", "ASSAY_KEYSTORE_PASSWORD", image, "sh", "-c", build, "android", ...args],
  ];
}

/** The status to end with. */
export function buildInContainer(args: readonly string[]): number {
  const engine = ["podman", "docker"].find(
    (tool) => spawnSync(tool, ["info"], { stdio: "ignore" }).status === 0,
  );
  if (engine === undefined)
    throw new BuildProblem("--container needs podman, or docker with its daemon. Neither runs here.");
  return spawnSync(engine, containerArguments(args), { stdio: "inherit" }).status ?? 1;
}
