import { chooseLanguage, type Language, languages } from "./language.ts";
import { t } from "./words.ts";

/** Each language is listed by its own name, so that its readers find it on a page in another one. */
export function LanguagePicker() {
  return (
    <label className="inline-flex items-center gap-2">
      <span>{t.shell.language}</span>
      <select
        className="rounded-control border border-line bg-card px-2 py-1 text-ink"
        value={document.documentElement.lang}
        onChange={(event) => chooseLanguage(event.currentTarget.value as Language)}
      >
        {Object.entries(languages).map(([tag, name]) => (
          <option key={tag} value={tag} lang={tag}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
