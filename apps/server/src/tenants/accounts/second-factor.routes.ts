import * as contract from "@assay/contract/accounts";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import {
  confirmSecondFactor,
  renewBackupCodes,
  startSecondFactor,
  turnOffSecondFactor,
} from "./manage-second-factor.ts";

export function secondFactorRoutes(core: Core): Binding[] {
  return [
    bind(contract.startTotp, async ({ caller, body }) => {
      const { secret, otpauthUri } = await startSecondFactor(core, caller, body);
      return { secret, otpauth_uri: otpauthUri };
    }),

    bind(contract.confirmTotp, async ({ caller, body }) => ({
      backup_codes: await confirmSecondFactor(core, caller, body.code),
    })),

    bind(contract.disableTotp, ({ caller, body }) => turnOffSecondFactor(core, caller, body.code)),

    bind(contract.regenerateBackupCodes, async ({ caller, body }) => ({
      backup_codes: await renewBackupCodes(core, caller, body.code),
    })),
  ];
}
