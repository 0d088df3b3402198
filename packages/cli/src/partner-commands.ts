import type { Command } from "./command.ts";
import { decryptCommand } from "./decrypt.command.ts";
import { doctorCommand } from "./doctor.command.ts";
import { keysNew } from "./keys-new.command.ts";
import { listenCommand } from "./listen.command.ts";
import { triggerCommand } from "./trigger.command.ts";

/** Commands that partners run without a checkout of the service. */
export const partnerCommands: readonly Command[] = [
  listenCommand,
  triggerCommand,
  decryptCommand,
  keysNew,
  doctorCommand,
];
