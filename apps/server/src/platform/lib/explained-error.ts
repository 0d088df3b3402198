/** Something that whoever runs the service can mend: its message is the whole report, and where it was thrown is of no use. */
export class ExplainedError extends Error {}
