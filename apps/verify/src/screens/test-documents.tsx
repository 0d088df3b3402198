import type { ChipSource } from "@assay/device/drive-device";
import { Button } from "@assay/ui/button";
import { Notice } from "@assay/ui/notice";
import { useEffect, useState } from "react";
import { useWords } from "../i18n/language.ts";
import type { ListedTestDocument } from "../session/api.ts";
import type { Session } from "../session/use-session.ts";

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
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt loads the list again.
  useEffect(() => {
    setFailed(false);
    void session.api.testDocuments().then(
      (loaded) => {
        setDocuments(loaded);
        setChosen((before) => before ?? loaded[0]?.id ?? null);
      },
      () => setFailed(true),
    );
  }, [session.api, attempt]);
  if (failed)
    return (
      <Notice look="warn" title={t.connectionGone} urgent>
        <Button look="secondary" onClick={() => setAttempt(attempt + 1)}>
          {t.tryAgain}
        </Button>
      </Notice>
    );
  if (documents === null) return <p>{t.loading}</p>;
  return (
    <form
      className="space-y-5"
      onSubmit={(event) => {
        event.preventDefault();
        const document = documents.find(({ id }) => id === chosen);
        if (document === undefined) return;
        onSource(async (onStep) => {
          const { virtualSource } = await import("../reading/virtual-document.ts");
          return await virtualSource(document)(onStep);
        });
      }}
    >
      {groupsOf(documents).map(({ name, listed }) => (
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
                  {/* The catalogue is written for engineers, in English. */}
                  <span lang="en" className="block font-medium">
                    {document.title}
                  </span>
                  <span lang="en" className="block text-small text-muted">
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
      <div className="in-reach space-y-2">
        <Button type="submit" className="w-full sm:w-auto">
          {t.pickUse}
        </Button>
        <p className="text-small text-muted">{t.virtualStop}</p>
      </div>
    </form>
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
