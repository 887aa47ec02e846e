import { type Db, isClient, type Transaction } from '../database/client.ts'

/** The NOTIFY channel for committed events that have no number yet. */
export const eventsChannel = 'events'
/** The NOTIFY channel for deliveries that are due. */
export const deliveriesChannel = 'deliveries'

type Channel = typeof eventsChannel | typeof deliveriesChannel

interface Announcer {
  isUnderWay: boolean
  isWanted: boolean
}

const announcers = new WeakMap<Db, Map<Channel, Announcer>>()

/**
 * Wakes the waiting workers of all processes after a commit. Does nothing inside a transaction, because NOTIFY there
 * makes commits queue behind one another: call it after the commit. Returns at once, and merges calls made while one is
 * under way. A failure is ignored, because workers also poll.
 */
export function announce(db: Db | Transaction, channel: Channel): void {
  if (!isClient(db)) return
  const announcer = announcerOf(db, channel)
  announcer.isWanted = true
  if (!announcer.isUnderWay) void run(db, channel, announcer)
}

function announcerOf(db: Db, channel: Channel): Announcer {
  const ofDb = announcers.get(db) ?? new Map<Channel, Announcer>()
  announcers.set(db, ofDb)
  const announcer = ofDb.get(channel) ?? { isUnderWay: false, isWanted: false }
  ofDb.set(channel, announcer)
  return announcer
}

async function run(db: Db, channel: Channel, announcer: Announcer): Promise<void> {
  announcer.isUnderWay = true
  while (announcer.isWanted) {
    announcer.isWanted = false
    await db.$executeRaw`SELECT pg_notify(${channel}, '')`.catch(() => undefined)
  }
  announcer.isUnderWay = false
}
