import type { components } from '../lib/schema.d.ts'

export type ResultItem = components['schemas']['ResponseInfo']

/** Why something was refused (`/docs/errors`). Later servers may add codes: treat an unknown one as `invalid-value`. */
export type ErrorCode = components['schemas']['ErrorCode']

/** No answer came. `cause`: what the platform says of the connection, such as `ECONNREFUSED`, where it does. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'

  /** The message has no query and no credentials, and nothing else that `fetch` may repeat of the request. */
  constructor(method: string, url: string, error: unknown) {
    const { origin, pathname } = new URL(url)
    const isTimeout = error instanceof DOMException && error.name === 'TimeoutError'
    const cause = isTimeout ? error : (error as Error | undefined)?.cause
    const { code, message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: string }
    const reason = typeof code === 'string' ? code : (message ?? 'the connection failed')
    super(`${method} ${origin}${pathname} got no answer: ${reason}`, { cause })
  }
}

/** A refusal of the server. `items` say what is wrong, of each record that was refused. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly status: number
  /** That of the first item. Null: something before the server refused, such as a proxy. */
  readonly code: ErrorCode | null
  readonly items: readonly ResultItem[]
  /** By which the server's log names the request. */
  readonly requestId: string
  /** How long to wait, where the server says so. */
  readonly retryAfterMs: number | null

  constructor(
    { status, code, requestId, retryAfterMs }: Pick<StoreError, 'status' | 'code' | 'requestId' | 'retryAfterMs'>,
    items: readonly ResultItem[],
  ) {
    const message = items.map(({ Value, Message }) => (Value === '' ? Message : `${Value}: ${Message}`)).join('; ')
    super(`${status} ${message || 'without a body'} (request ${requestId || 'unknown'})`)
    this.status = status
    this.code = code
    this.items = items
    this.requestId = requestId
    this.retryAfterMs = retryAfterMs
  }
}
