import type { ChipSource } from "@assay/device/drive-device";
import { useEffect, useState } from "react";
import { useWords } from "../i18n/language.ts";
import type { ListedTestDocument } from "../session/api.ts";
import type { Session } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";

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
      <fieldset className="min-w-0">
        <legend className="sr-only">{t.pickLegend}</legend>
        {/* The list is long: the button below it stays in sight. */}
        <div className="max-h-[26rem] divide-y divide-line overflow-y-auto rounded-2xl border border-field bg-card">
          {documents.map((document) => (
            <label
              key={document.id}
              className="flex cursor-pointer items-start gap-3 p-4 has-checked:bg-soft"
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
                <span lang="en" className="block text-sm text-muted">
                  {document.description}
                </span>
                <span
                  className={`block text-sm font-medium ${document.expectedFailureCode === null ? "text-good" : "text-bad"}`}
                >
                  {document.expectedFailureCode === null
                    ? t.pickPasses
                    : t.pickEnds(t.failure[document.expectedFailureCode].title)}
                </span>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      <div className="space-y-2">
        <Button type="submit">{t.pickUse}</Button>
        <p className="text-sm text-muted">{t.virtualStop}</p>
      </div>
    </form>
  );
}
