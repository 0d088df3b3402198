/** A rule for Prometheus. `page` needs action now, `ticket` can wait until the morning. */
export type Alarm = {
  name: string;
  severity: string;
  lasting: string;
  /** The page of docs/runbooks with the steps. */
  runbook: string;
  expr: string;
  summary: string;
};

/** What is wrong, in a sentence; null or false if nothing is. */
type Look<Fact> = (fact: Fact, now: Date) => string | null | false;

/** Something that can be wrong, and the outputs that report it. */
type Concern<Fact> = {
  /** A problem must be solved now, a warning can wait. */
  state: "problem" | "warning";
  /** Null if only Prometheus can detect it. */
  look: Look<Fact> | null;
  /** What to do. A plain text if the operator's page or the guide shows it. */
  todo: string | ((fact: Fact) => string);
  /** The text of the operator's page; null if the page does not list this. */
  says: string | null;
  alarm: Alarm | null;
};

/** All concerns about one subject, the most severe first. */
export type Subject<Fact> = {
  /** The doctor's name for the subject; null if the doctor cannot check it. */
  check: string | null;
  /** What the doctor prints if no concern applies. */
  well: (fact: Fact, now: Date) => string;
  concerns: Readonly<Record<string, Concern<Fact>>>;
};

export function about<Fact>(
  check: string | null,
  well: Subject<Fact>["well"],
  concerns: Subject<Fact>["concerns"],
): Subject<Fact> {
  return { check, well, concerns };
}

/** What the doctor finds and what to do; then the text of the operator's page, and the alarm. */
type Row = <Fact>(
  look: Look<Fact>,
  todo: Concern<Fact>["todo"],
  says?: string | null,
  alarm?: string,
) => Concern<Fact>;

const rowOf =
  (state: "problem" | "warning"): Row =>
  (look, todo, says = null, alarm) => ({
    ...{ state, look, todo, says },
    alarm: alarm === undefined ? null : readAlarm(alarm),
  });

export const problem = rowOf("problem");
export const warning = rowOf("warning");

/** The fourth line says what to do. */
export function onlyAlarm<Fact>(text: string): Concern<Fact> {
  const todo = text.slice(text.lastIndexOf("\n")).trim();
  return { state: "warning", look: null, todo, says: null, alarm: readAlarm(text) };
}

/** Lines: name, severity, duration and runbook; the expression; the summary. */
function readAlarm(text: string): Alarm {
  const [head = "", expr = "", summary = ""] = text.split("\n").map((line) => line.trim());
  const [name = "", severity = "", lasting = "", runbook = ""] = head.split(" ");
  return { name, severity, lasting, runbook, expr, summary };
}
