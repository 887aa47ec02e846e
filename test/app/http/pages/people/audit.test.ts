import { expect, test } from 'vitest'
import { auditActions } from '../../../../../src/access/audit/actions.ts'
import { recordAudit } from '../../../../../src/access/audit/audit.ts'
import { inTransaction } from '../../../../../src/foundation/database/client.ts'
import { english, languageOf } from '../../../../../src/foundation/texts/language.ts'
import { detailsInWords } from '../../../../../src/http/pages/people/audit-words.ts'
import { developerIn, merchantIn, operatorIn } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'

const server = await sharedServer()
const shop = await server.openStore({ timeZone: 'Asia/Tokyo' })

interface Entry {
  Id: number
  Actor: { Kind: string; Name: string }
  Action: string
  Target: string
  StoreId: number | null
  Details: Record<string, unknown>
}

const asOperator = (query = '') => server.operate('GET', `/admin/audit${query}`)

/** Entries of a store, oldest first, with targets of their own. */
async function record(storeId: number, targets: readonly string[]) {
  const actor = { kind: 'operator', name: '', address: '10.0.0.1' } as const
  for (const target of targets) {
    await inTransaction(server.services.db, (tx) =>
      recordAudit(tx, server.services.now, { actor, action: 'application.changed', target, storeId }),
    )
  }
}

test('a merchant reads who did what in the store, the newest first, in words and in the store’s zone', async () => {
  const person = await merchantIn(server, shop.store)
  const { body, statusCode } = await person.open('/admin/audit')
  const [entry] = (await person.call('GET', '/admin/audit')).json<Entry[]>()

  expect(statusCode).toBe(200)
  expect(body).toContain('Signed in')
  expect(body).toContain('merchant@shop.example')
  expect(body).toContain('127.0.0.1')
  expect(body).toContain('Mar 11, 2026, 1:00 AM GMT+9')
  expect(entry).toEqual({
    Id: expect.any(Number),
    Time: '2026-03-10T16:00:00.000Z',
    Actor: { Kind: 'merchant', Name: 'merchant@shop.example' },
    Action: 'account.signed-in',
    Target: 'merchant@shop.example',
    StoreId: shop.store.id,
    ApplicationId: null,
    Details: {},
    Address: '127.0.0.1',
  })
})

test('the operator reads everything, a merchant the own store alone', async () => {
  const other = await server.openStore()
  await record(other.store.id, ['of the other store'])
  const person = await merchantIn(server, shop.store)

  expect((await asOperator()).body).toContain('of the other store')
  const own = await person.call('GET', '/admin/audit?limit=500')
  expect(own.json<Entry[]>().every(({ StoreId }) => StoreId === shop.store.id)).toBe(true)
  expect((await person.open('/admin/audit?limit=500')).body).not.toContain('of the other store')
})

test('a developer reads what was done to the own account, in UTC, and nothing of others', async () => {
  const person = await developerIn(server)
  const stranger = await developerIn(server)
  const { body } = await person.open('/developers/audit')

  expect(body).toContain('Account opened')
  expect(body).toContain('4:00 PM UTC')
  expect(body).toContain(person.account.Email)
  expect(body).not.toContain(stranger.account.Email)
  const entries = (await person.call('GET', '/developers/audit')).json<Entry[]>()
  expect(entries.map(({ Action }) => Action)).toEqual(['account.signed-in', 'account.created'])
})

test('pages follow one another without gap or repetition, for people and for programs', async () => {
  const store = await server.openStore()
  const person = await merchantIn(server, store.store)
  const before = (await person.call('GET', '/admin/audit')).json<Entry[]>().length
  await record(
    store.store.id,
    Array.from({ length: 7 }, (_, index) => `entry ${index}`),
  )

  const read: string[] = []
  let address: string | undefined = '/admin/audit?limit=3'
  while (address !== undefined) {
    const answer = await person.call('GET', address)
    read.push(...answer.json<Entry[]>().map(({ Target }) => Target))
    address = /^<([^>]+)>; rel="next"$/.exec(String(answer.headers.link ?? ''))?.[1]
  }
  expect(read).toHaveLength(7 + before)
  expect(read.slice(0, 7)).toEqual([6, 5, 4, 3, 2, 1, 0].map((index) => `entry ${index}`))

  const first = await person.open('/admin/audit?limit=3')
  const older = /href="([^"]+)" rel="next"/.exec(first.body)?.[1]?.replaceAll('&amp;', '&') ?? ''
  expect(first.body).not.toContain('entry 3')
  const second = await person.open(older)
  expect(second.body).toContain('entry 3')
  expect(second.body).not.toContain('entry 4')
  expect(second.body).toContain('Newest')
})

test.each(['limit=0', 'limit=501', 'limit=x', 'before=0', 'before=-1', 'beside=1'])('?%s is refused', async (query) => {
  const answer = await asOperator(`?${query}`)

  expect([answer.statusCode, answer.json()[0].Value]).toEqual([400, query.split('=')[0]])
})

test('what others have named is shown as text', async () => {
  await record(shop.store.id, ['<script>alert(1)</script>'])
  const { body } = await (await merchantIn(server, shop.store)).open('/admin/audit')

  expect(body).toContain('&lt;script&gt;alert(1)')
  expect(body).not.toContain('<script>alert')
})

test('a log in which nothing is older says so', async () => {
  const person = await developerIn(server)
  const { body } = await person.open('/developers/audit?before=1')

  expect(body).toContain('There is nothing older.')
})

const inEnglish = { ...languageOf('en-US'), timeZone: 'Europe/Berlin' }

test('details are told in the language of the reader', () => {
  const inGerman = { ...languageOf('de-DE'), timeZone: 'Europe/Berlin' }
  const details = { sessions: 12_345, privileges: { Orders: ['read', 'write'] }, mailed: true }

  expect(detailsInWords(details, inGerman)).toBe(
    'Sitzungen: 12.345; Berechtigungen: Bestellungen (lesen und ändern); per E-Mail',
  )
})

test('every action has words of its own', () => {
  const words = Object.values(auditActions).map(english)

  expect(new Set(words).size).toBe(words.length)
  expect(words.filter((each) => each.includes('.'))).toEqual([])
})

test.each([
  [{}, ''],
  [{ sessions: 2 }, 'sessions: 2'],
  [{ forced: true, reason: 'no answer' }, 'without its confirmation; reason: no answer'],
  [
    { secureUrl: { from: 'https://a.example', to: 'https://b.example' } },
    'address: https://a.example → https://b.example',
  ],
  [
    { privileges: { Orders: ['read', 'write'], Products: ['read'] } },
    'privileges: Orders (read and change), Products (read)',
  ],
  [{ statuses: [1, 2], note: null, hidden: false }, 'order statuses: 1, 2'],
  [{ enabled: { from: true, to: false } }, 'switched on: yes → no'],
  [{ name: { from: 'constructor', to: 'none' } }, 'name: constructor → none'],
  [{ unknownHere: 'x' }, 'unknownHere: x'],
  [{ sessions: 12_345 }, 'sessions: 12,345'],
  [{ changed: ['callbackUrl', 'privileges'] }, 'changed: callback address, privileges'],
  [{ language: { from: null, to: 'de-AT' } }, 'language: as the browser says → Deutsch (Österreich)'],
  [{ role: { from: 'orders', to: 'Night shift' } }, 'role: Orders → Night shift'],
  [{ endsAt: '2026-03-10T16:00:00.000Z' }, 'they end: Mar 10, 2026, 5:00 PM GMT+1'],
  [{ cartApiEnabled: { from: false, to: true } }, 'cartAPI: off → on'],
  [
    { cartApiAddresses: { from: ['10.0.0.5', '10.1.0.0/16'], to: [] } },
    'cartAPI from: 10.0.0.5, 10.1.0.0/16 → anywhere',
  ],
])('the details %j are told as “%s”', (details, words) => {
  expect(detailsInWords(details, inEnglish)).toBe(words)
})

test('a change of statuses and payment methods names them', async () => {
  const { store } = await server.openStore()
  const person = await merchantIn(server, store)
  const settings = '/admin/settings'
  await person.submit(`${settings}/order-statuses`, { 'StatusText.1': 'Just in' })
  await person.submit(`${settings}/payment-methods`, { 'Name.payment-methods-2': 'By bank' })
  const { body } = await person.open('/admin/audit')

  expect(body).toMatch(/order statuses: Just in[,<]/)
  expect(body).toMatch(/payment methods: [^<]*By bank/)
})

test('so it does for an operator, each store’s by its own names, and a status that was added by its text', async () => {
  const stores = await Promise.all([server.openStore(), server.openStore()])
  for (const [at, { store }] of stores.entries()) {
    const person = await merchantIn(server, store)
    await person.submit('/admin/settings/order-statuses', { 'StatusText.1': `Just in ${at}` })
    await person.submit('/admin/settings/payment-methods', { 'Name.payment-methods-2': `By bank ${at}` })
  }
  const [{ store } = shop] = stores
  const status = { StatusText: 'Being engraved', Visible: true }
  const added = await server.operate('POST', `/admin/stores/${store.id}/order-statuses`, status)
  expect(added.statusCode).toBe(201)
  const actor = { kind: 'operator', name: '', address: '10.0.0.1' } as const
  const changed = { action: 'order-statuses.changed', target: 'both', details: { statuses: [1, 2] } } as const
  await inTransaction(server.services.db, (tx) =>
    recordAudit(tx, server.services.now, { actor, storeId: store.id, ...changed }),
  )
  const operator = await operatorIn(server)
  const inLanguage = async (language: string) =>
    (await operator.open('/operator/audit', { 'accept-language': language })).body

  const body = await inLanguage('en')
  for (const at of [0, 1]) {
    expect(body).toMatch(new RegExp(`order statuses: Just in ${at}[,<]`))
    expect(body).toMatch(new RegExp(`payment methods: [^<]*By bank ${at}`))
  }
  expect(body).toContain('<small>text: Being engraved</small>')
  expect(await inLanguage('de')).toMatch(/Just in 0, In Bearbeitung[,<]/)
})

test('details without end are cut', () => {
  expect(detailsInWords({ reason: 'x'.repeat(10_000) }, inEnglish)).toHaveLength(301)
})
