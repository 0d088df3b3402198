import * as contract from "@assay/contract/accounts";
import type { Core } from "../core.ts";
import { type Binding, bind } from "../http/mount.ts";
import { requireEmail } from "../kernel/email.ts";
import type { RequestInfo } from "../kernel/request-info.ts";
import { resetPassword } from "./change-password.ts";
import { createUser, preparePerson } from "./create-user.ts";
import { countWork, rememberOrigin } from "./limit-guesses.ts";
import { mailLink } from "./mail-link.ts";
import { asAssertion, passkeyRoutes } from "./passkeys.routes.ts";
import { profileRoutes } from "./profile.routes.ts";
import { requestLink } from "./request-link.ts";
import { verificationIsRequired } from "./require-verified-email.ts";
import { secondFactorRoutes } from "./second-factor.routes.ts";
import { type OpenedSession, signInWithLink, signInWithPassword } from "./sign-in.ts";
import { offerSignIn, signInWithPasskey } from "./use-passkey.ts";
import { removeUserSession } from "./user.store.ts";
import { viewUser } from "./user.view.ts";
import { openUserSession, sessionLifetimeMs } from "./user-session.ts";

export function accountRoutes(core: Core): Binding[] {
  return [...signInRoutes(core), ...passkeyRoutes(core), ...secondFactorRoutes(core), ...profileRoutes(core)];
}

function signInRoutes(core: Core): Binding[] {
  const signedIn = ({ user, token }: OpenedSession, request: RequestInfo) => {
    request.setSessionCookie({ token, maxAgeSeconds: sessionLifetimeMs / 1000 });
    return { token, user: viewUser(user) };
  };
  return [
    bind(
      contract.signUp,
      {
        guard: ({ request }) => countWork(core, "sign-up", request.address),
        prepare: ({ body }) => preparePerson(body),
      },
      async ({ request }, person) => {
        let token = "";
        const user = await createUser(core, person, {
          together: async (tx, user) => {
            token = await openUserSession(tx, user.id, request.userAgent, core.clock.now());
            if (verificationIsRequired(core)) await mailLink(core, tx, user.id, "verify_email", user.email);
          },
        });
        await rememberOrigin(core, user, request.address);
        return signedIn({ user, token }, request);
      },
    ),

    bind(contract.signIn, async ({ body, request }) =>
      signedIn(await signInWithPassword(core, body, request), request),
    ),

    bind(contract.signOut, async ({ caller, request }) => {
      await removeUserSession(core.db, caller.userId, caller.userSessionId);
      request.setSessionCookie(null);
    }),

    bind(contract.requestMagicLink, ({ body, request }) =>
      requestLink(core, "magic_link", requireEmail("email", body.email).folded, request.address),
    ),

    bind(contract.verifyMagicLink, async ({ body, request }) =>
      signedIn(await signInWithLink(core, body, request), request),
    ),

    bind(contract.startPasskeySignIn, async ({ request }) => ({
      options: await offerSignIn(core, request.address),
    })),

    bind(contract.finishPasskeySignIn, async ({ body, request }) =>
      signedIn(await signInWithPasskey(core, asAssertion(body.response), request), request),
    ),

    bind(contract.requestPasswordReset, ({ body, request }) =>
      requestLink(core, "reset_password", requireEmail("email", body.email).folded, request.address),
    ),

    bind(contract.resetPassword, ({ body, request }) => resetPassword(core, body, request.address)),
  ];
}
