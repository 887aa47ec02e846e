import { beforeAll, describe, expect, test } from 'vitest'
import { kindsOf, type MailKind } from '../../../../src/access/mail/kinds.ts'
import { workerDatabase } from '../../../support/database.ts'
import { guardedRoutes } from '../../../support/guarded-routes.ts'
import { type TestPerson, testPerson } from '../../../support/person.ts'
import { ofTest } from '../../../support/shared.ts'
import { customerIn } from '../../../support/signed-in.ts'
import { sharedServer, type TestServer } from '../../../support/store.ts'
import { enter, handedOver, mailTo, memberWith, password } from '../../shop/staff/fixture.ts'
import { notice, otherServer, prove, samples, sending, write } from './fixture.ts'

// Whoever holds an address that they have not proved reads no mail of the person whose it is, in no place, and gets in nowhere by one.

const victim = 'victim@shop.example'
const Email = victim
const EVIL = 'Ring 555-7319'
const isVictim = { email: victim, emailProvedAt: { not: null } }

const server = await sharedServer({ DEVELOPER_SIGNUP: 'open' }, workerDatabase, { fill: async () => {} })
const shop = await server.openStore()
const own = await openOwn()
const { person: owner } = await memberWith(server, shop, 'owner', victim)
await prove(server, victim)

async function done(answer: ReturnType<TestPerson['call']>, status: number) {
  const { statusCode, body, json } = await answer
  expect(statusCode, body).toBe(status)
  return body === '' ? {} : json()
}

/** A store of the strangers' own, whose owner has another address. */
async function openOwn() {
  const store = await server.openStore()
  return { ...store, ...(await memberWith(server, store, 'owner')), storeId: store.store.id }
}

interface Stranger {
  readonly person: TestPerson
  /** The store whose customers are the stranger's own. */
  readonly storeId: number
}

/** All ways to hold the address without having proved it, and to have mails written to it. */
const ways: Readonly<Record<string, () => Promise<Stranger>>> = {
  'the owner of a test store, who signed up with the address': async () => {
    const person = testPerson(server.app)
    await done(person.call('POST', '/developers/sign-up', { Email, Password: password }), 200)
    const { Id } = await done(person.call('POST', '/developers/test-stores', { Name: EVIL }), 201)
    await server.services.testStores.settle()
    const home = `/developers/test-stores/${Id}`
    expect((await person.submit(home, {}, { action: `${home}/sign-in` })).headers.location).toBe('/admin')
    return { person, storeId: Id }
  },
  'somebody whom an owner has invited under the address by a link that was handed over': async () => {
    const { token } = await handedOver(own, own.storeId, victim, 'owner')
    const person = testPerson(server.app)
    await done(person.call('POST', '/admin/invitations', { Token: token, Password: password }), 200)
    return { ...own, person }
  },
  'an owner who has invited the address': async () => {
    // In the other store, somebody has the address by now.
    const { person, storeId } = await openOwn()
    await done(person.call('POST', `/admin/stores/${storeId}/invitations`, { Email, Role: 'owner' }), 201)
    return { person, storeId }
  },
  'an owner who asked to change the own address to it': async () => {
    await done(own.person.call('POST', '/admin/account/address/change', { Email, CurrentPassword: password }), 204)
    return own
  },
  'an owner with a customer of the address': async () => {
    const [{ Value }] = (await own.call('POST', '/Customers', { body: { Email, Password: 'secret' } })).json()
    const link = `/admin/customers/${Value}/sign-in-link`
    expect((await own.person.submit(link, {})).headers.location).toContain('customer-link-mailed')
    return own
  },
  'a customer of the store with the address': async () => {
    const person = await customerIn(server, shop)
    await server.services.db.customer.updateMany({ where: { storeId: shop.store.id }, data: { email: victim } })
    return { person, storeId: 0 }
  },
  'somebody whom the operator added under the address, who is told of alerts': async () => {
    const store = await server.openStore()
    const { person } = await memberWith(server, store, 'owner', victim)
    await person.submit('/admin/account', { Alerts: 'csv' }, { action: '/admin/account/alerts' })
    return { person, storeId: store.store.id }
  },
}

/** The mails that the address has got, each with a mark in its subject and in what it says. */
async function markAll(): Promise<{ id: number; kind: string; storeId: number | null }[]> {
  const { db, secrets } = server.services
  const mails = await db.mail.findMany({ where: { recipient: victim, state: { not: 'void' } } })
  for (const { id } of mails) {
    const content = { text: `MARK-${id}-TEXT\n\nhttp://localhost:3000/MARK-${id}-LINK`, html: '' }
    const contentSealed = secrets.seal(JSON.stringify(content))
    await db.mail.update({ where: { id }, data: { subject: `MARK-${id}-SUBJECT`, contentSealed } })
  }
  return mails
}

const routes = (await guardedRoutes()).filter(({ method }) => method === 'GET').map(({ url }) => url)

const numberIn = (mark: string) => Number(mark.split('-')[1])

/** The marks in all pages and JSON that somebody may open, those of a mail's id among them. */
async function marksFor(person: TestPerson, which = /./): Promise<Set<string>> {
  const mails = await server.services.db.mail.findMany({ select: { id: true } })
  const places = routes.flatMap((url) => {
    if (!which.test(url) || url.includes('*')) return []
    return /\/(outbox|mails)\/:id$/.test(url) ? mails.map(({ id }) => url.replace(':id', String(id))) : [url]
  })
  expect(places.length).toBeGreaterThan(mails.length)
  const found = new Set<string>()
  for (const place of places) {
    const { body } = await person.open(place)
    for (const [mark] of body.matchAll(/MARK-\d+-[A-Z]+/g)) found.add(mark)
  }
  return found
}

/** The same person, who asks another process. */
function at({ app }: TestServer, { cookies }: TestPerson): TestPerson {
  const person = testPerson(app)
  for (const [name, value] of cookies) person.cookies.set(name, value)
  return person
}

describe('the mails to an address', () => {
  let mails: Awaited<ReturnType<typeof markAll>>
  const strangers = new Map<string, Stranger>()
  /** The first that is of the person, and not of one who has called an own account by the address. */
  let firstOwn: number
  const numbersOf = (is: (mail: (typeof mails)[number]) => boolean) => {
    return mails.flatMap((mail) => (is(mail) ? [mail.id] : [])).toSorted()
  }

  beforeAll(async () => {
    const { db } = server.services
    // An hour has its bounds.
    const later = () => db.mail.updateMany({ data: { createdAt: new Date(0) } })
    for (const [way, enters] of Object.entries(ways)) {
      strangers.set(way, await enters())
      await later()
    }
    for (const area of ['admin', 'developers', 'operator']) {
      await done(testPerson(server.app).call('POST', `/${area}/reset`, { Email }), 204)
      expect((await mailTo(server, victim))?.text).not.toContain(EVIL)
    }
    firstOwn = (await db.mail.findFirstOrThrow({ orderBy: { id: 'desc' } })).id + 1
    await enter(server, victim, { store: shop.store.secureUrl })
    const { id: identityId } = await db.identity.findFirstOrThrow({ where: isVictim })
    const stores = new Set([shop.store.id, null, ...Array.from(strangers.values(), ({ storeId }) => storeId || null)])
    const kinds = Object.keys(samples) as MailKind[]
    for (const storeId of stores) {
      for (const kind of kinds) {
        await later()
        const mail = notice({ kind, data: samples[kind], to: victim, identityId, storeId } as never)
        expect(await write(server.services, mail)).toBe(true)
      }
    }
    mails = await markAll()
    expect(new Set(mails.map(({ kind }) => kind))).toEqual(new Set(kinds))
  })

  test.each(Object.keys(ways))('are not read by %s, in a sandbox or where mails are sent', async (way) => {
    const { person, storeId } = strangers.get(way) ?? own
    const ofCustomers = mails.filter((mail) => mail.kind === 'customer-link' && mail.storeId === storeId)
    const process = await ofTest(otherServer(server, sending))
    const marks = [...(await marksFor(person)), ...(await marksFor(at(process, person), /mail|outbox/))]
    const isOfCustomer = (mark: string) => ofCustomers.some(({ id }) => id === numberIn(mark))
    expect(marks.filter((mark) => !isOfCustomer(mark))).toEqual([])
    expect(marks.some(isOfCustomer)).toBe(storeId !== 0)
  })

  test('are read by the person, but for those that let somebody in, which the operator of a sandbox reads', async () => {
    const secret = numbersOf(({ kind }) => kindsOf('mailbox').includes(kind))
    const mine = numbersOf(({ id, kind, storeId }) => {
      return id >= firstOwn && !secret.includes(id) && (kind !== 'customer-link' || storeId === shop.store.id)
    })
    const numbers = (marks: Iterable<string> | null) => [...new Set([...(marks ?? [])].map(numberIn))].toSorted()
    expect(numbers(await marksFor(owner))).toEqual(mine)
    const { body } = await server.operate('GET', '/admin/mails?limit=500')
    expect(numbers(body.match(/MARK-\d+-LINK/g))).toEqual(secret)
    // What was written before the address was proved stays unread, and what was written since goes along with another address.
    await server.services.db.identity.updateMany({ where: isVictim, data: { email: 'moved@shop.example' } })
    expect(numbers(await marksFor(owner, /outbox/))).toEqual(mine)
  })
})
