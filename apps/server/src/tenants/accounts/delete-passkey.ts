import type { PasskeyId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { UserCaller } from "../../platform/kernel/caller.ts";
import { queueMail } from "../../platform/mails/queue-mail.ts";
import { removePasskey } from "./passkey.store.ts";

export async function deletePasskey(core: Core, caller: UserCaller, passkeyId: PasskeyId): Promise<void> {
  await core.db.transaction(async (tx) => {
    const passkey = await removePasskey(tx, caller.userId, passkeyId);
    if (passkey === null) throw noPasskey();
    await queueMail(
      core,
      tx,
      { to: caller.email },
      { kind: "passkey_deleted", fill: { name: passkey.name } },
    );
  });
}

export function noPasskey(): ApiError {
  return new ApiError("NOT_FOUND", { message: "There is no such passkey." });
}
