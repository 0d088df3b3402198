import { useState } from "react";
import { t } from "../i18n/words.ts";
import { Choices } from "./choices.tsx";
import { Code } from "./code.tsx";
import {
  type CodedRequest,
  type CodeLanguage,
  codeLanguages,
  keyVariable,
  requestCode,
} from "./request-code.ts";

/** The same request for a terminal or a program. */
export function CopyAs({ request }: { request: CodedRequest }) {
  const [language, setLanguage] = useState<CodeLanguage>("curl");
  const label = codeLanguages.find(({ value }) => value === language)?.label ?? language;
  return (
    <div className="space-y-3">
      <Choices small legend={t.ui.copyAs} options={codeLanguages} value={language} onChange={setLanguage} />
      <Code label={t.ui.codeAs(label)} text={requestCode(language, request)} />
      <p className="text-small text-muted">{t.ui.setVariable(keyVariable)}</p>
    </div>
  );
}
