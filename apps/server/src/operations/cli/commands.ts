import type { Command } from "@assay/cli/command";

/** The first words of commands, and the loader of each. */
type Source = [words: readonly string[], load: () => Promise<readonly Command[]>];

/**
 * In the order of the help text. Each command imports what it needs: to import everything would delay it by a
 * quarter of a second.
 */
const sources: readonly Source[] = [
  [["start", "worker"], () => import("./start.command.ts").then(({ start, worker }) => [start, worker])],
  [
    ["migrate", "org"],
    () => import("./admin.commands.ts").then(({ migrateCommand, orgList }) => [migrateCommand, orgList]),
  ],
  [
    ["user"],
    () => import("./user.commands.ts").then(({ userCreate, userSetEmail }) => [userCreate, userSetEmail]),
  ],
  [
    ["user"],
    () =>
      import("./operator.commands.ts").then(({ userGrantOperator, userRevokeOperator }) => [
        userGrantOperator,
        userRevokeOperator,
      ]),
  ],
  [["keys"], () => import("./keys.command.ts").then(({ keysRotate }) => [keysRotate])],
  // The longer name first: the shorter one is its prefix.
  [
    ["jobs"],
    () => import("./jobs.commands.ts").then(({ jobsRetry, jobsCommand }) => [jobsRetry, jobsCommand]),
  ],
  [
    ["backup", "restore"],
    () => import("./backup.commands.ts").then(({ backup, restore }) => [backup, restore]),
  ],
  [
    ["trust"],
    () =>
      import("./trust.commands.ts").then((trust) => [
        trust.trustImport,
        trust.trustList,
        trust.trustRemove,
        trust.trustAudit,
        trust.trustStatus,
        trust.trustKeep,
        trust.trustRefresh,
        trust.trustLog,
      ]),
  ],
  [
    ["wallet"],
    () =>
      import("./wallet.commands.ts").then((wallet) => [
        wallet.walletIdentityNew,
        wallet.walletIdentityImport,
        wallet.walletIdentityRetire,
        wallet.walletIdentityList,
        wallet.walletRegistrationImport,
      ]),
  ],
  [
    ["read", "virtual-document"],
    () =>
      import("./read.command.ts").then(({ readCommand, virtualDocument }) => [readCommand, virtualDocument]),
  ],
  [["simulate"], () => import("./simulate.command.ts").then(({ simulateCommand }) => [simulateCommand])],
  [["doctor"], () => import("./doctor.command.ts").then(({ doctor }) => [doctor])],
  [
    ["listen", "decrypt", "keys"],
    () =>
      import("@assay/cli/partner-commands").then(({ partnerCommands }) =>
        // The command above does the same for a partner, with --url.
        partnerCommands.filter(({ name }) => name !== "doctor"),
      ),
  ],
];

/** The commands whose first word was typed, or all of them if none matches. */
export async function commandsFor(typed: readonly string[]): Promise<readonly Command[]> {
  const meant = sources.filter(([words]) => words.includes(typed[0] ?? ""));
  const loaded = await Promise.all((meant.length > 0 ? meant : sources).map(([, load]) => load()));
  return loaded.flat();
}
