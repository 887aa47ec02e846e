import type { components } from './schema.ts'

export type ResultItem = components['schemas']['ResponseInfo']

/** A refusal of the server. `items` say what is wrong, of each record that was refused. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly status: number
  readonly items: readonly ResultItem[]
  /** By which the server's log names the request. */
  readonly requestId: string
  /** How long to wait, where the server says so. */
  readonly retryAfterMs: number | null

  constructor(status: number, items: readonly ResultItem[], requestId: string, retryAfterMs: number | null) {
    const message = items.map(({ Value, Message }) => (Value === '' ? Message : `${Value}: ${Message}`)).join('; ')
    super(`${status} ${message || 'without a body'} (request ${requestId || 'unknown'})`)
    this.status = status
    this.items = items
    this.requestId = requestId
    this.retryAfterMs = retryAfterMs
  }
}
