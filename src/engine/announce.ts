import { type Db, isClient, type Transaction } from '../database/client.ts'

/** The NOTIFY channel that says: committed events wait for their number. */
export const eventsChannel = 'events'
/** The NOTIFY channel that says: deliveries are due. */
export const deliveriesChannel = 'deliveries'

type Channel = typeof eventsChannel | typeof deliveriesChannel

interface Announcer {
  isUnderWay: boolean
  isWanted: boolean
}

const announcers = new WeakMap<Db, Map<Channel, Announcer>>()

/**
 * Wakes who waits for what was just committed, in all processes. Inside a transaction it does nothing, since NOTIFY there makes
 * commits queue behind one another: whoever commits announces. Returns at once; calls that come while one is under way become
 * one. It may fail: whoever waits looks by itself now and then.
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
