import { setTimeout as delay } from 'node:timers/promises'
import type { Db } from '../../database/client.ts'
import { type Claim, keyOf } from './claim.ts'
import type { Pause } from './decide.ts'
import { createLoop } from './loop.ts'
import { pauseWebhook, type Result, writeResults } from './record.ts'

export interface RecorderServices {
  db: Db
  now: () => Date
  log: { warn(details: object, message: string): void }
  /** Gets the results of each write. */
  onWritten: (results: readonly Result[]) => void
}

/** A queue of results to write to the database. */
export interface Recorder {
  add(result: Result): void
  /** Whether no attempt should begin until more results are written. */
  isBehind(): boolean
  /** Resolves when everything is written or given up. */
  idle(): Promise<void>
}

const BATCH_MAX = 500
const BEHIND_FROM = 1_000
const RETRY_MS = 100

/**
 * Writes results in batches. Retries a failed write until the lease of the claim ends. Then the attempt counts as
 * interrupted, and the process that claims the delivery next makes another.
 */
export function createRecorder({ db, now, log, onWritten }: RecorderServices): Recorder {
  let waiting: Result[] = []
  const pauses = new Map<string, { webhook: Claim; pause: Pause; until: Date }>()
  const writing = createLoop(write, { log, complaint: 'results of webhook deliveries could not be written yet' })
  // Separate, because it may be slow or wait for a change of the webhook.
  const pausing = createLoop(pause, { log, complaint: 'a webhook could not be paused yet' })

  async function write(): Promise<void> {
    dropLate()
    const batch = waiting.slice(0, BATCH_MAX)
    try {
      const heldUp = batch.length === 0 ? [] : await writeResults(db, batch)
      // New results are behind the batch.
      waiting = [...waiting.slice(batch.length), ...heldUp]
      const written = batch.filter((result) => !heldUp.includes(result))
      notePauses(written)
      onWritten(written)
      if (heldUp.length > 0) await delay(RETRY_MS)
    } catch (error) {
      await delay(RETRY_MS)
      throw error
    } finally {
      if (waiting.length > 0) writing.wake()
    }
  }

  function dropLate(): void {
    const at = now()
    const kept = waiting.filter(({ claim }) => claim.leaseEnd > at)
    const dropped = waiting.length - kept.length
    waiting = kept
    if (dropped > 0) log.warn({ dropped }, 'results of webhook deliveries were given up: their claims are over')
  }

  function notePauses(written: readonly Result[]): void {
    for (const { claim, decision } of written) {
      if (decision.pause === null) continue
      pauses.set(keyOf(claim), { webhook: claim, pause: decision.pause, until: claim.leaseEnd })
      pausing.wake()
    }
  }

  /** Drops a pause that cannot be made in time: the next failure requests it again. */
  async function pause(): Promise<void> {
    const at = now()
    for (const [key, { webhook, pause, until }] of pauses) {
      if (until > at) await pauseWebhook(db, webhook, pause, at).catch(pauseLater)
      pauses.delete(key)
    }
  }

  async function pauseLater(error: unknown): Promise<never> {
    await delay(RETRY_MS)
    pausing.wake()
    throw error
  }

  return {
    add: (result) => {
      waiting.push(result)
      writing.wake()
    },
    isBehind: () => waiting.length >= BEHIND_FROM,
    idle: async () => {
      await writing.idle()
      await pausing.idle()
    },
  }
}
