import { createContext, type ReactNode, useContext, useId, useLayoutEffect, useRef, useState } from "react";
import { type Problem, problemOf } from "../api/call.ts";
import { t } from "../i18n/words.ts";
import { Button } from "./button.tsx";
import { Notice } from "./notice.tsx";
import { plainWords } from "./plain-words.ts";
import { toast } from "./toasts.tsx";

export type Values = {
  /** As typed, for passwords and codes. */
  raw(name: string): string;
  /** Trimmed. */
  text(name: string): string;
  all(name: string): string[];
  checked(name: string): boolean;
};

const Failure = createContext<{ problem: Problem | null; noticeId: string }>({ problem: null, noticeId: "" });

/** Messages of the service name fields in backticks. */
const isAbout = (problem: Problem | null, name: string) => problem?.message.includes(`\`${name}\``) ?? false;

/** The id of the form's notice if the notice is about this field. */
export function useFieldFailure(name: string): string | null {
  const { problem, noticeId } = useContext(Failure);
  return isAbout(problem, name) ? noticeId : null;
}

export function valuesOf(data: FormData): Values {
  const raw = (name: string) => String(data.get(name) ?? "");
  return {
    raw,
    text: (name) => raw(name).trim(),
    all: (name) => data.getAll(name).map(String),
    checked: (name) => data.has(name),
  };
}

/** A field's label on the page. */
function labelIn(form: HTMLFormElement, name: string): string | null {
  const found = form.elements.namedItem(name);
  const label =
    found instanceof Element && "labels" in found ? (found as HTMLInputElement).labels?.[0] : null;
  return label?.firstChild?.textContent?.trim() || label?.textContent?.trim() || null;
}

type Input = HTMLInputElement | HTMLTextAreaElement;

/** The first invalid field, with what is wrong. */
function firstWrongField(form: HTMLFormElement): { field: Input; message: string } | null {
  for (const field of form.elements) {
    if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) continue;
    const problem = problemOfField(field);
    if (problem !== null) return { field, message: problem };
  }
  return null;
}

function problemOfField({ name, validity, value, minLength, type }: Input): string | null {
  const field = `\`${name}\``;
  // Browsers check the length only of typed text, not of what a password manager filled in.
  const isShort = validity.tooShort || (value !== "" && minLength > 0 && value.length < minLength);
  if (validity.valueMissing)
    return type === "checkbox" ? t.ui.field.mustBeChecked(field) : t.ui.field.required(field);
  if (isShort) return t.ui.field.tooShort({ field, count: minLength });
  if (validity.typeMismatch) return type === "email" ? t.ui.field.noEmail(field) : t.ui.field.noUrl(field);
  return validity.valid ? null : t.ui.field.wrongFormat(field);
}

/**
 * A form of uncontrolled inputs: a response never overwrites what the user typed. The service's error appears
 * above the button, and the field that it names gets the focus.
 */
export function Form(props: {
  children?: ReactNode;
  submit: string;
  onSubmit: (values: Values) => Promise<unknown>;
  look?: "primary" | "danger" | "plain";
  /** Shown after success if the form stays on the page. */
  done?: string;
  /** Shown as a toast after success, where the form shows what was saved. */
  saved?: string;
  /** Full width, for pages with only a form. */
  wide?: boolean;
  resetWhenDone?: boolean;
  onProblem?: (problem: Problem) => ReactNode;
}) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [done, setDone] = useState(false);
  const noticeId = useId();
  const form = useRef<HTMLFormElement>(null);

  // Together with the notice: a later change of focus would move the next characters to another field.
  useLayoutEffect(() => {
    for (const field of form.current?.elements ?? [])
      if (field instanceof HTMLElement && isAbout(problem, field.getAttribute("name") ?? ""))
        return field.focus();
  }, [problem]);

  const submit = async (element: HTMLFormElement) => {
    const data = new FormData(element);
    setProblem(null);
    setDone(false);
    const wrong = firstWrongField(element);
    if (wrong !== null) {
      // An error in a folded field would be invisible.
      wrong.field.closest("details")?.setAttribute("open", "");
      setProblem({ code: "WRONG_FIELD", message: wrong.message, hint: "" });
      return;
    }
    setBusy(true);
    try {
      await props.onSubmit(valuesOf(data));
      setDone(true);
      if (props.saved !== undefined) toast(props.saved);
      if (props.resetWhenDone) element.reset();
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  };

  const inWords = (raw: Problem): Problem => {
    const labelOf = (name: string) => (form.current === null ? null : labelIn(form.current, name));
    return { ...raw, message: plainWords(raw.message, labelOf), hint: plainWords(raw.hint, labelOf) };
  };

  return (
    <Failure value={{ problem, noticeId }}>
      <form
        ref={form}
        className="space-y-4"
        // The browser's messages use its own language and style, so the page shows its own.
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy) void submit(event.currentTarget);
        }}
      >
        {props.children}
        {problem === null ? null : (
          <Notice kind="bad" problem={inWords(problem)} id={noticeId}>
            {props.onProblem?.(problem)}
          </Notice>
        )}
        {done && props.done ? <Notice kind="good">{props.done}</Notice> : null}
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" look={props.look ?? "primary"} wide={props.wide} disabled={busy}>
            {busy ? t.ui.oneMoment : props.submit}
          </Button>
        </div>
      </form>
    </Failure>
  );
}
