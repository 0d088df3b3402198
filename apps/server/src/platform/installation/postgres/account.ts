import { spawnSync } from "node:child_process";
import { readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { EmbeddedPostgresError, orUseAnotherServer } from "./embedded-postgres-error.ts";

export type Account = { uid: number; gid: number };

/** How the programs of PostgreSQL are started, and as whom. */
export type Runner = {
  /** Null when they run as the user of this process. */
  account: Account | null;
  /** The command and flags that go in front of the program: `setpriv` and what it shall do. */
  prefix: readonly string[];
  /** True when the command in `prefix` changes the user; false when `spawn` has to. */
  prefixChangesUser: boolean;
  notes: string[];
  /** What the operator should change; null when all is well. */
  warning: string | null;
};

/** The user that a system may have for this service. As root, its PostgreSQL runs as this user and owns its files. */
const ownUser = "assay";

const goesOnWhenKilled = "PostgreSQL goes on when this process is killed; the next start takes it over.";

/**
 * PostgreSQL refuses to run as root, so as root it gets another account: the owner of the data, `assay` where there is such a user, or else `nobody`, which other
 * services may run as too, and whoever runs as the owner can read the files. A password would not keep them out. `setpriv` starts it in such a way that the
 * kernel interrupts it when this process ends, however it ends (`--pdeathsig`). Where a folder above our files is closed to
 * other users (a home of mode 0700) the server gets the single right, a capability, to pass through folders.
 *
 * The kernel's signal is SIGINT, a fast shutdown, after which the next start has nothing to recover: on a busy machine with
 * two cores it was ready 1.3 s after the kill (median of 6), against 7 s after SIGQUIT, an immediate shutdown. What SIGQUIT has in its favour
 * is that it always ends the server. One that gets SIGINT while it restarts its processes after a crash, or that finds no room for
 * its last checkpoint, may stay in "stopping" for ever. That is rare, and the next start deals with it (`obstacle.ts`).
 */
export function chooseRunner(options: {
  dataFolder: string;
  /** The server has to pass through these folders and all above them. */
  passedFolders: readonly string[];
  /** The PATH in which `setpriv` is looked for. */
  searchPath: string;
  /** Where the users of this system are listed. */
  usersFile?: string;
}): Runner {
  const works = (flags: readonly string[]) => setprivWorks(flags, options.searchPath);
  const notes: string[] = [];
  const dying = ["--pdeathsig", "INT"];
  if (process.geteuid?.() !== 0) {
    const usable = works(dying);
    if (!usable) notes.push(goesOnWhenKilled);
    return {
      account: null,
      prefix: usable ? ["setpriv", ...dying, "--"] : [],
      prefixChangesUser: false,
      notes,
      warning: null,
    };
  }
  const users = options.usersFile ?? "/etc/passwd";
  const account = accountFor(options.dataFolder, users);
  const warning = account.uid === findNobody(users).uid ? sharedAccountWarning(options.dataFolder) : null;
  const drop = [`--reuid=${account.uid}`, `--regid=${account.gid}`, "--clear-groups"];
  const closed = options.passedFolders
    .map((folder) => firstClosedFolder(folder, account))
    .find((folder) => folder !== null);
  if (closed === undefined) {
    notes.push(`Running as root: PostgreSQL runs as user id ${account.uid}, which owns its files.`);
    if (works([...drop, ...dying])) {
      const prefix = ["setpriv", ...drop, ...dying, "--"];
      return { account, prefix, prefixChangesUser: true, notes, warning };
    }
    notes.push(goesOnWhenKilled);
    return { account, prefix: [], prefixChangesUser: false, notes, warning };
  }
  for (const right of ["dac_read_search", "dac_override"]) {
    const pass = [
      `--inh-caps=-all,+${right}`,
      `--ambient-caps=-all,+${right}`,
      `--bounding-set=-all,+${right}`,
      "--securebits=+no_setuid_fixup",
    ];
    if (!works([...drop, ...pass, ...dying])) continue;
    notes.push(
      `Running as root: PostgreSQL runs as user id ${account.uid}, which owns its files, with the capability ${right} because ${closed} is closed to other users.`,
    );
    const prefix = ["setpriv", ...drop, ...pass, ...dying, "--"];
    return { account, prefix, prefixChangesUser: true, notes, warning };
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and user id ${account.uid} cannot pass through ${closed}. ` +
      `Start Assay as an ordinary user, or open that folder for passing (chmod o+x), or move DATA_DIR. ${orUseAnotherServer}`,
  );
}

/** The user that owns the data already. New data goes to the user that is there for it, or to `nobody`, which every system has. */
function accountFor(dataFolder: string, usersFile: string): Account {
  const owner = statSync(dataFolder, { throwIfNoEntry: false });
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const own = findUser(usersFile, ownUser);
  return own !== null && own.uid !== 0 ? own : findNobody(usersFile);
}

function findUser(usersFile: string, name: string): Account | null {
  const line = readFileSync(usersFile, "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  if (uid === undefined || gid === undefined) return null;
  // macOS writes -2 where the kernel counts 4294967294.
  return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
}

function findNobody(usersFile: string): Account {
  return findUser(usersFile, "nobody") ?? { uid: 65534, gid: 65534 };
}

function sharedAccountWarning(dataFolder: string): string {
  return (
    "The files of the database belong to `nobody`: every other service of this machine that runs as `nobody` can read them. " +
    `Make a user for them (useradd --system ${ownUser}), stop Assay, and hand them over (chown -R ${ownUser}: ${path.dirname(dataFolder)}); or start Assay as an ordinary user.`
  );
}

/** The first folder on the way up to the root that this account may not pass through. */
function firstClosedFolder(folder: string, account: Account): string | null {
  for (let current = realpathSync(folder); ; current = path.dirname(current)) {
    const found = statSync(current, { throwIfNoEntry: false });
    if (found !== undefined && found.uid !== account.uid && (found.mode & 0o001) === 0) return current;
    if (path.dirname(current) === current) return null;
  }
}

function setprivWorks(flags: readonly string[], searchPath: string): boolean {
  if (process.platform !== "linux") return false;
  const { status } = spawnSync("setpriv", [...flags, "--", "/bin/true"], {
    stdio: "ignore",
    timeout: 10_000,
    env: { PATH: searchPath },
  });
  return status === 0;
}
