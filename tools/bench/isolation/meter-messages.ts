/* What the bench of isolation and its other process say to each other: meter.ts. */

/** Each stream sends its next request so long after the one before, or when that is answered. */
export const EVERY_MS = 20

export type MeterMessage =
  /** Begins; answered with the address of the receiver of notifications. */
  | { readonly ask: 'open' }
  /** Begins to ask; answered at once. */
  | { readonly ask: 'start'; readonly plan: MeterPlan }
  /** Ends; answered with `Metered` when the last requests have been answered. */
  | { readonly ask: 'stop' }

export interface MeterPlan {
  readonly origin: string
  /** Credentials of the store whose service is measured. */
  readonly headers: Readonly<Record<string, string>>
  readonly productIds: readonly number[]
  readonly serverPid: number
  readonly postgresPid: number
}

/** One request: when it was sent, in milliseconds from the start, how long it took, and its status; 0: none came. */
export interface Sample {
  readonly atMs: number
  readonly ms: number
  readonly status: number
}

export const streamNames = ['read', 'change', 'healthz', 'readyz'] as const
export type StreamName = (typeof streamNames)[number]

export interface Metered {
  readonly streams: Readonly<Record<StreamName, readonly Sample[]>>
  /** From the sending of a change to the arrival of its notification. */
  readonly notificationMs: readonly number[]
  /** Changes that were never notified within the time. */
  readonly missing: number
  readonly serverRssMb: number
  /** Of the process that decodes pictures; 0: there was none. */
  readonly decoderRssMb: number
  /** Shared memory counts once. */
  readonly postgresMb: number
}
