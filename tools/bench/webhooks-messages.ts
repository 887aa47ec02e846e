/* What the bench of the webhooks and its two other processes say to each other: webhooks-load.ts, webhooks-receivers.ts. */

/** Requests at fixed rates, whatever becomes of those before: a server that falls behind is not given time to catch up. */
export interface OpenLoad {
  /** The server. */
  readonly origin: string
  readonly seconds: number
  readonly streams: readonly Stream[]
}

/** What each request is: a new order for one product, a new stock of one, one product read. */
export type StreamKind = 'order' | 'stock' | 'read'

export interface Stream {
  readonly name: string
  readonly kind: StreamKind
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly perSecond: number
  /** Of every answer. */
  readonly status: number
  /** Taken in turn. */
  readonly productIds: readonly number[]
}

/** A change that was answered for; times by `monotonicMs`. */
export interface Change {
  /** The same as in the notification of it. */
  readonly key: string
  readonly sentAt: number
  readonly answeredAt: number
}

export interface StreamResult {
  readonly name: string
  /** Of each request, sorted. */
  readonly milliseconds: readonly number[]
  /** Empty for reads. */
  readonly changes: readonly Change[]
}

export interface OpenLoadResult {
  readonly startedAt: number
  readonly endedAt: number
  readonly streams: readonly StreamResult[]
}

export function orderKey(orderId: string | number): string {
  return `order ${orderId}`
}

export function stockKey(productId: number, stock: number): string {
  return `stock of ${productId}: ${stock}`
}

/** The base addresses of receivers that answer at once, of one that takes its time, and of one that never answers. */
export interface ReceiverAddresses {
  readonly fast: readonly string[]
  readonly slow: string
  readonly dead: string
}

export type ReceiversMessage =
  /** Answered with `ReceiverAddresses`. */
  | { readonly ask: 'open' }
  /** Forgets what arrived. */
  | { readonly ask: 'clear' }
  /** Answered with `Counts`. */
  | { readonly ask: 'count' }
  /** Answered with what arrived at the fast ones; one in `verifyEvery` is verified by the secret of its path. */
  | { readonly ask: 'arrivals'; readonly secrets: Readonly<Record<string, string>>; readonly verifyEvery: number }

export interface Counts {
  /** Notifications that came to the fast ones whole. */
  readonly arrived: number
  /** Requests that the slow and the dead one have not answered. */
  readonly open: number
}

export interface Arrival {
  /** The same as the change's (`Change`). */
  readonly key: string
  readonly path: string
  /** webhook-id. */
  readonly id: string
  /** By `monotonicMs`, when the last byte was there. */
  readonly at: number
}
