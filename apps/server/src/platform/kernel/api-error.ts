import { type ErrorCode, errorTable } from "@assay/contract/errors";

/** A failure with a code of the contract. Thrown anywhere; one handler renders it. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    options: { message?: string; hint?: string; headers?: Record<string, string> } = {},
  ) {
    super(options.message ?? errorTable[code].message);
    this.name = "ApiError";
    this.code = code;
    this.hint = options.hint ?? errorTable[code].hint;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return errorTable[this.code].status;
  }
}

/** A value of the right type that is not acceptable; the message names the field. */
export function badField(field: string, problem: string): ApiError {
  return new ApiError("BAD_REQUEST", { message: `\`${field}\` ${problem}.` });
}

/** For unknown paths, and for callers who must not learn that a path exists. */
export function noSuchRoute(): ApiError {
  return new ApiError("NOT_FOUND", { message: "There is no such route." });
}
