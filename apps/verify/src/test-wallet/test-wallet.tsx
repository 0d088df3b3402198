import type { DcqlCredential } from "@assay/credential/dcql/query";
import { firstClaimSet, purposeOf } from "@assay/credential/test-country/present-specimen";
import {
  type WalletOutcome,
  walletOutcomeNames,
  walletOutcomes,
} from "@assay/credential/test-country/wallet-outcomes";
import { answerRequest } from "@assay/credential/test-wallet/answer-request";
import { type Fetch, type ReadRequest, readRequest } from "@assay/credential/test-wallet/read-request";
import { Actions, Button, LinkButton } from "@assay/ui/button";
import { Notice } from "@assay/ui/notice";
import { type ReactNode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { takeGiven } from "../session/given.ts";
import { readTestWalletAddress } from "../session/test-wallet-address.ts";
import { Card } from "../ui/screen.tsx";

/**
 * Replaces the wallet on a person's phone in sandbox sessions. It uses the wallet protocol and endpoints, and
 * knows nothing else of the session. For engineers, in English, like the catalogue of test documents.
 */
export function showTestWallet(root: HTMLElement): void {
  const address = readTestWalletAddress(location);
  const given = address === null ? null : takeGiven(address.sessionId);
  document.documentElement.lang = "en";
  document.documentElement.dir = "ltr";
  document.title = "Test wallet";
  root.replaceChildren();
  createRoot(root).render(
    <TestWallet
      link={address?.link ?? ""}
      home={`/verify/${address?.sessionId ?? ""}`}
      name={given?.details.organization.name ?? null}
      isSandbox={given?.details.sandbox ?? true}
    />,
  );
}

/** The page may have been opened by another address than the one that requests name. */
const send: Fetch = (url, init) =>
  fetch(url.replace(/^.*?(?=\/oid4vp\/)/, ""), { ...init, cache: "no-store" });

type Shown = { at: "reading" | "sending" | "sent" } | { at: "asked" } | { at: "failed"; message: string };

function TestWallet({
  link,
  home,
  name,
  isSandbox,
}: {
  link: string;
  home: string;
  name: string | null;
  isSandbox: boolean;
}) {
  const [shown, setShown] = useState<Shown>({ at: "reading" });
  const [request, setRequest] = useState<ReadRequest | null>(null);
  const fail = (error: unknown) =>
    setShown({ at: "failed", message: error instanceof Error ? error.message : String(error) });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a request is fetched once; a second time it is refused.
  useEffect(() => {
    if (!isSandbox) return fail(new Error("This session is live. Only a real wallet can answer it."));
    readRequest(link, send).then((read) => {
      setRequest(read);
      setShown({ at: "asked" });
    }, fail);
  }, []);
  const answer = async (outcome: WalletOutcome, credentialId: string) => {
    if (request === null) return;
    setShown({ at: "sending" });
    try {
      const { redirectUri } = await answerRequest(request, outcome, {
        fetch: send,
        now: new Date(),
        credentialId,
      });
      if (redirectUri !== null) location.assign(redirectUri);
      else setShown({ at: "sent" });
    } catch (error) {
      fail(error);
    }
  };
  return (
    <>
      <aside className="border-b border-line bg-soft px-4 py-1 text-center text-small font-semibold text-muted">
        This is a test wallet
      </aside>
      <main className="mx-auto w-full page-width space-y-5 px-4 pt-5 pb-8 sm:px-6 sm:pt-8">
        <h1 className="text-title font-bold tracking-tight">Test wallet</h1>
        <p className="text-muted">
          This page stands in for the wallet on a person's phone. Its credentials come from a country that
          does not exist, and only sandbox sessions accept them.
        </p>
        {shown.at === "reading" && <p role="status">Reading the request …</p>}
        {shown.at === "failed" && (
          <Notice look="bad" title="The test wallet cannot go on" urgent>
            <p>{shown.message}</p>
            <LinkButton look="secondary" href={home}>
              Back to the session
            </LinkButton>
          </Notice>
        )}
        {shown.at === "sent" && (
          <Notice look="good" title="The answer was sent" urgent>
            <LinkButton href={home}>Back to the session</LinkButton>
          </Notice>
        )}
        {request !== null && (shown.at === "asked" || shown.at === "sending") && (
          <Asked
            request={request}
            name={name}
            busy={shown.at === "sending"}
            onAnswer={(outcome, credentialId) => void answer(outcome, credentialId)}
          />
        )}
      </main>
    </>
  );
}

const titles = {
  pid: "Identity (PID)",
  mdl: "Driving licence (mDL)",
  age: "Proof of age",
} as const;
const formats = { mso_mdoc: "mdoc", "dc+sd-jwt": "SD-JWT VC" } as const;

function Asked({
  request,
  name,
  busy,
  onAnswer,
}: {
  request: ReadRequest;
  name: string | null;
  busy: boolean;
  onAnswer: (outcome: WalletOutcome, credentialId: string) => void;
}) {
  const { credentials } = request.query;
  const [credentialId, setCredentialId] = useState(credentials[0]?.id ?? "");
  const [outcome, setOutcome] = useState<WalletOutcome>("valid");
  return (
    <form
      className="space-y-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) onAnswer(outcome, credentialId);
      }}
    >
      <Card title="Who is asking">
        <p>
          {name !== null && <bdi className="font-semibold">{name}</bdi>}
          {name !== null && ", through "}
          <span className="font-semibold">{request.verifier}</span>
        </p>
        <p className="font-mono text-small break-all text-muted">{request.clientId}</p>
      </Card>
      <Choice legend="What is asked for">
        {credentials.map((credential) => (
          <Option
            key={credential.id}
            name="credential"
            value={credential.id}
            isChosen={credential.id === credentialId}
            onChoose={() => setCredentialId(credential.id)}
            title={`${titles[purposeOf(credential)]}, as ${formats[credential.format]}`}
            text={claimNames(credential).join(", ")}
          />
        ))}
      </Choice>
      <Choice legend="How the wallet answers">
        {walletOutcomeNames
          .filter((each) => each !== "declines")
          .map((each) => {
            const { title, description, failureCode } = walletOutcomes[each];
            return (
              <Option
                key={each}
                name="outcome"
                value={each}
                isChosen={each === outcome}
                onChoose={() => setOutcome(each)}
                title={title}
                text={failureCode === null ? description : `${description} Refused with ${failureCode}.`}
              />
            );
          })}
      </Choice>
      <Actions>
        <Button type="submit" busy={busy}>
          {busy ? "Sending …" : "Share"}
        </Button>
        <Button look="secondary" busy={busy} onClick={() => onAnswer("declines", credentialId)}>
          Decline
        </Button>
      </Actions>
    </form>
  );
}

function claimNames(credential: DcqlCredential): string[] {
  const names = firstClaimSet(credential).map((path) => path.findLast((part) => typeof part === "string"));
  return [...new Set(names.map(String))];
}

function Choice({ legend, children }: { legend: string; children: ReactNode }) {
  return (
    <fieldset className="min-w-0">
      <legend className="mb-2 font-semibold">{legend}</legend>
      <div className="divide-y divide-line overflow-hidden rounded-card border border-line bg-card">
        {children}
      </div>
    </fieldset>
  );
}

function Option(option: {
  name: string;
  value: string;
  isChosen: boolean;
  onChoose: () => void;
  title: string;
  text: string;
}) {
  return (
    <label className="flex cursor-pointer items-start gap-3 p-3.5 has-checked:bg-soft sm:px-5">
      <input
        type="radio"
        name={option.name}
        value={option.value}
        checked={option.isChosen}
        onChange={option.onChoose}
      />
      <span className="min-w-0">
        <span className="block font-medium">{option.title}</span>
        <span className="block text-small break-words text-muted">{option.text}</span>
      </span>
    </label>
  );
}
