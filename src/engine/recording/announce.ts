import { setTimeout as delay } from 'node:timers/promises'
import { type Db, execute, isClient, type Transaction } from '../../foundation/database/client.ts'
import { sql } from '../../foundation/database/sql.ts'

/** The NOTIFY channel for committed events that have no number yet. */
export const eventsChannel = 'events'
/** The NOTIFY channel for deliveries that are due. */
export const deliveriesChannel = 'deliveries'
/** The NOTIFY channel for mails that are due. */
export const mailsChannel = 'mails'

type Channel = typeof eventsChannel | typeof deliveriesChannel | typeof mailsChannel

/** Between two calls. Without it, each of many changes would wake the workers of all processes. */
const PAUSE_MS = 20

/** The channels with a call under way; true: another call has come since. */
const underWay = new WeakMap<Db, Map<Channel, boolean>>()

/**
 * Wakes the waiting workers of all processes after a commit. Does nothing inside a transaction, because NOTIFY there
 * makes commits queue behind one another: call it after the commit. Returns at once, and merges calls made while one is
 * under way, or within 20 ms after it. A failure is ignored, because workers also poll.
 */
export function announce(db: Db | Transaction, channel: Channel): void {
  if (!isClient(db)) return
  const channels = underWay.get(db) ?? new Map<Channel, boolean>()
  underWay.set(db, channels)
  if (channels.has(channel)) channels.set(channel, true)
  else void notify(db, channel, channels)
}

async function notify(db: Db, channel: Channel, channels: Map<Channel, boolean>): Promise<void> {
  do {
    channels.set(channel, false)
    await execute(db, sql`SELECT pg_notify(${channel}, '')`).catch(() => undefined)
    await delay(PAUSE_MS, undefined, { ref: false })
  } while (channels.get(channel))
  channels.delete(channel)
}
