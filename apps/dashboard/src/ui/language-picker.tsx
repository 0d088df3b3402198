import { chooseLanguage, type Language, languages } from "../i18n/language.ts";
import { t } from "../i18n/words.ts";
import { Icon } from "./icon.tsx";

/** Each language has its own name, so that its readers find it. `compact` is for small spaces. */
export function LanguagePicker({ compact = false }: { compact?: boolean }) {
  return (
    <label className="inline-flex items-center gap-2">
      <span className={compact ? "sr-only" : ""}>{t.ui.language}</span>
      <span className="relative">
        <select
          className={`min-h-8 rounded-control border border-line bg-card py-1 text-ink ${compact ? "ps-1.5 pe-5.5" : "ps-2.5 pe-8"}`}
          value={document.documentElement.lang}
          onChange={(event) => chooseLanguage(event.currentTarget.value as Language)}
        >
          {Object.entries(languages).map(([tag, name]) => (
            <option key={tag} value={tag} lang={tag}>
              {name}
            </option>
          ))}
        </select>
        <Icon
          name="chevron"
          className={`pointer-events-none absolute top-1/2 -translate-y-1/2 ${compact ? "end-1 size-3.5" : "end-2.5 size-4"}`}
        />
      </span>
    </label>
  );
}
