/** The closed list of reasons for a refusal, by which programs decide (`/docs/errors`), with the status of each. */
export const statusOf = {
  'malformed-request': 400,
  'malformed-body': 400,
  'unknown-field': 400,
  'unknown-parameter': 400,
  'read-only-field': 400,
  'missing-field': 400,
  'invalid-value': 400,
  'too-long': 400,
  'out-of-range': 400,
  'too-many-items': 400,
  'unknown-reference': 400,
  'not-for-sale': 400,
  'price-not-allowed': 400,
  unauthorized: 401,
  forbidden: 403,
  'insecure-transport': 403,
  'not-found': 404,
  'unknown-address': 404,
  'method-not-allowed': 405,
  'request-timeout': 408,
  'insufficient-stock': 409,
  'not-unique': 409,
  'in-use': 409,
  'limit-reached': 409,
  'invalid-state': 409,
  'in-progress': 409,
  gone: 410,
  'precondition-failed': 412,
  'body-too-large': 413,
  'unsupported-media-type': 415,
  'key-reused': 422,
  'rate-limited': 429,
  /** Made only by `failureOf`. */
  'internal-error': 500,
  'bad-gateway': 502,
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof statusOf

export const errorCodes = Object.keys(statusOf) as readonly ErrorCode[]

/** The code of an answer that early versions stored without one. */
export function codeOfStatus(status: number): ErrorCode {
  if (status === 400) return 'invalid-value'
  if (status === 409) return 'invalid-state'
  return errorCodes.find((code) => statusOf[code] === status) ?? 'malformed-request'
}

/** One problem of the input. */
export interface Fault {
  /** The wire name, with dots for nested fields; empty for the whole input. */
  readonly field: string
  /** A sentence without its subject, such as `must be a text`. */
  readonly problem: string
  /** Default: `invalid-value`. */
  readonly code?: ErrorCode
}

/**
 * Removes everything between the first and the last double quote, because text repeated from a request may be a key or a
 * password in the wrong place.
 */
export function withoutQuoted(message: string): string {
  return message.replace(/".*"/s, '"…"')
}

/**
 * A refusal that the caller may see: `message` says what is wrong and what is allowed. Text repeated from the request is in double
 * quotes, or `logMessage` says the same without it. Any other error is a defect (`failureOf`).
 */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure'
  readonly code: ErrorCode
  /** The status of the code, or the one that this refusal had before there were codes. */
  readonly status: number
  /** The offending field, parameter, header or identifier, in its wire name. */
  readonly field: string = ''
  /** All problems, for a form that shows each beside its field. */
  readonly faults: readonly Fault[] = []
  /** The refusals of one input that it stands for, each with its own field and message; empty: it is one itself. */
  readonly parts: readonly StoreFailure[] = []
  /** For `rate-limited` and `unavailable`: whole seconds until a retry may succeed. */
  readonly retryAfterSeconds?: number
  /** The message for the server's log and a store's call log. Default: the message without its quoted part. */
  readonly logMessage: string
  /** Only for the log; never shown to the caller. */
  readonly logDetail?: string
  /** The error that an outage or a defect came from. */
  readonly origin?: unknown

  constructor(code: ErrorCode, message: string, options: FailureOptions = {}) {
    super(message)
    this.code = code
    this.status = statusOf[code]
    this.logMessage = withoutQuoted(message)
    Object.assign(this, options)
  }
}

type FailureOptions = Partial<Omit<StoreFailure, keyof Error | 'code'>>

/** Returns what `work` does, or the refusal that it throws. */
export function orRefusal<T>(work: () => T): T | StoreFailure {
  try {
    return work()
  } catch (error) {
    if (error instanceof StoreFailure) return error
    throw error
  }
}

/** Makes an item of the list that answers every refusal and every change (contract §2, rest-protocol §5): four strings. */
export function resultItem(key: string, value: string | number, status: number, message: string) {
  return { Key: key, Value: String(value), Status: String(status), Message: message }
}

/** `Code` is that of a refusal; only new applications are shown it. */
export type ResultItem = Readonly<ReturnType<typeof resultItem>> & { readonly Code?: ErrorCode }
