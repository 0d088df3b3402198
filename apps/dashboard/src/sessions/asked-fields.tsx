import { type PageLanguage, pageLanguages } from "@assay/contract/facts";
import { ageClaim, claimKeys } from "@assay/contract/sessions";
import { useEffect, useState } from "react";
import { t } from "../i18n/words.ts";
import { Button } from "../ui/button.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Field, Select } from "../ui/field.tsx";
import type { Values } from "../ui/form.tsx";
import { Icon } from "../ui/icon.tsx";
import { languageName } from "../ui/page-languages.ts";
import { claimLabel } from "./claim-labels.ts";
import { adultAge, type Reasons, type Shares, shareFields } from "./session-body.ts";

// Part of every session, so the form does not offer it.
const askedFields = [...claimKeys.filter((key) => key !== "service_document_id"), "age_over"] as const;
type AskedName = (typeof askedFields)[number];
type Wish = "no" | "optional" | "required";
type Row = { wish: Wish; reason: string; reasons: Reasons; age: string };

function labelOf(field: AskedName): string {
  return field === "age_over" ? t.sessions.minimumAge : claimLabel(field);
}

function rowsOf(shares: Shares): Record<AskedName, Row> {
  const ageKey = Object.keys(shares).find((key) => key.startsWith(ageClaim.prefix));
  const rowOf = (field: AskedName): Row => {
    const asked = shares[field === "age_over" ? (ageKey ?? "") : field];
    return {
      wish: asked === undefined ? "no" : asked.required ? "required" : "optional",
      reason: asked?.reason ?? "",
      reasons: asked?.reasons ?? {},
      age: ageKey?.slice(ageClaim.prefix.length) ?? adultAge,
    };
  };
  return Object.fromEntries(askedFields.map((field) => [field, rowOf(field)])) as Record<AskedName, Row>;
}

/** The fields that the form requests. */
export function askedShares(values: Values): Shares {
  const read = (field: string) => ({
    wish: values.raw(field),
    reason: values.text(`reason_${field}`),
    reasons: JSON.parse(values.raw(`reasons_${field}`) || "{}") as Reasons,
  });
  return shareFields(askedFields, read, values.text("age"));
}

/** The requested fields, one line each. The others are folded, unless the form begins without any. */
export function AskedFields({ shares, onShown }: { shares: Shares; onShown?: () => void }) {
  const [first] = useState(() => rowsOf(shares));
  const [rows, setRows] = useState(first);
  const [forAll, setForAll] = useState<string | null>(null);
  // The request is read from the form after it has rendered.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it changes with the rows.
  useEffect(() => onShown?.(), [rows]);
  const change = (field: AskedName, changed: Partial<Row>) =>
    setRows({ ...rows, [field]: { ...rows[field], ...changed } });
  const show = (field: AskedName) => (
    <AskedField key={field} field={field} row={rows[field]} onChange={(changed) => change(field, changed)} />
  );
  const [asked, others] = [
    askedFields.filter((field) => first[field].wish !== "no"),
    askedFields.filter((field) => first[field].wish === "no"),
  ];
  const count = askedFields.filter((field) => rows[field].wish !== "no").length;
  const isOwn = asked.length === 0;
  return (
    // By default a fieldset is as wide as its longest line, even if its parts are truncated.
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium">{t.sessions.requested}</legend>
      <p className="mb-3 text-small text-muted">{t.sessions.requestedHint(pageLanguages.length)}</p>
      {count < 2 ? null : forAll === null ? (
        <Button small onClick={() => setForAll("")}>
          {t.sessions.sameReason}
        </Button>
      ) : (
        <Field
          label={t.sessions.reasonForAll}
          name="reason_for_all"
          maxLength={200}
          optional="quiet"
          focusOnMount
          value={forAll}
          onChange={(reason) => {
            setForAll(reason);
            setRows(
              Object.fromEntries(
                askedFields.map((field) => [field, { ...rows[field], reason, reasons: {} }]),
              ) as typeof rows,
            );
          }}
        />
      )}
      <div className="mt-2 divide-y divide-line">{asked.map(show)}</div>
      <Disclosure isNeeded small open={isOwn} title={isOwn ? t.sessions.fields : t.sessions.moreFields}>
        <div className="divide-y divide-line">{others.map(show)}</div>
      </Disclosure>
    </fieldset>
  );
}

function AskedField(props: { field: AskedName; row: Row; onChange: (changed: Partial<Row>) => void }) {
  const { field, row } = props;
  const [editing, setEditing] = useState(false);
  const label = labelOf(field);
  const isAsked = row.wish !== "no";
  // A missing reason has to be written, so there is nothing to show yet.
  const hasInput = isAsked && (editing || row.reason === "");
  return (
    <div className="py-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium sm:w-44">{label}</span>
        {isAsked && field === "age_over" ? (
          <input
            name="age"
            aria-label={t.sessions.age}
            inputMode="numeric"
            pattern="[0-9]{2,3}"
            required
            defaultValue={row.age}
            className="min-h-10 w-16 rounded-control border border-field bg-card px-3 text-ink"
          />
        ) : null}
        {isAsked && !hasInput ? (
          <span className="flex min-w-0 flex-1 basis-40 items-center gap-1 text-small text-muted max-sm:order-last max-sm:basis-full">
            <bdi className="min-w-0 truncate" title={row.reason}>
              {row.reason}
            </bdi>
            <Button small look="quiet" label={t.sessions.editReason(label)} onClick={() => setEditing(true)}>
              {t.ui.edit}
            </Button>
            <input type="hidden" name={`reason_${field}`} value={row.reason} />
          </span>
        ) : null}
        <span className="relative ms-auto">
          <select
            name={field}
            aria-label={label}
            value={row.wish}
            onChange={(event) => props.onChange({ wish: event.currentTarget.value as Wish })}
            className="min-h-10 rounded-control border border-field bg-card ps-3 pe-9 text-ink"
          >
            <option value="no">{t.sessions.dontRequest}</option>
            <option value="optional">{t.sessions.optional}</option>
            <option value="required">{t.sessions.required}</option>
          </select>
          <Icon name="chevron" className="pointer-events-none absolute end-3 top-3 size-4 text-muted" />
        </span>
      </div>
      {isAsked ? <input type="hidden" name={`reasons_${field}`} value={JSON.stringify(row.reasons)} /> : null}
      {hasInput ? (
        <div className="mt-2 space-y-2">
          <Field
            label={t.sessions.reasonOf(label)}
            name={`reason_${field}`}
            maxLength={200}
            focusOnMount={editing}
            value={row.reason}
            onChange={(reason) => {
              // It stays an input while the user types.
              setEditing(true);
              props.onChange({ reason });
            }}
          />
          <Translations
            field={field}
            reasons={row.reasons}
            onChange={(reasons) => props.onChange({ reasons })}
          />
        </div>
      ) : null}
    </div>
  );
}

/** The same reason in other languages. Empty ones are not sent. */
function Translations(props: { field: AskedName; reasons: Reasons; onChange: (reasons: Reasons) => void }) {
  const { field, reasons } = props;
  const given = pageLanguages.filter((language) => reasons[language] !== undefined);
  const others = pageLanguages.filter((language) => reasons[language] === undefined);
  const change = (language: PageLanguage, text: string) => props.onChange({ ...reasons, [language]: text });
  return (
    <Disclosure
      small
      title={given.length === 0 ? t.sessions.translations : t.sessions.translationsOf(given.length)}
    >
      <div className="space-y-2 border-s-2 border-line ps-3">
        {given.map((language) => (
          <Field
            key={language}
            label={languageName(language)}
            name={`translation_${field}_${language}`}
            maxLength={200}
            optional="quiet"
            focusOnMount={reasons[language] === ""}
            value={reasons[language] ?? ""}
            onChange={(text) => change(language, text)}
          />
        ))}
        <Select
          label={t.sessions.addLanguage}
          name={`translation_${field}`}
          value=""
          options={[
            { value: "", label: t.sessions.choose },
            ...others.map((language) => ({ value: language, label: languageName(language) })),
          ]}
          onChange={(language) => {
            if (language !== "") change(language as PageLanguage, "");
          }}
        />
        <p className="text-small text-muted">{t.sessions.translationsHint}</p>
      </div>
    </Disclosure>
  );
}
