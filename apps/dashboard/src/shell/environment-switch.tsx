import type { Environment } from "@assay/contract/facts";
import { Link } from "@tanstack/react-router";
import { switchEnvironment } from "../api/chosen-environment.ts";
import { t } from "../i18n/words.ts";
import { useWorkspace } from "./organization-context.ts";

/** The colour of the environment; the word is always there too. */
const looks: Record<Environment, { strip: string; chosen: string }> = {
  sandbox: { strip: "border-t-field", chosen: "bg-soft text-ink" },
  live: { strip: "border-t-good", chosen: "bg-good-soft text-good" },
};

/** Marks the environment at the top of every page. */
export function stripOf(environment: Environment): string {
  return `border-t-4 ${looks[environment].strip}`;
}

const part =
  "inline-flex min-h-8 items-center gap-1.5 rounded-lg px-2 py-1 text-small font-semibold no-underline max-[22rem]:flex-1 max-[22rem]:justify-center sm:px-3";

/** Shows the environment and leads to the other one, or before live is open, to its requirements. */
export function EnvironmentSwitch() {
  const { organization, environment } = useWorkspace();
  return (
    <fieldset className="m-0 inline-flex shrink-0 gap-0.5 rounded-control border border-line bg-paper p-0.5 max-[22rem]:w-full">
      <legend className="sr-only">{t.ui.environment}</legend>
      {(["sandbox", "live"] as const).map((each) =>
        each === "live" && organization.environment !== "live" ? (
          <Link
            key={each}
            to="/dashboard/go-live"
            className={`${part} text-muted hover:text-accent`}
            title={t.shell.liveClosed}
          >
            {t.ui.environments[each]}
            <span className="sr-only"> {t.shell.liveClosedNote}</span>
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
            {each === environment ? (
              <span aria-hidden="true" className="size-1.5 rounded-full bg-current max-sm:hidden" />
            ) : null}
            {t.ui.environments[each]}
          </button>
        ),
      )}
    </fieldset>
  );
}
