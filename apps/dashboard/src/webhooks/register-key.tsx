import { getEndpoint, listEndpoints, listKeys, registerKey } from "@assay/contract/webhooks";
import { useState } from "react";
import { call, problemOf } from "../api/call.ts";
import { refresh } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { Button, useAction } from "../ui/button.tsx";
import { Choices } from "../ui/choices.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { saveFile } from "../ui/save-file.ts";
import { KeyFile } from "./key-file.tsx";
import { canMakeKeys, type KeyPair, makeKeyPair } from "./key-pair.ts";
import { keepInPage } from "./page-keys.ts";
import { readPublicKey } from "./read-key.ts";

type KeySource = "make" | "own";

const keySources = () =>
  [
    { value: "make", label: t.webhooks.generate, about: t.webhooks.generateAbout },
    { value: "own", label: t.webhooks.ownKey, about: t.webhooks.ownKeyAbout },
  ] as const satisfies readonly { value: KeySource; label: string; about: string }[];

function todaysName(): string {
  return `key-${new Date().toISOString().slice(0, 10)}`;
}

/** Registers a public key. The private key is generated here or stays with the user. */
export function RegisterKey(props: {
  endpointId: string;
  /** `callInLive` for an endpoint of live, on a page of the sandbox. */
  send?: typeof call;
  onClose: () => void;
}) {
  const [source, setSource] = useState<KeySource>(canMakeKeys() ? "make" : "own");
  const [stripped, setStripped] = useState(false);
  const register = async (name: string, { n, e }: { n: string; e: string }) => {
    await (props.send ?? call)(registerKey, {
      params: { endpoint_id: props.endpointId },
      body: {
        key_id: name,
        algorithm: "RSA-OAEP-256",
        key_type: "RSA",
        jwk: { kty: "RSA", n, e, alg: "RSA-OAEP-256", use: "enc", kid: name },
      },
    });
    await refresh(listKeys, getEndpoint, listEndpoints);
  };
  if (stripped)
    return (
      <Dialog title={t.webhooks.registeredTitle} onClose={props.onClose}>
        <Notice kind="warn">{t.webhooks.wasPrivate}</Notice>
        <p className="mb-4">{t.webhooks.keepPrivate}</p>
        <Button look="primary" onClick={props.onClose}>
          {t.ui.close}
        </Button>
      </Dialog>
    );
  return (
    <Dialog title={t.ui.registerKey} onClose={props.onClose} wide>
      <div className="space-y-5">
        {canMakeKeys() ? (
          <Choices legend={t.webhooks.keySource} options={keySources()} value={source} onChange={setSource} />
        ) : (
          <Notice kind="warn">{t.webhooks.noHttpsGenerate}</Notice>
        )}
        {source === "make" ? (
          <MakePair register={register} onClose={props.onClose} />
        ) : (
          <Form
            submit={t.webhooks.registerSubmit}
            onSubmit={async (values) => {
              const key = readPublicKey(values.raw("public_key"));
              await register(values.text("key_id") || key.kid || todaysName(), key);
              if (key.wasPrivate) setStripped(true);
              else props.onClose();
            }}
          >
            <KeyFile label={t.webhooks.publicKey} name="public_key" hint={t.webhooks.publicKeyHint} />
            <Field label={t.ui.name} name="key_id" optional maxLength={100} hint={t.webhooks.ownNameHint} />
          </Form>
        )}
      </div>
    </Dialog>
  );
}

function MakePair(props: {
  register: (name: string, key: { n: string; e: string }) => Promise<void>;
  onClose: () => void;
}) {
  const [pair, setPair] = useState<KeyPair | null>(null);
  const [saved, setSaved] = useState(false);
  const making = useAction(async () => setPair(await makeKeyPair()));
  if (pair === null)
    return (
      <div className="space-y-3">
        <p>{t.webhooks.generateText}</p>
        <Button look="primary" disabled={making.busy} onClick={() => void making.run()}>
          {making.busy ? t.ui.oneMoment : t.webhooks.generate}
        </Button>
        {making.error === null ? null : <Notice kind="bad" problem={problemOf(making.error)} />}
      </div>
    );
  const file = `assay-${todaysName()}`;
  const save = (name: string, type: string, text: string) => {
    saveFile(name, type, [text]);
    setSaved(true);
  };
  return (
    <div className="space-y-5">
      <div>
        <p className="mb-2 font-medium">{t.webhooks.savePrivate}</p>
        <div className="flex flex-wrap gap-3">
          <Button onClick={() => save(`${file}.pem`, "application/x-pem-file", pair.pem)}>
            {t.webhooks.saveAs("PEM")}
          </Button>
          <Button
            onClick={() => save(`${file}.jwk.json`, "application/json", JSON.stringify(pair.jwk, null, 2))}
          >
            {t.webhooks.saveAs("JWK")}
          </Button>
        </div>
        <output className="mt-2 block text-small text-muted">
          {saved ? t.webhooks.saved : t.webhooks.saveFirst}
        </output>
      </div>
      {saved ? (
        <div>
          <p className="mb-2 font-medium">{t.webhooks.registerPublicStep}</p>
          <Form
            submit={t.webhooks.registerPublic}
            onSubmit={async (values) => {
              await props.register(values.text("key_id"), pair);
              keepInPage(pair.privateKey);
              props.onClose();
            }}
          >
            <Field
              label={t.ui.name}
              name="key_id"
              maxLength={100}
              defaultValue={todaysName()}
              hint={t.webhooks.nameHint}
            />
          </Form>
          <p className="mt-3 text-small text-muted">{t.webhooks.alsoDecrypts}</p>
        </div>
      ) : null}
    </div>
  );
}
