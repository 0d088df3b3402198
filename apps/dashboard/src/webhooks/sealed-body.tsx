import { shownText } from "@assay/contract/shown-text";
import type { SealedBody } from "@assay/contract/webhooks";
import { useEffect, useState } from "react";
import type { Static } from "typebox";
import { PageProblem } from "../api/page-problem.ts";
import { usePlace } from "../shell/organization-context.ts";
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

/** What a delivery carries: as it is sent, and decrypted for a user who has the private key at hand. */
export function SealedBodyView({ body }: { body: Static<typeof SealedBody> }) {
  return (
    <div className="space-y-4">
      <Facts
        facts={[
          ["Encrypted to", <bdi key="key">{body.key_id}</bdi>],
          ["Size", `${body.bytes.toLocaleString("en")} bytes`],
        ]}
      />
      <Disclosure title="Raw body">
        <div className="mt-3">
          <Code wrap label="Encrypted body" text={body.jwe} />
        </div>
      </Disclosure>
      <OpenHere jwe={body.jwe} />
    </div>
  );
}

/** For a body that the service has erased, but whose receiver may have kept it. */
export function PastedBody() {
  const [jwe, setJwe] = useState("");
  return (
    <Disclosure title="Decrypt a body that your server received">
      <div className="mt-3 space-y-4">
        <TextArea
          label="Encrypted body"
          name="jwe"
          rows={4}
          hint="The whole request body. It is decrypted in this page and not sent anywhere."
          onChange={setJwe}
        />
        {jwe.trim() === "" ? null : <OpenHere key={jwe} jwe={jwe} />}
      </div>
    </Disclosure>
  );
}

/** Opens at once with a key that the page has; otherwise asks for one. */
export function OpenHere({ jwe }: { jwe: string }) {
  const { organization } = usePlace();
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
        <Notice kind="good">
          Decrypted in this page. The service never had the key and cannot read this.
        </Notice>
        <Code label="Decrypted payload" text={shownText(readable(opened))} />
      </div>
    );
  if (!canMakeKeys())
    return (
      <Notice kind="warn">This page was loaded without HTTPS, so the browser cannot decrypt here.</Notice>
    );
  return (
    <Form
      submit="Decrypt here"
      look="plain"
      onSubmit={async (values) => {
        const key = await importKey(readPrivateKey(values.raw("private_key"))).catch((error: Error) => {
          // The browser's own message about an unusable key does not help.
          throw error instanceof DOMException
            ? new PageProblem("This private key cannot be used. It is damaged or not an encryption key.")
            : error;
        });
        await openSealed(jwe, key);
        keepInPage(key);
      }}
    >
      <KeyFile
        label="Private key"
        name="private_key"
        hint="PEM or JWK. It stays in this page: it is never sent or stored, and is forgotten when you close or reload the page."
      />
    </Form>
  );
}
