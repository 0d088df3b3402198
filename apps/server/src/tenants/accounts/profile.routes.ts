import * as contract from "@assay/contract/accounts";
import type { UserId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { parsePage, viewPage } from "../../platform/kernel/page.ts";
import { confirmEmailChange, requestEmailChange } from "./change-email.ts";
import { changePassword } from "./change-password.ts";
import { deleteAccount } from "./delete-account.ts";
import { verificationIsRequired } from "./require-verified-email.ts";
import {
  listSolelyOwnedOrganizations,
  listUserSessions,
  readAccount,
  removeOtherUserSessions,
  removeUserSession,
  setProfile,
} from "./user.store.ts";
import { viewAccount, viewUserSession } from "./user.view.ts";
import { requestEmailVerification, verifyEmail } from "./verify-email.ts";

export function profileRoutes(core: Core): Binding[] {
  const { db, clock } = core;
  const account = async (userId: UserId) =>
    viewAccount(await readAccount(db, userId), verificationIsRequired(core));
  return [
    bind(contract.getAccount, ({ caller }) => account(caller.userId)),

    bind(contract.updateAccount, async ({ caller, body }) => {
      const { name, language = null } = body;
      await setProfile(db, caller.userId, { name: name.trim(), language }, clock.now());
      return account(caller.userId);
    }),

    bind(contract.changePassword, ({ caller, body }) =>
      changePassword(core, caller, {
        currentPassword: body.current_password,
        newPassword: body.new_password,
      }),
    ),

    bind(contract.requestEmailChange, async ({ caller, body }) => {
      const { email, ...proof } = body;
      await requestEmailChange(core, caller, email, proof);
      return { accepted: true };
    }),

    bind(contract.confirmEmailChange, async ({ caller, body }) => {
      await confirmEmailChange(core, caller, body.token);
      return account(caller.userId);
    }),

    bind(contract.requestEmailVerification, async ({ caller }) => {
      await requestEmailVerification(core, caller);
      return { accepted: true };
    }),

    bind(contract.verifyEmail, async ({ caller, body }) => {
      await verifyEmail(core, caller, body.token);
      return account(caller.userId);
    }),

    bind(contract.listUserSessions, ({ caller, query }) =>
      viewPage(listUserSessions(db, caller.userId, parsePage(query), clock.now()), (row) =>
        viewUserSession(row, caller.userSessionId),
      ),
    ),

    bind(contract.revokeUserSession, async ({ caller, params, request }) => {
      if ((await removeUserSession(db, caller.userId, params.id)) === 0) {
        throw new ApiError("NOT_FOUND", { message: "There is no such session." });
      }
      if (params.id.toLowerCase() === caller.userSessionId) request.setSessionCookie(null);
    }),

    bind(contract.revokeOtherUserSessions, ({ caller }) =>
      removeOtherUserSessions(db, caller.userId, caller.userSessionId),
    ),

    bind(contract.deleteAccount, async ({ caller, body, request }) => {
      await deleteAccount(core, caller, body);
      request.setSessionCookie(null);
    }),

    bind(contract.listOwnedOrganizations, async ({ caller }) => ({
      organizations: await listSolelyOwnedOrganizations(db, caller.userId),
    })),
  ];
}
