const statusOf = {
  'bad-request': 400,
  unauthorized: 401,
  'insecure-transport': 403,
  'not-found': 404,
  'method-not-allowed': 405,
  conflict: 409,
  'in-progress': 409,
  'precondition-failed': 412,
  'body-too-large': 413,
  'unsupported-media-type': 415,
  'key-reused': 422,
  throttled: 429,
  unavailable: 503,
} as const

export type FailureKind = keyof typeof statusOf

export interface FailureOptions {
  /** The offending field, parameter, header or identifier, in its wire name. */
  field?: string
  /** For the log alone; never shown to the caller. */
  logDetail?: string
}

/**
 * A refusal that the caller may see: `message` says what is wrong and what is allowed.
 * Anything else thrown is a defect, and answers 500 without text from inside.
 */
export class StoreFailure extends Error {
  readonly kind: FailureKind
  readonly field: string
  readonly logDetail: string | undefined

  constructor(kind: FailureKind, message: string, { field = '', logDetail }: FailureOptions = {}) {
    super(message)
    this.name = 'StoreFailure'
    this.kind = kind
    this.field = field
    this.logDetail = logDetail
  }

  /** The HTTP status that the kind stands for. */
  get status(): number {
    return statusOf[this.kind]
  }
}
