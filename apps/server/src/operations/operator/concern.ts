/** A rule for Prometheus. `page` wakes somebody, `ticket` waits until the morning. */
export type Alarm = {
  name: string;
  severity: string;
  lasting: string;
  /** The page of docs/runbooks that says what to do. */
  runbook: string;
  expr: string;
  summary: string;
};

/** What is wrong, in a sentence; null or false where nothing is. */
type Look<Fact> = (fact: Fact, now: Date) => string | null | false;

/** Something that can be wrong, with the outputs that can know it. */
type Concern<Fact> = {
  /** A problem has to be mended now, a warning can wait. */
  state: "problem" | "warning";
  /** Null where only Prometheus can know. */
  look: Look<Fact> | null;
  /** What to do. A text where it stands on the operator's page or in the guide. */
  todo: string | ((fact: Fact) => string);
  /** What the operator's page says; null where it does not list this. */
  says: string | null;
  alarm: Alarm | null;
};

/** All concerns about one thing, the gravest first. */
export type Subject<Fact> = {
  /** The doctor's name for it; null where the doctor cannot look. */
  check: string | null;
  /** What the doctor says where no concern holds. */
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

/** What the doctor finds and what to do; then what the operator's page says, and the alarm. */
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

/** A fourth line says what to do. */
export function onlyAlarm<Fact>(text: string): Concern<Fact> {
  const todo = text.slice(text.lastIndexOf("\n")).trim();
  return { state: "warning", look: null, todo, says: null, alarm: readAlarm(text) };
}

/** Lines: name, severity, how long it must last and the runbook; the expression; the summary. */
function readAlarm(text: string): Alarm {
  const [head = "", expr = "", summary = ""] = text.split("\n").map((line) => line.trim());
  const [name = "", severity = "", lasting = "", runbook = ""] = head.split(" ");
  return { name, severity, lasting, runbook, expr, summary };
}
