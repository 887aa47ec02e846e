const statusOf = {
  'bad-request': 400,
  unauthorized: 401,
  forbidden: 403,
  'insecure-transport': 403,
  'not-found': 404,
  'method-not-allowed': 405,
  conflict: 409,
  'in-progress': 409,
  gone: 410,
  'precondition-failed': 412,
  'body-too-large': 413,
  'unsupported-media-type': 415,
  'key-reused': 422,
  throttled: 429,
  /** Made only by `failureOf`. */
  defect: 500,
  'bad-gateway': 502,
  unavailable: 503,
} as const

export type FailureKind = keyof typeof statusOf

/** One problem of the input. */
export interface Fault {
  /** The wire name, with dots for nested fields; empty for the whole input. */
  readonly field: string
  /** A sentence without its subject, such as `must be a text`. */
  readonly problem: string
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
  readonly kind: FailureKind
  /** The offending field, parameter, header or identifier, in its wire name. */
  readonly field: string = ''
  /** All problems, for a form that shows each beside its field. */
  readonly faults: readonly Fault[] = []
  /** The refusals of one input that it stands for, each with its own field and message; empty: it is one itself. */
  readonly parts: readonly StoreFailure[] = []
  /** For `throttled` and `unavailable`: whole seconds until a retry may succeed. */
  readonly retryAfterSeconds?: number
  /** The message for the server's log and a store's call log. Default: the message without its quoted part. */
  readonly logMessage: string
  /** Only for the log; never shown to the caller. */
  readonly logDetail?: string
  /** The error that an outage or a defect came from. */
  readonly origin?: unknown

  constructor(kind: FailureKind, message: string, options: FailureOptions = {}) {
    super(message)
    this.kind = kind
    this.logMessage = withoutQuoted(message)
    Object.assign(this, options)
  }

  /** The HTTP status of the kind. */
  get status(): number {
    return statusOf[this.kind]
  }
}

type FailureOptions = Partial<
  Pick<StoreFailure, 'field' | 'faults' | 'parts' | 'retryAfterSeconds' | 'logMessage' | 'logDetail' | 'origin'>
>

/** Makes an item of the list that answers every refusal and every change (contract §2, rest-protocol §5): four strings. */
export function resultItem(key: string, value: string | number, status: number, message: string) {
  return { Key: key, Value: String(value), Status: String(status), Message: message }
}

export type ResultItem = Readonly<ReturnType<typeof resultItem>>
