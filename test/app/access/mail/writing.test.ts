import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Content, Wording } from '../../../../src/access/mail/render.ts'
import { mailsAre, type NewMail, writeMail } from '../../../../src/access/mail/write.ts'
import { connect, inTransaction } from '../../../../src/foundation/database/client.ts'
import { t } from '../../../../src/foundation/texts/text.ts'
import { servicesOn } from '../../../support/services.ts'
import { sharedServer } from '../../../support/store.ts'
import { notice, samples, sending as settings, write } from './fixture.ts'

const HOUR_MS = 3_600_000
const production = {
  DATABASE_URL: 'postgresql://store:pass-word-1@db.internal:5432/store',
  SECRET_KEY: 'k'.repeat(32),
  OPERATOR_KEY: 'o'.repeat(16),
  PUBLIC_URL: 'https://api.shop.example',
}

const server = await sharedServer(settings)
const shop = await server.openStore()
/** Of another process. */
const otherDb = connect(server.database.url)
beforeEach(() => server.services.db.mail.deleteMany())
afterAll(async () => {
  await otherDb?.$disconnect()
})

const count = () => server.services.db.mail.count()

async function contentOf(mail: NewMail, services = server.services): Promise<Content & { subject: string }> {
  await write(services, mail)
  const row = await server.services.db.mail.findFirstOrThrow({ orderBy: { id: 'desc' } })
  return { subject: row.subject, ...JSON.parse(services.secrets.open(row.contentSealed ?? '')) }
}

describe('a mail', () => {
  test('is not written when the transaction of its cause is rolled back', async () => {
    const { db } = server.services
    const failed = inTransaction(db, async (tx) => {
      expect(await writeMail(tx, server.services, notice())).toBe(true)
      throw new Error('the cause failed')
    })
    await expect(failed).rejects.toThrow('the cause failed')
    expect(await count()).toBe(0)
  })

  test('is not written where nothing can be sent, and only shown in a sandbox', async () => {
    const { db } = server.services
    const nowhere = servicesOn(db, production)
    expect([mailsAre(nowhere.config), await write(nowhere, notice()), await count()]).toEqual(['none', false, 0])
    const sandbox = servicesOn(db)
    expect([mailsAre(sandbox.config), await write(sandbox, notice())]).toEqual(['shown', true])
    expect((await db.mail.findFirstOrThrow()).state).toBe('shown')
    expect([mailsAre(server.services.config), await write(server.services, notice())]).toEqual(['sent', true])
    expect(await db.mail.count({ where: { state: 'waiting' } })).toBe(1)
  })

  test('to an address without an account keeps no content, and counts', async () => {
    const { db } = server.services
    const of = { to: 'nobody@shop.example', causedBy: '192.0.2.1', isVoid: true }
    const mail = notice({ kind: 'reset', data: samples.reset, ...of })
    for (let written = 0; written < 5; written++) expect(await write(server.services, mail)).toBe(true)
    await expect(write(server.services, mail)).rejects.toMatchObject({ code: 'rate-limited' })
    const kept = { state: 'void', contentSealed: null }
    expect(await db.mail.findMany()).toMatchObject(Array.from({ length: 5 }, () => kept))
  })

  test.each([
    { to: 'ann@shop.example\r\nBcc: all@shop.example', field: 'To' },
    { to: 'ann@shop.example\u0000', field: 'To' },
    { storeName: 'Shop\r\nBcc: all@shop.example', field: 'Subject' },
  ])('is refused with a control character in a header: $field', async ({ to = '', storeName = '', field }) => {
    const mail = notice({ kind: 'invitation', data: { ...samples.invitation, storeName }, to })
    await expect(write(server.services, mail)).rejects.toMatchObject({ status: 400, field })
    expect(await count()).toBe(0)
  })

  test('shows what a person typed as text, whatever it looks like', async () => {
    const typed = '<script>alert(1)</script> <%= 1+1 %> <% it %> {{x}} " \' &amp;'
    const data = { ...samples.invitation, storeName: typed, role: 'a\n\npacker', invitedBy: typed }
    const { subject, text, html = '' } = await contentOf(notice({ kind: 'invitation', data }))
    expect(subject).toBe(`You are invited to ${typed}`)
    expect(text).toContain(`${typed} invites you to work in the store ${typed}. Your role there: a packer.\n\n`)
    const entities: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39' }
    const escaped = typed.replaceAll(/[&<>"']/g, (character) => `&${entities[character]};`)
    expect(html).toContain(`<p>${escaped} invites you to work in the store ${escaped}. Your role there: a packer.</p>`)
    expect(html).not.toContain('<script>')
  })

  test('has links to PUBLIC_URL and the times of its store’s zone, or UTC', async () => {
    const reset = { kind: 'reset', data: samples.reset } as const
    const PUBLIC_URL = 'https://shop.example/api'
    const elsewhere = servicesOn(server.services.db, { ...settings, ...production, PUBLIC_URL })
    const inStore = await contentOf(notice({ storeId: shop.store.id, ...reset }), elsewhere)
    expect(inStore.text).toContain(`until Mar 10, 2026, 12:00 PM EDT:\n\n${PUBLIC_URL}${samples.reset.link}\n`)
    expect((await contentOf(notice(reset))).text).toContain('until Mar 10, 2026, 4:00 PM UTC:')
  })
})

/** Values that are addresses by their nature. */
const addresses = ['link', 'newEmail', 'invitedBy', 'by', 'address']

test('no kind has an address, a turned word or a long text where somebody else chose a name', async () => {
  const marks = [
    'evil.example',
    'WWW．evil。example',
    'http://evil.example/x',
    'ann@evil.example',
    '\u202egnihsihp\u2028',
  ]
  const planted = `${marks.join(' ')} ${'x'.repeat(200)}`
  const plant = (value: unknown, name: string): unknown => {
    if (Array.isArray(value))
      return [planted, t('The store {name} is {state}.', { name: planted, state: t('{a}', { a: planted }) })]
    return typeof value === 'string' && !addresses.includes(name) ? planted : value
  }
  let count = 0
  for (const [kind, sample] of Object.entries(samples)) {
    const data = Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, plant(value, name)]))
    const mail = await contentOf({ ...notice(), ...({ kind, data } as unknown as Wording) })
    const said = [mail.subject, mail.text, mail.html]
      .join('\n')
      .replaceAll(/https?:\/\/\S+|[\w.]+@shop\.example|192[.\d]+/g, '')
    count += said.split('evil').length - 1
    expect([kind, said.match(/\S*evil[.．。]\p{L}\S*|:\/\/|\p{L}@\p{L}|[\u2028\u202e]|x{60}/u)]).toEqual([kind, null])
  }
  expect(count).toBeGreaterThan(40)
})

test.each([
  { locale: 'en-US', file: 'kinds.txt' },
  { locale: 'de-DE', file: 'kinds.de.txt' },
] as const)('every kind says what it was given, the same in text and HTML, in $locale', async ({ locale, file }) => {
  const shown: string[] = []
  for (const [kind, data] of Object.entries(samples)) {
    const { subject, text, html = '' } = await contentOf(notice({ locale, ...({ kind, data } as Wording) }))
    shown.push(`${kind}\n${subject}\n\n${text}`)
    const words = (part: string) =>
      part
        .replaceAll(/^- |<[^>]*>/gm, ' ')
        .split(/\s+/)
        .filter((word) => word !== '')
    const plain = html.slice(html.indexOf('</h1>')).replaceAll('&amp;', '&')
    expect(words(plain)).toEqual(words(text.replace('\n-- \n', '')))
  }
  await expect(shown.join('\n=====\n')).toMatchFileSnapshot(file)
})

describe('limits', () => {
  /** 30 at once, divided among two processes: how many were written, and what the others were told. */
  async function thirty(mailOf: (index: number) => NewMail) {
    const { now } = server.services
    const processes = [server.services, { ...servicesOn(otherDb, settings), now }]
    const writing = Array.from({ length: 30 }, (_, index) => {
      return write(processes[index % 2] ?? server.services, mailOf(index)).catch((error) => error)
    })
    return Promise.all(writing)
  }

  test('of 30 mails to one address at once, however it is spelt, 5 are written, and the next an hour later', async () => {
    const to = (index: number) => (index % 3 === 0 ? 'ÄNN@Shop.example' : 'änn@shop.EXAMPLE')
    const results = await thirty((index) => notice({ to: to(index), causedBy: `192.0.2.${index}` }))
    expect(await count()).toBe(5)
    const refused = results.filter((result) => result !== true)
    expect(refused).toHaveLength(25)
    for (const failure of refused) expect(failure).toMatchObject({ code: 'rate-limited', retryAfterSeconds: 3_600 })
    server.clock.ms += HOUR_MS - 1
    const late = () => write(server.services, notice({ to: to(1), causedBy: '192.0.2.99' }))
    await expect(late()).rejects.toMatchObject({ retryAfterSeconds: 1 })
    server.clock.ms += 1
    expect(await late()).toBe(true)
  })

  test.each([
    { network: 'an IPv4 address', addressOf: (index: number) => (index % 2 ? '192.0.2.7' : '::ffff:192.0.2.7') },
    { network: 'a /64 of IPv6', addressOf: (index: number) => `2001:db8:0:1::${index}` },
  ])('of 30 mails that $network causes at once 20 are written, and its name is not stored', async ({ addressOf }) => {
    await thirty((index) => notice({ causedBy: addressOf(index) }))
    expect(await count()).toBe(20)
    const rows = await server.services.db.mail.findMany()
    expect(JSON.stringify(rows)).not.toMatch(/192\.0\.2|2001:db8/)
    await expect(write(server.services, notice({ causedBy: addressOf(31) }))).rejects.toMatchObject({
      code: 'rate-limited',
    })
    expect(await write(server.services, notice({ causedBy: '198.51.100.1' }))).toBe(true)
  })

  test('a network is recognized while the secret key is being replaced', async () => {
    const former = { ...settings, SECRET_KEY: 'f'.repeat(32) }
    const next = { ...settings, SECRET_KEY: 'n'.repeat(32), SECRET_KEY_PREVIOUS: 'f'.repeat(32) }
    const { db, now } = server.services
    for (let index = 0; index < 20; index++) {
      await write({ ...servicesOn(db, former), now }, notice({ causedBy: '192.0.2.7' }))
    }
    const refused = write({ ...servicesOn(db, next), now }, notice({ causedBy: '192.0.2.7' }))
    await expect(refused).rejects.toMatchObject({ code: 'rate-limited' })
  })

  test.each([
    ['address-changed', 'customer-link'],
    ['customer-link', 'address-changed'],
  ] as const)(
    'a store has 200 mails an hour, and as many links for customers; beyond, the background writes none: %s',
    async (kind, other) => {
      const { db, now } = server.services
      const { store } = await server.openStore()
      const of = (each: typeof kind) =>
        notice({ kind: each, data: samples[each], storeId: store.id } as Partial<NewMail>)
      const at = { nextAttemptAt: now(), createdAt: now() }
      const row = { kind, recipient: 'many@shop.example', storeId: store.id, subject: '', state: 'sent', ...at }
      await db.mail.createMany({
        data: Array.from({ length: 199 }, (_, index) => ({ ...row, messageId: `<${index}>` })),
      })
      const results = await thirty(() => of(kind))
      expect(results.toSorted()).toEqual(Array.from({ length: 30 }, (_, index) => index === 29))
      expect(await write(server.services, of(other))).toBe(true)
      const elsewhere = await server.openStore()
      expect(await write(server.services, { ...of(kind), storeId: elsewhere.store.id })).toBe(true)
    },
  )
})

test('the mails of a store go with it', async () => {
  const { store } = await server.openStore()
  await write(server.services, notice({ storeId: store.id }))
  await write(server.services, notice())
  await server.services.db.$executeRaw`DELETE FROM "Store" WHERE "id" = ${store.id}`
  expect(await count()).toBe(1)
})
