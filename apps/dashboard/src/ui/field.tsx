import { type ReactNode, useId, useLayoutEffect, useRef, useState } from "react";
import { t } from "../i18n/words.ts";
import { useFieldFailure } from "./form.tsx";
import { Icon } from "./icon.tsx";
import { inSentence } from "./in-sentence.ts";

/** For a file input, whose button the browser draws. */
export const fileInputClass =
  "max-w-full rounded-control border border-field bg-card px-2 py-1.5 text-small file:mr-3 file:cursor-pointer file:rounded-md file:border-0 file:bg-soft file:px-3 file:py-1 file:text-ink";
const inputClass =
  "block w-full rounded-control border border-field bg-card text-ink px-3.5 py-2 min-h-11 aria-invalid:border-bad aria-invalid:border-2";

type Common = { label: string; name: string; hint?: ReactNode };

type Attributes = { id: string; name: string; "aria-describedby"?: string; "aria-invalid"?: true };

/** An input with its label and hint, and the form's notice if it is about this input. */
function Labelled(
  props: Common & { optional?: boolean | undefined; children: (attributes: Attributes) => ReactNode },
) {
  const id = useId();
  const noticeId = useFieldFailure(props.name);
  const hintId = props.hint === undefined ? null : `${id}-hint`;
  const describedBy = [hintId, noticeId].filter((part) => part !== null).join(" ");
  return (
    <div className="space-y-1">
      <label htmlFor={id} className="block text-small font-medium">
        {props.label}
        {props.optional ? <span className="font-normal text-muted"> {t.ui.optional}</span> : null}
      </label>
      {props.children({
        id,
        name: props.name,
        ...(describedBy === "" ? {} : { "aria-describedby": describedBy }),
        ...(noticeId === null ? {} : { "aria-invalid": true }),
      })}
      {hintId === null ? null : (
        <p id={hintId} className="text-small text-muted">
          {props.hint}
        </p>
      )}
    </div>
  );
}

/**
 * An input is controlled or uncontrolled. With both properties present and `value` undefined, Preact treats
 * the default as controlled and overwrites what the user typed.
 */
function heldBy(props: { defaultValue?: string; value?: string }): { defaultValue?: string; value?: string } {
  if (props.value !== undefined) return { value: props.value };
  return props.defaultValue === undefined ? {} : { defaultValue: props.defaultValue };
}

export function Field(
  props: Common & {
    type?: "text" | "email" | "password" | "url" | "datetime-local";
    defaultValue?: string;
    /** `quiet` leaves out the word where it is obvious, as in filters. */
    optional?: boolean | "quiet";
    autoComplete?: string;
    minLength?: number;
    maxLength?: number;
    pattern?: string;
    inputMode?: "numeric" | "text";
    readOnly?: boolean;
    /** For a field that appears because of the user's last action. */
    focusOnMount?: boolean;
    onChange?: (value: string) => void;
    value?: string;
  },
) {
  const input = useRef<HTMLInputElement>(null);
  const [shown, setShown] = useState(false);
  const { focusOnMount } = props;
  // Before the paint: a later change of focus would move the next characters to another field.
  useLayoutEffect(() => {
    if (focusOnMount) input.current?.focus();
  }, [focusOnMount]);
  const secret = props.type === "password";
  return (
    <Labelled label={props.label} name={props.name} hint={props.hint} optional={props.optional === true}>
      {(attributes) => (
        <div className="flex gap-2">
          <input
            {...attributes}
            ref={input}
            type={secret && shown ? "text" : (props.type ?? "text")}
            className={`${inputClass} ${props.readOnly ? "bg-code" : ""}`}
            {...heldBy(props)}
            onChange={props.onChange && ((event) => props.onChange?.(event.currentTarget.value))}
            required={!props.optional}
            readOnly={props.readOnly}
            autoComplete={props.autoComplete ?? "off"}
            minLength={props.minLength}
            maxLength={props.maxLength}
            pattern={props.pattern}
            inputMode={props.inputMode}
            spellCheck={secret ? false : undefined}
          />
          {secret ? (
            <button
              type="button"
              className="min-w-16 flex-none rounded-control border border-field bg-card px-3 text-small whitespace-nowrap"
              aria-pressed={shown}
              aria-label={t.ui.showSecret(inSentence(props.label))}
              onClick={() => setShown(!shown)}
            >
              {shown ? t.ui.hide : t.ui.show}
            </button>
          ) : null}
        </div>
      )}
    </Labelled>
  );
}

export function TextArea(
  props: Common & {
    rows: number;
    onChange?: (value: string) => void;
  },
) {
  return (
    <Labelled label={props.label} name={props.name} hint={props.hint}>
      {(attributes) => (
        <textarea
          {...attributes}
          className={`${inputClass} font-mono text-small`}
          rows={props.rows}
          onChange={props.onChange && ((event) => props.onChange?.(event.currentTarget.value))}
          required
          spellCheck={false}
          autoComplete="off"
        />
      )}
    </Labelled>
  );
}

export function Select(
  props: Common & {
    options: readonly { value: string; label: string }[];
    defaultValue?: string;
    value?: string;
    onChange?: (value: string) => void;
  },
) {
  return (
    <Labelled label={props.label} name={props.name} hint={props.hint}>
      {(attributes) => (
        <div className="relative">
          <select
            {...attributes}
            className={`${inputClass} pe-10 text-ellipsis`}
            {...heldBy(props)}
            onChange={props.onChange && ((event) => props.onChange?.(event.currentTarget.value))}
          >
            {props.options.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
          <Icon name="chevron" className="pointer-events-none absolute end-3.5 top-3.5 size-4 text-muted" />
        </div>
      )}
    </Labelled>
  );
}

export function Checkbox(props: {
  name: string;
  label: ReactNode;
  value?: string;
  defaultChecked?: boolean;
  required?: boolean;
}) {
  return (
    <label className="flex items-start gap-3 py-1.5">
      <input
        type="checkbox"
        name={props.name}
        value={props.value ?? "on"}
        defaultChecked={props.defaultChecked}
        required={props.required}
        className="mt-0.5 size-5 shrink-0 accent-accent"
      />
      <span>{props.label}</span>
    </label>
  );
}

export function Group(props: { legend: string; hint?: string; children: ReactNode }) {
  return (
    <fieldset className="space-y-1">
      <legend className="font-medium">{props.legend}</legend>
      {props.hint ? <p className="text-small text-muted">{props.hint}</p> : null}
      {props.children}
    </fieldset>
  );
}
