import { getEndpoint, listEndpoints, listKeys, registerKey } from "@assay/contract/webhooks";
import { useState } from "react";
import { call, problemOf } from "../api/call.ts";
import { refresh } from "../api/queries.ts";
import { Button, useAction } from "../ui/button.tsx";
import { Choices } from "../ui/choices.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { KeyFile } from "./key-file.tsx";
import { canMakeKeys, type KeyPair, makeKeyPair } from "./key-pair.ts";
import { keepInPage } from "./page-keys.ts";
import { readPublicKey } from "./read-key.ts";

type Way = "make" | "own";

const ways = [
  { value: "make", label: "Generate key pair", about: "In this browser. You save the private key." },
  { value: "own", label: "Use my own key", about: "Paste the public key or choose a file." },
] as const satisfies readonly { value: Way; label: string; about: string }[];

function todaysName(): string {
  return `key-${new Date().toISOString().slice(0, 10)}`;
}

/** Registers a public key. The private key is made here or stays where it is. */
export function RegisterKey(props: {
  endpointId: string;
  /** `callInLive` for an endpoint of live, on a page of the sandbox. */
  send?: typeof call;
  onClose: () => void;
}) {
  const [way, setWay] = useState<Way>(canMakeKeys() ? "make" : "own");
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
      <Dialog title="Key registered" onClose={props.onClose}>
        <Notice kind="warn">
          This was a private key. Only its public part was sent; the rest never left this page.
        </Notice>
        <p className="mb-4">
          Keep private keys out of web pages and chats. If others may have seen it, generate a new one.
        </p>
        <Button look="primary" onClick={props.onClose}>
          Close
        </Button>
      </Dialog>
    );
  return (
    <Dialog title="Register key" onClose={props.onClose} wide>
      <div className="space-y-5">
        {canMakeKeys() ? (
          <Choices legend="Key source" options={ways} value={way} onChange={setWay} />
        ) : (
          <Notice kind="warn">
            This page was loaded without HTTPS, so the browser cannot generate a key. Use your own tools.
          </Notice>
        )}
        {way === "make" ? (
          <MakePair register={register} onClose={props.onClose} />
        ) : (
          <Form
            submit="Register"
            onSubmit={async (values) => {
              const key = readPublicKey(values.raw("public_key"));
              await register(values.text("key_id") || key.kid || todaysName(), key);
              if (key.wasPrivate) setStripped(true);
              else props.onClose();
            }}
          >
            <KeyFile
              label="Public key"
              name="public_key"
              hint="RSA, at least 2048 bits: PEM, JWK or a certificate."
            />
            <Field
              label="Name"
              name="key_id"
              optional
              maxLength={100}
              hint="Deliveries name the key they are encrypted to. Defaults to the key's own ID or today's date."
            />
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
        <p>
          Your browser generates the key pair. We receive only the public key. You save the private key as a
          file: it is never sent and cannot be recovered.
        </p>
        <Button look="primary" disabled={making.busy} onClick={() => void making.run()}>
          {making.busy ? "One moment…" : "Generate key pair"}
        </Button>
        {making.error === null ? null : <Notice kind="bad" problem={problemOf(making.error)} />}
      </div>
    );
  const file = `assay-${todaysName()}`;
  return (
    <div className="space-y-5">
      <div>
        <p className="mb-2 font-medium">1. Save the private key</p>
        <div className="flex flex-wrap gap-3">
          <SaveFile
            name={`${file}.pem`}
            type="application/x-pem-file"
            text={pair.pem}
            onSaved={() => setSaved(true)}
          >
            Save as PEM
          </SaveFile>
          <SaveFile
            name={`${file}.jwk.json`}
            type="application/json"
            text={JSON.stringify(pair.jwk, null, 2)}
            onSaved={() => setSaved(true)}
          >
            Save as JWK
          </SaveFile>
        </div>
        <output className="mt-2 block text-small text-muted">
          {saved
            ? "Saved to your downloads. Move it to a place that only your server can read."
            : "Most tools read PEM. The key cannot be recovered, so save it before you continue."}
        </output>
      </div>
      {saved ? (
        <div>
          <p className="mb-2 font-medium">2. Register public key</p>
          <Form
            submit="Register public key"
            onSubmit={async (values) => {
              await props.register(values.text("key_id"), pair);
              keepInPage(pair.privateKey);
              props.onClose();
            }}
          >
            <Field
              label="Name"
              name="key_id"
              maxLength={100}
              defaultValue={todaysName()}
              hint="Deliveries name the key they are encrypted to."
            />
          </Form>
          <p className="mt-3 text-small text-muted">
            Until you close or reload this page, it also decrypts events here.
          </p>
        </div>
      ) : null}
    </div>
  );
}

function SaveFile(props: {
  name: string;
  type: string;
  text: string;
  onSaved: () => void;
  children: string;
}) {
  return (
    <Button
      onClick={() => {
        const url = URL.createObjectURL(new Blob([props.text], { type: props.type }));
        const link = document.createElement("a");
        link.href = url;
        link.download = props.name;
        link.click();
        // The browser has taken what it needs by then; the text does not have to stay behind.
        setTimeout(() => URL.revokeObjectURL(url), 10_000);
        props.onSaved();
      }}
    >
      {props.children}
    </Button>
  );
}
