import { type Preset, presets } from "@assay/contract/presets";
import { claimKeys } from "@assay/contract/sessions";
import { useEffect, useState } from "react";
import { Button } from "../ui/button.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Field } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { claimLabel } from "./claim-labels.ts";
import { adultAge } from "./session-body.ts";

// Always part of a session, so it is not offered.
export const askedFields = [...claimKeys.filter((key) => key !== "service_document_id"), "age_over"] as const;
type AskedName = (typeof askedFields)[number];
type Wish = "no" | "optional" | "required";
type Row = { wish: Wish; reason: string };

function labelOf(field: AskedName): string {
  return field === "age_over" ? "Minimum age" : claimLabel(field);
}

function rowsOf(preset: Preset["id"]): Record<AskedName, Row> {
  const wishes = presets.find(({ id }) => id === preset)?.wishes ?? {};
  const rowOf = (field: AskedName): Row => {
    const wish = wishes[field];
    return {
      wish: wish === undefined ? "no" : wish.required ? "required" : "optional",
      reason: wish?.reason ?? "",
    };
  };
  return Object.fromEntries(askedFields.map((field) => [field, rowOf(field)])) as Record<AskedName, Row>;
}

/** The fields of a preset, one line each; the others are folded away, except where people choose by themselves. */
export function AskedFields({ preset, onShown }: { preset: Preset["id"]; onShown: () => void }) {
  const [first] = useState(() => rowsOf(preset));
  const [rows, setRows] = useState(first);
  const [forAll, setForAll] = useState<string | null>(null);
  // The request is read from the form, after it has been drawn.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it changes with the rows.
  useEffect(onShown, [rows]);
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
  return (
    <fieldset>
      <legend className="mb-1 font-medium">Requested data</legend>
      <p className="mb-3 text-small text-muted">
        The person sees your reasons, so adapt them. The anonymous document ID is always included.
      </p>
      {count < 2 ? null : forAll === null ? (
        <Button small onClick={() => setForAll("")}>
          Same reason for all
        </Button>
      ) : (
        <Field
          label="Reason for all"
          name="reason_for_all"
          maxLength={200}
          optional="quiet"
          focusOnMount
          value={forAll}
          onChange={(reason) => {
            setForAll(reason);
            setRows(
              Object.fromEntries(
                askedFields.map((field) => [field, { ...rows[field], reason }]),
              ) as typeof rows,
            );
          }}
        />
      )}
      <div className="mt-2 divide-y divide-line">{asked.map(show)}</div>
      <Disclosure isNeeded small open={preset === "own"} title={preset === "own" ? "Fields" : "More fields"}>
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
  // A reason that is missing has to be written, so there is nothing to show in its place.
  const hasInput = isAsked && (editing || row.reason === "");
  return (
    <div className="py-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium sm:w-44">{label}</span>
        {isAsked && field === "age_over" ? (
          <input
            name="age"
            aria-label="Age"
            inputMode="numeric"
            pattern="[0-9]{2,3}"
            required
            defaultValue={adultAge}
            className="min-h-10 w-16 rounded-control border border-field bg-card px-3 text-ink"
          />
        ) : null}
        {isAsked && !hasInput ? (
          <span className="flex min-w-0 flex-1 basis-0 items-center gap-1 text-small text-muted max-sm:order-last max-sm:basis-full">
            <bdi className="min-w-0 truncate" title={row.reason}>
              {row.reason}
            </bdi>
            <Button small look="quiet" label={`Edit the reason: ${label}`} onClick={() => setEditing(true)}>
              Edit
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
            <option value="no">Don't request</option>
            <option value="optional">Optional</option>
            <option value="required">Required</option>
          </select>
          <Icon name="chevron" className="pointer-events-none absolute end-3 top-3 size-4 text-muted" />
        </span>
      </div>
      {hasInput ? (
        <div className="mt-2">
          <Field
            label={field === "age_over" ? "Reason: minimum age" : `Reason: ${label.toLowerCase()}`}
            name={`reason_${field}`}
            maxLength={200}
            focusOnMount={editing}
            value={row.reason}
            onChange={(reason) => {
              // It stays a field while somebody writes into it.
              setEditing(true);
              props.onChange({ reason });
            }}
          />
        </div>
      ) : null}
    </div>
  );
}
