import * as contract from "@assay/contract/accounts";
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import { parsePage, viewPage } from "../../platform/kernel/page.ts";
import { deletePasskey, noPasskey } from "./delete-passkey.ts";
import { listPasskeys, renamePasskey } from "./passkey.store.ts";
import { viewPasskey } from "./passkey.view.ts";
import { requireVerifiedEmail } from "./require-verified-email.ts";
import { offerRegistration, registerPasskey } from "./use-passkey.ts";

/** Browsers omit a field that the library's types require. */
export function asAssertion(given: { clientExtensionResults?: unknown }): AuthenticationResponseJSON {
  return { clientExtensionResults: {}, ...given } as unknown as AuthenticationResponseJSON;
}

function asAttestation(given: { clientExtensionResults?: unknown }): RegistrationResponseJSON {
  return { clientExtensionResults: {}, ...given } as unknown as RegistrationResponseJSON;
}

export function passkeyRoutes(core: Core): Binding[] {
  const { db } = core;
  return [
    bind(contract.startPasskeyRegistration, async ({ caller, body }) => {
      await requireVerifiedEmail(core, caller);
      return { options: await offerRegistration(core, caller, body) };
    }),

    bind(contract.registerPasskey, async ({ caller, body }) => {
      await requireVerifiedEmail(core, caller);
      return viewPasskey(await registerPasskey(core, caller, body.name.trim(), asAttestation(body.response)));
    }),

    bind(contract.listPasskeys, ({ caller, query }) =>
      viewPage(listPasskeys(db, caller.userId, parsePage(query)), viewPasskey),
    ),

    bind(contract.renamePasskey, async ({ caller, params, body }) => {
      const passkey = await renamePasskey(db, caller.userId, params.id, body.name.trim());
      if (passkey === null) throw noPasskey();
      return viewPasskey(passkey);
    }),

    bind(contract.deletePasskey, ({ caller, params }) => deletePasskey(core, caller, params.id)),
  ];
}
