import { ExplainedError } from "../../lib/explained-error.ts";

/** An error that an operator can act on: its message is the whole report. */
export class EmbeddedPostgresError extends ExplainedError {}

/** The last sentence of a message with an alternative. */
export const orUseAnotherServer = "Or set DATABASE_URL to a PostgreSQL server (15 or newer).";
