import { useState } from "react";
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
      <Choices small legend="Copy as" options={codeLanguages} value={language} onChange={setLanguage} />
      <Code label={`As ${label}`} text={requestCode(language, request)} />
      <p className="text-small text-muted">Set {keyVariable} in your environment first.</p>
    </div>
  );
}
