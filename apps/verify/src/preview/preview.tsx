import type { SessionId } from "@assay/contract/ids";
import { isolated } from "@assay/contract/shown-text";
import { schemeProperties } from "@assay/ui/brand";
import { type Look, previewReady, readLook } from "@assay/ui/preview";
import { useEffect, useLayoutEffect, useMemo, useState } from "react";
import { createRoot } from "react-dom/client";
import { loadWords, markLanguage, WordsContext } from "../i18n/language.ts";
import { ConsentScreen } from "../screens/consent.tsx";
import { type Details, SessionApi } from "../session/api.ts";
import { type GivenTexts, takeGivenTexts } from "../session/given.ts";
import { Kept } from "../session/kept.ts";
import type { Session } from "../session/use-session.ts";
import { Loading } from "../ui/connection.tsx";
import { Layout } from "../ui/layout.tsx";
import { Screen } from "../ui/screen.tsx";

/**
 * The person's page in the look of an organization, in a frame of the dashboard's brand editor. It has no
 * session: its headers forbid all requests, it accepts no input, and it shows nothing of its address. Opened
 * alone it shows no name.
 */
export async function showPreview(root: HTMLElement): Promise<void> {
  const words = await loadWords("en");
  const texts = takeGivenTexts();
  markLanguage(words.language);
  root.replaceChildren();
  createRoot(root).render(
    <WordsContext value={words}>
      <Preview texts={texts} />
    </WordsContext>,
  );
}

const isFramed = window.parent !== window;

function Preview({ texts }: { texts: GivenTexts | null }) {
  const look = useLook();
  useScheme(look?.scheme ?? null);
  const details = useMemo(() => (look === null ? null : standIn(look)), [look]);
  const session = useMemo(() => sessionOf(texts), [texts]);
  return (
    <>
      <aside className="border-b border-line bg-soft px-4 py-1 text-center text-small font-semibold text-muted">
        Preview
      </aside>
      <div
        // From the first moment: the page around takes it out of the keyboard's way before any look has come.
        inert={isFramed}
      >
        <Layout
          ready
          details={details}
          logo={look?.logo ?? null}
          steps={["consent", "chip", "face", "done"]}
          step={details === null ? null : "consent"}
          deadline={null}
          onLanguage={() => {}}
        >
          {details !== null ? (
            <ConsentScreen
              session={session}
              details={details}
              way={{ by: "code" }}
              onAgreed={() => {}}
              onThisDevice={null}
            />
          ) : isFramed ? (
            <Loading />
          ) : (
            <Screen
              title="Preview"
              lead="The settings of an organization show here how its page will look. It is no verification."
              icon="info"
            />
          )}
        </Layout>
      </div>
    </>
  );
}

/**
 * The look that the parent page sends, each time it does.
 * Only the dashboard may frame this page (its policy).
 */
function useLook(): Look | null {
  const [look, setLook] = useState<Look | null>(null);
  useEffect(() => {
    if (!isFramed) return;
    const onMessage = ({ origin, source, data }: MessageEvent<unknown>) => {
      if (origin !== location.origin || source !== window.parent) return;
      const received = readLook(data);
      if (received !== null) setLook(received);
    };
    window.addEventListener("message", onMessage);
    window.parent.postMessage(previewReady, location.origin);
    return () => window.removeEventListener("message", onMessage);
  }, []);
  return look;
}

function useScheme(scheme: Look["scheme"] | null): void {
  useLayoutEffect(() => {
    if (scheme === null) return;
    const { style } = document.documentElement;
    for (const [name, value] of schemeProperties(scheme)) style.setProperty(name, value);
  }, [scheme]);
}

function sessionOf(texts: GivenTexts | null): Session {
  return {
    api: new SessionApi("preview"),
    kept: new Kept("preview"),
    details: null,
    status: null,
    clock: null,
    problem: null,
    connected: true,
    texts,
    sawItOpen: false,
    reload: async () => {},
  };
}

/** A session as a bank would ask for it. */
function standIn({ name, domain, colour, logo }: Look): Details {
  const now = new Date(0).toISOString();
  const reason = "Your reason appears here.";
  const fields = {
    family_name: { required: true, reason },
    date_of_birth: { required: true, reason },
    nationality_code: { required: false, reason },
  };
  return {
    id: "preview" as SessionId,
    status: "created",
    failure_code: null,
    unmet_requirement: null,
    sandbox: domain === null,
    organization: {
      name: isolated(name),
      verified: domain !== null,
      domain,
      domain_unicode: domain,
      brand_color: colour,
      logo_url: logo,
      website_url: null,
      business: null,
      support_email: null,
      privacy_url: null,
      terms_url: null,
    },
    ways: [{ method: "document_chip", channels: [], looks_at: [] }],
    share_fields: Object.fromEntries(
      Object.entries(fields).map(([key, field]) => [key, { ...field, source: "rc" as const }]),
    ),
    requirements: { clone_detection: "preferred", revocation: "preferred", binding: "preferred" },
    locale: null,
    tries: { nfc_tries_used: 0, nfc_tries_left: 3, liveness_tries_used: 0, liveness_tries_left: 3 },
    terms: { version: "", hash: "", text: "paragraphs" },
    desk_readers: false,
    reader_apps: { android: null, ios: null },
    consent: null,
    redirect_url: "",
    return_url: null,
    embed_origin: null,
    expires_at: now,
    completed_at: null,
    created_at: now,
    server_time: now,
  };
}
