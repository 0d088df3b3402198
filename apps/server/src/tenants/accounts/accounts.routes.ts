import * as contract from "@assay/contract/accounts";
import type { Core } from "../../platform/core.ts";
import { AlternateStatus, type Binding, bind } from "../../platform/http/mount.ts";
import { requireEmail } from "../../platform/kernel/email.ts";
import type { RequestInfo } from "../../platform/kernel/request-info.ts";
import { resetPassword } from "./change-password.ts";
import { countWork } from "./limit-guesses.ts";
import { asAssertion, passkeyRoutes } from "./passkeys.routes.ts";
import { profileRoutes } from "./profile.routes.ts";
import { requestLink } from "./request-link.ts";
import { verificationIsRequired } from "./require-verified-email.ts";
import { secondFactorRoutes } from "./second-factor.routes.ts";
import { type OpenedSession, signInWithLink, signInWithPassword } from "./sign-in.ts";
import { type IsInvited, prepareSignUp, signUpAtOnce, signUpByMail } from "./sign-up.ts";
import { offerSignIn, signInWithPasskey } from "./use-passkey.ts";
import { removeUserSession } from "./user.store.ts";
import { viewUser } from "./user.view.ts";
import { userSessionLifetimeMs } from "./user-session.ts";

export function accountRoutes(core: Core, needs: { isInvited: IsInvited }): Binding[] {
  return [
    ...signUpRoutes(core, needs.isInvited),
    ...signInRoutes(core),
    ...passkeyRoutes(core),
    ...secondFactorRoutes(core),
    ...profileRoutes(core),
  ];
}

function signedIn({ user, token }: OpenedSession, request: RequestInfo) {
  request.setSessionCookie({ token, maxAgeSeconds: userSessionLifetimeMs / 1000 });
  return { token, user: viewUser(user) };
}

function signUpRoutes(core: Core, isInvited: IsInvited): Binding[] {
  return [
    bind(contract.readSignUp, async () => ({
      mode: core.config.signUp,
      email_verification_required: verificationIsRequired(core),
    })),

    bind(
      contract.signUp,
      {
        guard: ({ request }) => countWork(core, "sign-up", request.address),
        prepare: ({ body, request }) => prepareSignUp(core, isInvited, body, request),
      },
      async ({ request }, prepared) => {
        if (!verificationIsRequired(core))
          return signedIn(await signUpAtOnce(core, prepared, request), request);
        await signUpByMail(core, prepared);
        return new AlternateStatus({ token: null, user: null });
      },
    ),
  ];
}

function signInRoutes(core: Core): Binding[] {
  return [
    bind(contract.signIn, async ({ body, request }) =>
      signedIn(
        await signInWithPassword(core, { ...body, verificationToken: body.verification_token }, request),
        request,
      ),
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
