/** An error that the operator can correct. Its message is the whole report, without a stack trace. */
export class ExplainedError extends Error {
  override readonly name: string = "ExplainedError";
}
