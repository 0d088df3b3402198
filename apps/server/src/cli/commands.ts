import type { Command } from "@assay/cli/command";
import { partnerCommands } from "@assay/cli/partner-commands";
import { migrateCommand, orgList } from "./admin.commands.ts";
import { backup, restore } from "./backup.commands.ts";
import { doctor } from "./doctor.command.ts";
import { jobsCommand, jobsRetry } from "./jobs.commands.ts";
import { keysRotate } from "./keys.command.ts";
import { userGrantOperator, userRevokeOperator } from "./operator.commands.ts";
import { readCommand, virtualDocument } from "./read.command.ts";
import { simulateCommand } from "./simulate.command.ts";
import { start, worker } from "./start.command.ts";
import {
  trustAudit,
  trustImport,
  trustKeep,
  trustList,
  trustLog,
  trustRefresh,
  trustRemove,
  trustStatus,
} from "./trust.commands.ts";
import { userCreate, userSetEmail } from "./user.commands.ts";

export const commands: readonly Command[] = [
  start,
  worker,
  migrateCommand,
  userCreate,
  userSetEmail,
  userGrantOperator,
  userRevokeOperator,
  orgList,
  keysRotate,
  // The longer name first: the shorter one is a part of it.
  jobsRetry,
  jobsCommand,
  backup,
  restore,
  trustImport,
  trustList,
  trustRemove,
  trustAudit,
  trustStatus,
  trustKeep,
  trustRefresh,
  trustLog,
  readCommand,
  virtualDocument,
  simulateCommand,
  doctor,
  // The one above does the same for a partner, with --url.
  ...partnerCommands.filter(({ name }) => name !== doctor.name),
];
