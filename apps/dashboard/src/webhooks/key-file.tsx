import { useId, useRef } from "react";
import { t } from "../i18n/words.ts";
import { fileInputClass, TextArea } from "../ui/field.tsx";

// An 8192-bit key in its longest form has about 13,000 characters. A much larger file is not a key.
const maxBytes = 64 * 1024;

/** A key as text: typed, pasted or from a file. */
export function KeyFile(props: { label: string; name: string; hint: string }) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  return (
    <div ref={box} className="space-y-2">
      <TextArea label={props.label} name={props.name} rows={5} hint={props.hint} />
      <div className="flex flex-wrap items-center gap-2 text-small">
        <label htmlFor={id}>{t.webhooks.orFile}</label>
        <input
          id={id}
          type="file"
          accept=".pem,.key,.pub,.crt,.cer,.json,.jwk,.txt"
          className={fileInputClass}
          onChange={async (event) => {
            const file = event.currentTarget.files?.[0];
            const area = box.current?.querySelector("textarea");
            if (file !== undefined && area) area.value = file.size > maxBytes ? "" : await file.text();
          }}
        />
      </div>
    </div>
  );
}
