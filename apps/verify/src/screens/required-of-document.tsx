import { requirementNames } from "@assay/contract/facts";
import { Notice } from "@assay/ui/notice";
import { useWords } from "../i18n/language.ts";
import type { Details } from "../session/api.ts";

/**
 * What this document must support, shown before it is read: the person may have another document that does.
 */
export function RequiredOfDocument({ requirements }: { requirements: Details["requirements"] }) {
  const { t } = useWords();
  return requirementNames
    .filter((name) => requirements[name] === "required")
    .map((name) => (
      <Notice key={name} look="info" title={t.needRequired[name].title}>
        <p>{t.needRequired[name].text}</p>
      </Notice>
    ));
}
