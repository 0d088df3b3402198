import type { Environment } from "@assay/contract/facts";
import { Link } from "@tanstack/react-router";
import { switchEnvironment } from "../api/chosen-environment.ts";
import { usePlace } from "./organization-context.ts";

/** The colour of the environment; the word is always there too. */
const looks: Record<Environment, { strip: string; chosen: string }> = {
  sandbox: { strip: "border-t-warn", chosen: "bg-warn-tint text-warn" },
  live: { strip: "border-t-good", chosen: "bg-good-tint text-good" },
};

const names: Record<Environment, string> = { sandbox: "Sandbox", live: "Live" };

/** On every page, above everything else: at a glance, where one is. */
export function stripOf(environment: Environment): string {
  return `border-t-4 ${looks[environment].strip}`;
}

const part = "inline-flex min-h-8 items-center px-2.5 py-1 text-sm font-medium no-underline";

/** Says where the page acts, and leads to the other environment; before live is open, to what it needs. */
export function EnvironmentSwitch() {
  const { organization, environment } = usePlace();
  return (
    <fieldset className="m-0 inline-flex shrink-0 overflow-hidden rounded-lg border border-edge p-0">
      <legend className="sr-only">Environment</legend>
      {(["sandbox", "live"] as const).map((each) =>
        each === "live" && organization.environment !== "live" ? (
          <Link
            key={each}
            to="/dashboard/go-live"
            className={`${part} text-muted hover:text-accent`}
            title="Live is not open yet"
          >
            {names[each]}
            <span className="sr-only"> is not open yet: see what it needs</span>
          </Link>
        ) : (
          <button
            key={each}
            type="button"
            aria-pressed={each === environment}
            className={`${part} ${each === environment ? looks[each].chosen : "text-muted hover:text-accent"}`}
            onClick={() => {
              if (each !== environment) switchEnvironment(organization, each);
            }}
          >
            {each === environment ? <span aria-hidden="true">●&nbsp;</span> : null}
            {names[each]}
          </button>
        ),
      )}
    </fieldset>
  );
}
