import type { ChipSource } from "@assay/device/drive-device";
import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import { Button } from "@assay/ui/button";
import { Notice } from "@assay/ui/notice";
import { useCallback, useEffect, useState } from "react";
import { useWords } from "../i18n/language.ts";
import type { ListedTestDocument } from "../session/api.ts";
import type { Session } from "../session/use-session.ts";
import { useOnline, useWhenBack } from "../ui/connection.tsx";
import { loadPart } from "../ui/load-part.ts";
import { Card } from "../ui/screen.tsx";
import { ScanOffer } from "./scan-offer.tsx";

/** Enough for who wants to see one pass. All of them are four screens of a phone. */
const firstShown = 3;

const loadVirtual = () => import("../reading/virtual-document.ts");

export function TestDocuments({
  session,
  onSource,
}: {
  session: Session;
  onSource: (source: ChipSource) => void;
}) {
  const { t } = useWords();
  const [documents, setDocuments] = useState<readonly ListedTestDocument[] | null>(null);
  const [failed, setFailed] = useState(false);
  const [chosen, setChosen] = useState<string | null>(null);
  const [all, setAll] = useState(false);
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt loads the list again.
  useEffect(() => {
    setFailed(false);
    if (documents !== null) return;
    void session.api.testDocuments().then(
      (loaded) => {
        setDocuments(loaded);
        setChosen((before) => before ?? loaded[0]?.id ?? null);
      },
      () => setFailed(true),
    );
  }, [session.api, attempt]);
  const openRead = useCallback(
    async (key: MrzKeyFields) => {
      const { virtualSource } = await loadPart(loadVirtual);
      // Found by its number alone: whether the whole key is right is for its chip to say.
      const document = documents?.find(({ mrzLines }) =>
        mrzLines.join("").includes(key.documentNumber.padEnd(9, "<").slice(0, 9)),
      );
      if (document === undefined) return false;
      onSource(virtualSource(document, key));
      return true;
    },
    [documents, onSource],
  );
  const online = useOnline();
  useWhenBack(useCallback(() => setAttempt((before) => before + 1), []));
  if (failed && online)
    return (
      <Notice look="warn" title={t.connectionGone} urgent>
        <Button look="secondary" onClick={() => setAttempt(attempt + 1)}>
          {t.tryAgain}
        </Button>
      </Notice>
    );
  if (documents === null) return <p>{t.loading}</p>;
  return (
    <>
      <form
        className="space-y-5"
        onSubmit={(event) => {
          event.preventDefault();
          const document = documents.find(({ id }) => id === chosen);
          if (document === undefined) return;
          onSource(async (onStep) => {
            const { virtualSource } = await loadPart(loadVirtual);
            return await virtualSource(document)(onStep);
          });
        }}
      >
        {groupsOf(all ? documents : documents.slice(0, firstShown)).map(({ name, listed }) => (
          <fieldset key={name} className="min-w-0">
            <legend className="mb-2 font-semibold">{t.pickGroup[name]}</legend>
            <div className="divide-y divide-line overflow-hidden rounded-card border border-line bg-card">
              {listed.map((document) => (
                <label
                  key={document.id}
                  className="flex cursor-pointer items-start gap-3 p-3.5 has-checked:bg-soft sm:px-5"
                >
                  <input
                    type="radio"
                    name="document"
                    value={document.id}
                    checked={document.id === chosen}
                    onChange={() => setChosen(document.id)}
                  />
                  <span className="min-w-0">
                    {/* The catalogue is for engineers, in English, also on a right-to-left page. */}
                    <span lang="en" dir="ltr" className="block font-medium">
                      {document.title}
                    </span>
                    <span lang="en" dir="ltr" className="block text-small text-muted">
                      {document.description}
                    </span>
                    {document.expectedFailureCode !== null && (
                      <span className="block text-small text-ink">
                        {t.pickEnds(t.failure[document.expectedFailureCode].title)}
                      </span>
                    )}
                  </span>
                </label>
              ))}
            </div>
          </fieldset>
        ))}
        {!all && documents.length > firstShown && (
          <Button look="secondary" className="w-full sm:w-auto" onClick={() => setAll(true)}>
            {t.pickAll(documents.length)}
          </Button>
        )}
        <div className="in-reach space-y-2">
          <Button type="submit" className="w-full sm:w-auto">
            {t.pickUse}
          </Button>
          <p className="text-small text-muted">{t.virtualStop}</p>
        </div>
      </form>
      <Card title={t.scan.pageTitle}>
        <p>{t.scan.pageText}</p>
        <DataPage key={chosen} document={documents.find(({ id }) => id === chosen) ?? null} />
        <ScanOffer onKey={openRead} look="secondary" />
      </Card>
    </>
  );
}

/** The data page of a test document, drawn on request. */
function DataPage({ document }: { document: ListedTestDocument | null }) {
  const { t } = useWords();
  const [address, setAddress] = useState<string | null>(null);
  if (document === null) return null;
  const show = async () => {
    const { testPageAddress } = await import("../reading/test-page.ts");
    setAddress(testPageAddress(document, new Date()));
  };
  if (address === null)
    return (
      <Button look="secondary" onClick={() => void show()}>
        {t.scan.pageShow}
      </Button>
    );
  return (
    <img
      src={address}
      alt={document.mrzLines.join("\n")}
      data-testid="data-page"
      className="w-full max-w-2xl rounded-card border border-line"
    />
  );
}

type Group = "passes" | "document" | "face";

/** By how they end, those that pass first. */
function groupsOf(
  documents: readonly ListedTestDocument[],
): { name: Group; listed: readonly ListedTestDocument[] }[] {
  const ofFace: readonly (string | null)[] = ["liveness_failed", "selfie_face_mismatch"];
  const groupOf = ({ expectedFailureCode: code }: ListedTestDocument): Group =>
    code === null ? "passes" : ofFace.includes(code) ? "face" : "document";
  return (["passes", "document", "face"] as const)
    .map((name) => ({ name, listed: documents.filter((document) => groupOf(document) === name) }))
    .filter(({ listed }) => listed.length > 0);
}
