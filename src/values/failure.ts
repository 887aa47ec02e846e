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
  'bad-gateway': 502,
  unavailable: 503,
} as const

export type FailureKind = keyof typeof statusOf

/** One thing that is wrong with what was sent. */
export interface Fault {
  /** Its wire name, with dots into what it lies in; empty: the whole input. */
  readonly field: string
  /** A sentence without its subject, such as `must be a text`. */
  readonly problem: string
}

export interface FailureOptions {
  /** The offending field, parameter, header or identifier, in its wire name. */
  field?: string
  /** Where several things are wrong: each, for a form that says them beside its fields. */
  faults?: readonly Fault[]
  /** With `throttled` and `unavailable`: whole seconds until it is worth another try. */
  retryAfterSeconds?: number
  /** The message for logs, of the server and of a store's calls; unless given, the message without what it quotes. */
  logMessage?: string
  /** For the log alone; never shown to the caller. */
  logDetail?: string
}

/**
 * A message without what stands in double quotes, from the first to the last: what a message repeats of the request may be a
 * key or a password in a wrong place.
 */
export function withoutQuoted(message: string): string {
  return message.replace(/".*"/s, '"…"')
}

/**
 * A refusal that the caller may see: `message` says what is wrong and what is allowed. Where it repeats something of the
 * request, even a name, that stands in double quotes, or `logMessage` says the same without it.
 * Anything else thrown is a defect, and answers 500 without text from inside.
 */
export class StoreFailure extends Error {
  readonly kind: FailureKind
  readonly field: string
  readonly faults: readonly Fault[]
  readonly retryAfterSeconds: number | undefined
  readonly logMessage: string
  readonly logDetail: string | undefined

  constructor(kind: FailureKind, message: string, options: FailureOptions = {}) {
    super(message)
    this.name = 'StoreFailure'
    this.kind = kind
    this.field = options.field ?? ''
    this.faults = options.faults ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
    this.logMessage = options.logMessage ?? withoutQuoted(message)
    this.logDetail = options.logDetail
  }

  /** The HTTP status that the kind stands for. */
  get status(): number {
    return statusOf[this.kind]
  }
}
