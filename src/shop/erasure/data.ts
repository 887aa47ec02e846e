import { allows, bothOf } from '../../access/applications/privileges.ts'
import type { Caller, Privileges } from '../../engine/caller.ts'
import type { Document } from '../../engine/definition/stored-row.ts'
import { resourceNamed } from '../registry.ts'
import { listNotes } from '../resources/customers/notes.ts'
import { findPerson, type PersonNamed, type Records, readRecords } from './person.ts'
import { services } from './personal.ts'

export type PersonData = Awaited<ReturnType<typeof readPerson>>

/** Of the newest of a person, each. */
const SHOWN_MAX = 1_000
const ofMail = { recipient: true, subject: true, state: true, createdAt: true, sentAt: true } as const
const ofSignIn = { createdAt: true, seenAt: true, address: true, userAgent: true } as const

/**
 * Reads what is stored of a person: the records with everything that they hold, what was written to and about the person, and who may
 * read it. Throws as `findPerson` does.
 */
export async function readPerson(caller: Caller, named: PersonNamed) {
  const { db, store } = caller
  const { customerId, records, words } = await findPerson(caller, named)
  const readAll = (service: keyof Records) =>
    Array.fromAsync(readRecords(caller, resourceNamed(service), records[service]), withoutHash)
  const [customers, orders, giftRegistries, returns] = await Promise.all(services.map(readAll))
  const own = { storeId: store.id, customerId: customerId ?? 0 }
  const ofPerson = [
    { orderId: { in: [...records.Orders] } },
    { recipient: { in: words.emails, mode: 'insensitive' as const } },
  ]
  const newest = { orderBy: { id: 'desc' }, take: SHOWN_MAX } as const
  return {
    customerId,
    records,
    customer: customers?.[0] ?? null,
    orders: orders ?? [],
    returns: returns ?? [],
    giftRegistries: giftRegistries ?? [],
    notes: customerId === null ? [] : await listNotes(caller, customerId),
    mails: await db.mail.findMany({ where: { storeId: store.id, OR: ofPerson }, select: ofMail, ...newest }),
    signIns: await db.session.findMany({ where: own, select: ofSignIn, ...newest }),
    applications: await readersOf(caller),
  }
}

/** The hash tells nothing of the person, and helps who guesses the password. */
function withoutHash({ PasswordHash: _, ...record }: Document): Document {
  return record
}

/** The applications that may read customers or their orders, and since when they are in the store. */
async function readersOf({ db, store }: Caller) {
  const subscriptions = await db.subscription.findMany({
    where: { storeId: store.id },
    select: { createdAt: true, privileges: true, application: { select: { name: true, privileges: true } } },
    orderBy: { id: 'asc' },
  })
  return subscriptions.flatMap(({ createdAt, privileges, application }) => {
    const allowed = bothOf(application.privileges as Privileges, privileges as Privileges)
    const reads = services.filter((service) => allows(allowed, service, 'read'))
    return reads.length > 0 ? [{ name: application.name, createdAt, reads }] : []
  })
}
