import { spawnSync } from "node:child_process";
import { readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { ExplainedError } from "../../lib/explained-error.ts";
import { orUseAnotherServer } from "./address.ts";

export type Account = { uid: number; gid: number };

/** How the PostgreSQL programs are started, and as which user. */
export type Runner = {
  /** Null if they run as the user of this process. */
  account: Account | null;
  /** The command and flags before the program: `setpriv` and its options. */
  prefix: readonly string[];
  /** True if the command in `prefix` changes the user; false if `spawn` must. */
  prefixChangesUser: boolean;
  notes: string[];
  /** What the operator should change; null if nothing. */
  warning: string | null;
};

/**
 * A user that the system may have for this service. As root, PostgreSQL runs as this user and owns its files.
 */
const ownUser = "assay";

const survivesKill = "PostgreSQL keeps running if this process is killed; the next start takes it over.";

/**
 * PostgreSQL refuses to run as root, so it gets another account. `setpriv --pdeathsig` makes the kernel stop
 * the server when this process ends. If a parent folder is closed to other users, the server gets the
 * capability to traverse folders.
 * SIGINT is a fast shutdown without recovery at the next start: 1.3 s until ready on a busy machine, against
 * 7 s after SIGQUIT (median of 6). If the server hangs while stopping, the next start ends it
 * (`obstacle.ts`).
 */
export function chooseRunner(options: {
  dataFolder: string;
  /** Folders that the server must traverse, with all of their parents. */
  passedFolders: readonly string[];
  /** The PATH to search for `setpriv`. */
  searchPath: string;
  /** The file that lists the users of this system. */
  usersFile?: string;
}): Runner {
  const works = (flags: readonly string[]) => setprivWorks(flags, options.searchPath);
  const notes: string[] = [];
  const dying = ["--pdeathsig", "INT"];
  if (process.geteuid?.() !== 0) {
    const usable = works(dying);
    if (!usable) notes.push(survivesKill);
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
    notes.push(survivesKill);
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
  throw new ExplainedError(
    `PostgreSQL does not run as root, and user id ${account.uid} cannot traverse ${closed}. ` +
      `Start Assay as an ordinary user, make that folder traversable (chmod o+x), or move DATA_DIR. ${orUseAnotherServer}`,
  );
}

/**
 * The owner of existing data. New data belongs to the user `assay`, or to `nobody`, which every system has.
 */
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
  // macOS writes -2 for the kernel's 4294967294.
  return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
}

function findNobody(usersFile: string): Account {
  return findUser(usersFile, "nobody") ?? { uid: 65534, gid: 65534 };
}

function sharedAccountWarning(dataFolder: string): string {
  return (
    "The files of the database belong to `nobody`: other services that run as `nobody` can read them. " +
    `Create a user for them (useradd --system ${ownUser}), stop Assay, and change their owner (chown -R ${ownUser}: ${path.dirname(dataFolder)}). Or start Assay as an ordinary user.`
  );
}

/** The first folder up to the root that this account cannot traverse. */
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
