/**
 * Every field that a log line may have besides `time`, `level` and `message`, for operators who search and count by them. A field that is not here does not
 * compile; `docs/logs-and-traces.md` is generated from this table. A name keeps its meaning, because alarms are made of it.
 */
export const logFields = {
  requestId: "The id that the answer carried in `X-Request-Id`.",
  method: "Of a request: `GET`, `POST` and so on.",
  route:
    "Of a request: the name of the route in the API, or the template of the path; `none` where there is no such route.",
  status: "Of a request: the status of the answer.",
  milliseconds: "How long a request, or the start of the service, took.",
  code: "The error code of an answer, or the code of a failed call of the system.",
  error: "The kind of an error.",
  reason:
    "Why, as a code or in the words of the error. Of the database it is never the text, which quotes values.",
  place: "Where in the code an error arose: the first lines of its stack.",
  sqlState: "The SQLSTATE of a failed statement.",
  constraint: "The constraint that a statement would have violated.",
  table: "The table that it is about.",
  routine: "The function of PostgreSQL that refused.",
  job: "The background job.",
  kind: "Of a row that was set aside: its table. Of a face worker's error: its kind.",
  rowId:
    "Of a row that was set aside: its id; of a session, its mark (`vs#` and a part of the hash of the id).",
  attempt: "How often a mail has been tried.",
  mailId: "The id of a mail.",
  organizationId: "The id of an organization that is being deleted.",
  userId: "The id of an account whose address needs the operator.",
  attemptId: "The id of a verification attempt (`va_…`).",
  step: "The step of a verification that could not be carried out.",
  verdict: "What a document was judged to be.",
  trust_version: "The version of what is trusted that decided.",
  source: "The address of a source of trust, as configured; of a status list, its origin.",
  problem: "What is wrong with a source, a status list, a logo, the key ring or a setting, in words.",
  settings: "Names of settings whose value changed, separated by commas.",
  key: "The id of a key of the ring, never the key.",
  file: "The path of a file that the configuration names.",
  lines: "How many log lines were dropped while nothing read them.",
  files: "How many files were taken over.",
  folder: "The folder that mails are written to.",
  applied: "The names of the migrations that were applied.",
  migration: "The name of a migration that waits.",
  machines: "The machines that run a process, by name.",
  processes: "The processes that something waits for, by process id and machine.",
  waitedSeconds: "How long something has been waited for.",
  limitSeconds: "How long it will be waited for in all.",
  seconds: "How long draining takes, or how far a clock is ahead.",
  limit: "How many connections there may be at once.",
  deletions: "How many deletions wait.",
  advice: "What an operator can do about it.",
  whatToDo: "The command that mends it.",
  role: "What this process does: `all`, `api` or `worker`.",
  address: "Where the service is reached.",
  signal: "The signal that ended the process.",
  graceSeconds: "How long requests had to finish.",
  state: "What a face worker was doing when it ended.",
} as const;

export type LogField = keyof typeof logFields;
