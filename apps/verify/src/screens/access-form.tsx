import type { ChipSource } from "@assay/device/drive-device";
import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import { Button } from "@assay/ui/button";
import { useCallback, useId, useState } from "react";
import type { ShellTransport } from "../device/chip-transport.ts";
import { useWords } from "../i18n/language.ts";
import type { AccessField, AccessMistake, TypedAccess } from "../reading/shell-document.ts";
import { loadPart } from "../ui/load-part.ts";
import { useAnnounce } from "../ui/screen.tsx";
import { ScanOffer } from "./scan-offer.tsx";

export const nothingTyped: TypedAccess = {
  by: "mrz",
  documentNumber: "",
  dateOfBirth: "",
  dateOfExpiry: "",
  can: "",
};

export type Typing = { typed: TypedAccess; setTyped: (typed: TypedAccess) => void };

const loadShell = () => import("../reading/shell-document.ts");

/** The camera above, the form below it, filled with the scanned key in case the chip refuses it. */
export function AccessByCamera({
  shell,
  typing,
  onSource,
}: {
  shell: ShellTransport;
  typing: Typing;
  onSource: (source: ChipSource) => void;
}) {
  const { setTyped } = typing;
  const take = useCallback(
    async (key: MrzKeyFields) => {
      const [{ shellSource }, { typedFrom }] = await Promise.all([
        loadPart(loadShell),
        loadPart(() => import("../reading/typed-from-zone.ts")),
      ]);
      setTyped(typedFrom(key, new Date()));
      onSource(shellSource(shell, { mrz: key }));
      return true;
    },
    [shell, setTyped, onSource],
  );
  return (
    <>
      <ScanOffer onKey={take} />
      <AccessForm shell={shell} typing={typing} onSource={onSource} />
    </>
  );
}

/** The printed key that opens the chip. It is kept only in the page's memory, for another try. */
function AccessForm({
  shell,
  typing: { typed, setTyped },
  onSource,
}: {
  shell: ShellTransport;
  typing: Typing;
  onSource: (source: ChipSource) => void;
}) {
  const { t } = useWords();
  const announce = useAnnounce();
  const form = useId();
  const [mistakes, setMistakes] = useState<Partial<Record<AccessField, AccessMistake>>>({});
  const submit = async () => {
    const { accessKeyOf, shellSource } = await loadPart(loadShell);
    const result = accessKeyOf(typed);
    if ("mistakes" in result) {
      setMistakes(result.mistakes);
      announce(t.errorSummary);
      const first = (["documentNumber", "dateOfBirth", "dateOfExpiry", "can"] as const).find(
        (field) => result.mistakes[field] !== undefined,
      );
      document.getElementById(`${form}-${first}`)?.focus();
      return;
    }
    setMistakes({});
    onSource(shellSource(shell, result.key));
  };
  const field = (
    name: AccessField,
    label: string,
    wrong: string,
    more: { hint?: string; type?: "date"; inputMode?: "numeric" },
  ) => {
    const mistake = mistakes[name];
    const described = [
      more.hint !== undefined ? `${form}-${name}-hint` : null,
      mistake !== undefined ? `${form}-${name}-wrong` : null,
    ].filter((id) => id !== null);
    return (
      <div className="space-y-1">
        <label htmlFor={`${form}-${name}`} className="block font-medium">
          {label}
        </label>
        {more.hint !== undefined && (
          <p id={`${form}-${name}-hint`} className="text-small text-muted">
            {more.hint}
          </p>
        )}
        <input
          id={`${form}-${name}`}
          type={more.type ?? "text"}
          inputMode={more.inputMode}
          // On a device that several people use, the browser would offer what the last one typed.
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          value={typed[name]}
          onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
          aria-invalid={mistake !== undefined}
          aria-describedby={described.length > 0 ? described.join(" ") : undefined}
          className={`min-h-12 w-full max-w-sm rounded-control border bg-card px-3 ${mistake !== undefined ? "border-bad" : "border-field"}`}
        />
        {mistake !== undefined && (
          <p id={`${form}-${name}-wrong`} className="font-semibold text-bad">
            {mistake === "check_digit" ? t.checkDigitWrong : wrong}
          </p>
        )}
      </div>
    );
  };
  return (
    <form
      noValidate
      className="space-y-5"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <fieldset className="space-y-2">
        <legend className="font-medium">{t.accessBy}</legend>
        {(
          [
            ["mrz", t.accessByMrz],
            ["can", t.accessByCan],
          ] as const
        ).map(([by, label]) => (
          <label key={by} className="flex items-center gap-3">
            <input
              type="radio"
              name={`${form}-by`}
              checked={typed.by === by}
              onChange={() => {
                setTyped({ ...typed, by });
                setMistakes({});
              }}
            />
            {label}
          </label>
        ))}
      </fieldset>
      {typed.by === "mrz" ? (
        <>
          {field("documentNumber", t.documentNumber, t.documentNumberWrong, { hint: t.documentNumberHint })}
          {field("dateOfBirth", t.dateOfBirth, t.dateOfBirthWrong, { type: "date" })}
          {field("dateOfExpiry", t.dateOfExpiry, t.dateOfExpiryWrong, { type: "date" })}
        </>
      ) : (
        field("can", t.can, t.canWrong, { hint: t.canHint, inputMode: "numeric" })
      )}
      <Button type="submit">{t.readButton}</Button>
    </form>
  );
}
