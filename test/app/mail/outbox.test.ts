import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { merchantIn } from '../../support/signed-in.ts'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'
import { notice, write } from './fixture.ts'

const sending = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'mail@shop.example' }
const expiresAt = new Date('2026-03-11T16:00:00Z')
const link = '/admin/invitations?token=secret-of-the-link&x=1'

let server: TestServer
let shop: TestStore
let other: TestStore

beforeAll(async () => {
  server = await openServer()
  shop = await server.openStore()
  other = await server.openStore()
})
beforeEach(() => server.services.db.mail.deleteMany())
afterAll(() => server?.close())

/** The same database behind a process with other settings. */
function otherServer(settings: Record<string, string>): Promise<TestServer> {
  return openServer(settings, async () => ({ ...server.database, drop: async () => {} }))
}

async function invite({ store }: TestStore, to: string, { services } = server): Promise<number> {
  const data = { storeName: store.name, role: 'a <packer>', invitedBy: 'ann@shop.example', link, expiresAt } as const
  await write(services, { kind: 'invitation', data, to, storeId: store.id, causedBy: null })
  return (await services.db.mail.findFirstOrThrow({ orderBy: { id: 'desc' } })).id
}

test('shows a sandbox the mails of the own store alone, with their text and links', async () => {
  const own = await invite(shop, 'bea@shop.example')
  const foreign = await invite(other, 'eve@other.example')
  await write(server.services, notice({ to: 'of-no-store@shop.example' }))
  const merchant = await merchantIn(server, shop.store)
  const { body: list } = await merchant.open('/admin/outbox')
  expect(list).toContain('This sandbox sends no mail.')
  expect(list).toContain(`<a href="/admin/outbox/${own}"><bdi>You are invited to ${shop.store.name}</bdi></a>`)
  expect(list).toContain('bea@shop.example')
  expect(list).not.toMatch(/eve@other|of-no-store|secret-of-the-link/)
  // The navigation.
  expect((await merchant.open('/admin')).body).toContain('<a href="/admin/outbox">Outbox</a>')

  const { body, statusCode } = await merchant.open(`/admin/outbox/${own}`)
  expect(statusCode).toBe(200)
  expect(body).toContain('Your role there: a &lt;packer&gt;.')
  const whole = `http://localhost:3000${link.replace('&', '&amp;')}`
  expect(body).toContain(`<a href="${whole}">${whole}</a>`)
  for (const id of [foreign, 400_000, 0, 'x']) {
    expect((await merchant.open(`/admin/outbox/${id}`)).statusCode).toBe(404)
  }
})

test('shows what became of mails that are sent, but never what they say', async () => {
  const process = await otherServer(sending)
  const [waiting, bounced] = [
    await invite(shop, 'bea@shop.example', process),
    await invite(shop, 'cia@shop.example', process),
  ]
  const shown = await invite(shop, 'before@shop.example')
  const data = { state: 'bounced', reason: 'The mail server answered: 550 no <such> mailbox' }
  await server.services.db.mail.update({ where: { id: bounced }, data })
  const merchant = await merchantIn(process, shop.store)
  const { body: list } = await merchant.open('/admin/outbox')
  expect(list).toContain('550 no &lt;such&gt; mailbox')
  for (const id of [waiting, bounced, shown]) {
    const { body } = await merchant.open(`/admin/outbox/${id}`)
    expect(body).toContain('is shown to its recipient alone')
    expect(body).not.toContain('secret-of-the-link')
  }
  await process.close()
})

test('says outside of both that no mail can be sent, and shows nothing that a sandbox left', async () => {
  const id = await invite(shop, 'bea@shop.example')
  const process = await otherServer({ SANDBOX: 'false' })
  const merchant = await merchantIn(process, shop.store)
  expect((await merchant.open('/admin/outbox')).body).toContain('This server cannot send mail')
  expect((await merchant.open('/admin')).body).not.toContain('/admin/outbox')
  expect((await merchant.open(`/admin/outbox/${id}`)).body).not.toContain('secret-of-the-link')
  await process.close()
})

test('lists 50 a page, the newest first', async () => {
  // Its mail of the new browser is the oldest.
  const merchant = await merchantIn(server, shop.store)
  for (let index = 0; index < 51; index++) await invite(shop, `number-${index}@shop.example`)
  const recipients = (body: string) => [...body.matchAll(/number-(\d+)@/g)].map(([, number]) => Number(number))
  const { body } = await merchant.open('/admin/outbox')
  expect(recipients(body)).toEqual(Array.from({ length: 50 }, (_, index) => 50 - index))
  const [, older = ''] = /<a href="([^"]+)" rel="next">/.exec(body) ?? []
  expect(recipients((await merchant.open(older)).body)).toEqual([0])
})
