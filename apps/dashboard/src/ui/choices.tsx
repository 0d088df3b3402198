import { useId } from "react";

/** A few options side by side, of which one is selected. */
export function Choices<V extends string>(props: {
  legend: string;
  options: readonly { value: V; label: string; about?: string }[];
  value: V;
  onChange: (value: V) => void;
  small?: boolean;
}) {
  const name = useId();
  const size = props.small ? "px-3 py-1 text-small" : "px-4 py-3";
  return (
    <fieldset>
      <legend className={props.small ? "sr-only" : "mb-2 font-medium"}>{props.legend}</legend>
      <div className={props.small ? "flex flex-wrap gap-2" : "grid gap-2 sm:grid-cols-2"}>
        {props.options.map(({ value, label, about }) => (
          <label
            key={value}
            className={`block cursor-pointer rounded-control border border-field hover:border-accent has-checked:border-accent has-checked:bg-soft has-focus-visible:outline-3 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent ${size}`}
          >
            <input
              type="radio"
              name={name}
              value={value}
              checked={value === props.value}
              onChange={() => props.onChange(value)}
              className="sr-only"
            />
            <span className="font-medium">{label}</span>
            {about === undefined ? null : <span className="block text-small text-muted">{about}</span>}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
