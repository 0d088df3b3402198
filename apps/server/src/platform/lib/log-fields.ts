/**
 * Every field that a log line may have besides `time`, `level` and `message`. Other fields do not compile.
 * `docs/logs-and-traces.md` is generated from this table. A name keeps its meaning, because alarms depend on
 * it.
 */
export const logFields = {
  requestId: "The id that the answer carried in `X-Request-Id`.",
  method: "Of a request: `GET`, `POST` and so on.",
  route:
    "Of a request: the name of the route in the API, or the template of the path; `none` if there is no such route.",
  status: "Of a request: the status of the answer.",
  milliseconds: "How long a request, or the start of the service, took.",
  code: "The error code of an answer, or the code of a failed system call.",
  error: "The kind of an error.",
  reason:
    "The reason, as a code or as the text of the error. Texts of the database are left out, because they quote values.",
  place: "Where in the code an error occurred: the first lines of its stack.",
  sqlState: "The SQLSTATE of a failed statement.",
  constraint: "The constraint that a statement would have violated.",
  table: "The table of the statement.",
  routine: "The PostgreSQL function that raised the error.",
  job: "The background job.",
  kind: "Of a quarantined row: its table. Of a face worker's error: its kind.",
  rowId: "Of a quarantined row: its id. Of a session: its mark (`vs#` and a part of the hash of the id).",
  attempt: "How often a mail has been tried.",
  mailId: "The id of a mail.",
  organizationId: "The id of an organization that is being deleted.",
  userId: "The id of an account whose address needs the operator.",
  attemptId: "The id of a verification attempt (`va_…`).",
  step: "The step of a verification that failed.",
  verdict: "What a document was judged to be.",
  trust_version: "The version of the trust store that was used.",
  source: "The address of a source of trust, as configured; of a status list, its origin.",
  problem: "What is wrong with a source, a status list, a logo, the key ring or a setting, in words.",
  settings: "Names of settings whose value changed, separated by commas.",
  key: "The id of a key of the ring, never the key.",
  file: "The path of a file that the configuration names.",
  lines: "How many log lines were dropped while nothing read them.",
  files: "How many files were imported.",
  folder: "The folder that mails are written to.",
  applied: "The names of the migrations that were applied.",
  migration: "The name of a migration that waits.",
  machines: "The machines that run a process, by name.",
  processes: "The processes that something waits for, by process id and machine.",
  waitedSeconds: "How long the process has waited.",
  limitSeconds: "How long the process will wait in total.",
  seconds: "How long draining takes, or how far a clock is ahead.",
  limit: "Maximum number of connections.",
  deletions: "How many deletions wait.",
  advice: "What an operator can do about it.",
  whatToDo: "The command that solves it.",
  role: "What this process does: `all`, `api` or `worker`.",
  address: "The address of the service.",
  signal: "The signal that ended the process.",
  graceSeconds: "How much time requests had to finish.",
  state: "What a face worker was doing when it ended.",
} as const;

export type LogField = keyof typeof logFields;
