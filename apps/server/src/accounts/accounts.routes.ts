import * as contract from "@assay/contract/accounts";
import type { Core } from "../core.ts";
import { violates } from "../db/db.ts";
import { ApiError } from "../http/api-error.ts";
import { type Binding, bind, type RequestInfo } from "../http/mount.ts";
import { newUuid } from "../lib/ids.ts";
import { hashPassword, isPassword } from "./password.ts";
import { findUserByEmail, insertUser, type UserRow } from "./user.store.ts";
import { viewUser } from "./user.view.ts";
import { openUserSession, sessionLifetimeMs } from "./user-session.ts";

export function accountRoutes({ db, clock }: Core): Binding[] {
  const signedIn = (user: UserRow, token: string, request: RequestInfo) => {
    request.setSessionCookie({ token, maxAgeSeconds: sessionLifetimeMs / 1000 });
    return { token, user: viewUser(user) };
  };
  return [
    bind(contract.signUp, async ({ body, request }) => {
      const now = clock.now();
      const passwordHash = await hashPassword(body.password);
      try {
        const { user, token } = await db.transaction(async (tx) => {
          const user = await insertUser(tx, {
            id: newUuid(now),
            name: body.name.trim(),
            email: body.email,
            passwordHash,
            emailVerifiedAt: null,
            now,
          });
          return { user, token: await openUserSession(tx, user.id, request.userAgent, now) };
        });
        return signedIn(user, token, request);
      } catch (error) {
        if (violates(error, "users_email")) {
          throw new ApiError("CONFLICT", {
            message: "`email` already has an account.",
            hint: "Sign in, or reset the password.",
          });
        }
        throw error;
      }
    }),

    bind(contract.signIn, async ({ body, request }) => {
      const now = clock.now();
      const user = await findUserByEmail(db, body.email);
      if (!(await isPassword(body.password, user?.password_hash ?? null)) || user === null) {
        throw new ApiError("UNAUTHORIZED", {
          message: "The e-mail or the password is wrong.",
          hint: "Check both, or reset the password.",
        });
      }
      const token = await db.transaction((tx) => openUserSession(tx, user.id, request.userAgent, now));
      return signedIn(user, token, request);
    }),
  ];
}
