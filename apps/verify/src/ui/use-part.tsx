import { Button } from "@assay/ui/button";
import { type ReactNode, useEffect, useState } from "react";
import { useWords } from "../i18n/language.ts";
import { Loading } from "./connection.tsx";
import { Screen } from "./screen.tsx";

/**
 * A part of the page that is loaded when needed, and its placeholder until then.
 * Without `load` it is not needed.
 */
export function usePart<T extends object>(
  load: (() => Promise<T>) | null,
  loaded: T | null = null,
): { part: T | null; failed: boolean; instead: ReactNode } {
  const { t } = useWords();
  const [part, setPart] = useState(loaded);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (load === null || failed) return;
    let left = false;
    load().then(
      (found) => !left && setPart(found),
      () => !left && setFailed(true),
    );
    return () => {
      left = true;
    };
  }, [load, failed]);
  const instead = failed ? (
    <Screen key="not-loaded" title={t.noAnswerTitle} lead={t.noAnswerText} icon="offline">
      <Button className="w-full sm:w-auto" onClick={() => setFailed(false)}>
        {t.tryAgain}
      </Button>
    </Screen>
  ) : (
    <Loading />
  );
  return { part, failed, instead };
}
