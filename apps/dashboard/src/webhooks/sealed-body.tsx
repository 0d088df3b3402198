import { shownText } from "@assay/contract/shown-text";
import type { SealedBody } from "@assay/contract/webhooks";
import { useEffect, useState } from "react";
import type { Static } from "typebox";
import { PageProblem } from "../api/page-problem.ts";
import { t } from "../i18n/words.ts";
import { useWorkspace } from "../shell/organization-context.ts";
import { Code } from "../ui/code.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { TextArea } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Facts } from "../ui/page.tsx";
import { KeyFile } from "./key-file.tsx";
import { canMakeKeys, importKey } from "./key-pair.ts";
import { openSealed, readable } from "./open-sealed.ts";
import { rememberOpened } from "./opened-here.ts";
import { keepInPage, openWithAny, usePageKeys } from "./page-keys.ts";
import { readPrivateKey } from "./read-key.ts";

/** The payload of a delivery: as sent, and decrypted with the user's private key. */
export function SealedBodyView({ body }: { body: Static<typeof SealedBody> }) {
  return (
    <div className="space-y-4">
      <Facts
        facts={[
          [t.webhooks.encryptedTo, <bdi key="key">{body.key_id}</bdi>],
          [t.webhooks.size, t.webhooks.bytes(body.bytes)],
        ]}
      />
      <Disclosure title={t.webhooks.raw}>
        <div className="mt-3">
          <Code wrap label={t.webhooks.encryptedBody} text={body.jwe} />
        </div>
      </Disclosure>
      <OpenHere jwe={body.jwe} />
    </div>
  );
}

/** For a body that the service has erased but the receiver may have kept. */
export function PastedBody() {
  const [jwe, setJwe] = useState("");
  return (
    <Disclosure title={t.webhooks.decryptPasted}>
      <div className="mt-3 space-y-4">
        <TextArea
          label={t.webhooks.encryptedBody}
          name="jwe"
          rows={4}
          hint={t.webhooks.pastedHint}
          onChange={setJwe}
        />
        {jwe.trim() === "" ? null : <OpenHere key={jwe} jwe={jwe} />}
      </div>
    </Disclosure>
  );
}

/** Decrypts at once with a key of this page; otherwise asks for one. */
export function OpenHere({ jwe }: { jwe: string }) {
  const { organization } = useWorkspace();
  const keys = usePageKeys();
  const [opened, setOpened] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    void openWithAny(jwe, keys).then((text) => {
      if (!current || text === null) return;
      setOpened(text);
      rememberOpened(organization.id);
    });
    return () => {
      current = false;
    };
  }, [jwe, keys, organization.id]);
  if (opened !== null)
    return (
      <div className="space-y-2">
        <Notice kind="good">{t.webhooks.decrypted}</Notice>
        <Code label={t.webhooks.decryptedPayload} text={shownText(readable(opened))} />
      </div>
    );
  if (!canMakeKeys()) return <Notice kind="warn">{t.webhooks.noHttpsDecrypt}</Notice>;
  return (
    <Form
      submit={t.webhooks.decryptHere}
      look="plain"
      onSubmit={async (values) => {
        const key = await importKey(readPrivateKey(values.raw("private_key"))).catch((error: Error) => {
          // The browser's own message about an unusable key does not help.
          throw error instanceof DOMException ? new PageProblem(t.webhooks.unusableKey) : error;
        });
        await openSealed(jwe, key);
        keepInPage(key);
      }}
    >
      <KeyFile label={t.webhooks.privateKey} name="private_key" hint={t.webhooks.privateKeyHint} />
    </Form>
  );
}
