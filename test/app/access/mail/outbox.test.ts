import { beforeEach, expect, test } from 'vitest'
import { ofTest } from '../../../support/shared.ts'
import { merchantIn, operatorIn } from '../../../support/signed-in.ts'
import { sharedServer, type TestServer, type TestStore } from '../../../support/store.ts'
import { memberWith } from '../../shop/staff/fixture.ts'
import { notice, otherServer, sending, write } from './fixture.ts'

const link = '/account/sign-in?token=secret-of-the-link&x=1'

const server = await sharedServer()
const shop = await server.openStore()
const other = await server.openStore()
beforeEach(() => server.services.db.mail.deleteMany())

/** A mail to a customer of the store. */
async function letIn({ store }: TestStore, to: string, { services } = server): Promise<number> {
  const data = { storeName: `${store.name} & <Sons>`, link, expiresAt: new Date('2026-03-11T16:00:00Z') } as const
  await write(services, notice({ kind: 'customer-link', data, to, storeId: store.id }))
  return (await services.db.mail.findFirstOrThrow({ orderBy: { id: 'desc' } })).id
}

test('shows the owners of a store, in a sandbox, the mails to its customers alone, with their text and links', async () => {
  const own = await letIn(shop, 'bea@shop.example')
  const foreign = await letIn(other, 'eve@other.example')
  await write(server.services, notice({ to: 'of-a-person@shop.example', storeId: shop.store.id }))
  const merchant = await merchantIn(server, shop.store)
  const { body: list } = await merchant.open('/admin/outbox')
  expect(list).toContain('This sandbox sends no mail.')
  expect(list).toContain(
    `<a href="/admin/outbox/${own}"><bdi>Your orders at ${shop.store.name} &amp; &lt;Sons&gt;</bdi>`,
  )
  expect(list).toContain('bea@shop.example')
  expect(list).not.toMatch(/eve@other|of-a-person|secret-of-the-link/)
  // The navigation.
  expect((await merchant.open('/admin')).body).toContain('<a href="/admin/outbox">Outbox</a>')

  const { body, statusCode } = await merchant.open(`/admin/outbox/${own}`)
  expect(statusCode).toBe(200)
  expect(body).toContain(`${shop.store.name} &amp; &lt;Sons&gt; has sent you this link.`)
  const whole = `http://localhost:3000${link.replace('&', '&amp;')}`
  expect(body).toContain(`<p><a href="${whole}">${whole}</a></p>`)
  for (const id of [foreign, 400_000, 0, 'x']) {
    expect((await merchant.open(`/admin/outbox/${id}`)).statusCode).toBe(404)
  }
  const manager = await memberWith(server, shop, 'manager')
  expect((await manager.person.open('/admin/outbox')).body).not.toContain('bea@shop.example')
  expect((await manager.person.open(`/admin/outbox/${own}`)).statusCode).toBe(404)
})

test('shows what became of mails that are sent, but never what they say', async () => {
  const process = await ofTest(otherServer(server, sending))
  const [waiting, bounced] = [
    await letIn(shop, 'bea@shop.example', process),
    await letIn(shop, 'cia@shop.example', process),
  ]
  const shown = await letIn(shop, 'before@shop.example')
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
})

test('says outside of both that no mail can be sent, and shows nothing that a sandbox left', async () => {
  const id = await letIn(shop, 'bea@shop.example')
  const process = await ofTest(otherServer(server, { SANDBOX: 'false' }))
  const merchant = await merchantIn(process, shop.store)
  expect((await merchant.open('/admin/outbox')).body).toContain('This server cannot send mail')
  expect((await merchant.open('/admin')).body).not.toContain('/admin/outbox')
  expect((await merchant.open(`/admin/outbox/${id}`)).body).not.toContain('secret-of-the-link')
})

test('lists 50 a page, the newest first', async () => {
  const merchant = await merchantIn(server, shop.store)
  for (let index = 0; index < 51; index++) await letIn(shop, `number-${index}@shop.example`)
  const recipients = (body: string) => [...body.matchAll(/number-(\d+)@/g)].map(([, number]) => Number(number))
  const { body } = await merchant.open('/admin/outbox')
  expect(recipients(body)).toEqual(Array.from({ length: 50 }, (_, index) => 50 - index))
  const [, older = ''] = /<a href="([^"]+)" rel="next">/.exec(body) ?? []
  expect(recipients((await merchant.open(older)).body)).toEqual([0])
})

test('lets the operator of a sandbox alone read links that open accounts, by page and by program', async () => {
  const data = { link, accounts: [], expiresAt: new Date('2026-03-11T16:00:00Z') } as const
  const reset = (index: number) => notice({ kind: 'reset', data, to: `number-${index}@shop.example` })
  for (let index = 0; index < 101; index++) await write(server.services, reset(index))
  await write(server.services, { ...reset(200), isVoid: true })
  const program = async ({ operate }: TestServer, query = '') => (await operate('GET', `/admin/mails${query}`)).json()
  const [newest] = await program(server)
  expect(newest).toMatchObject({ Kind: 'reset', To: 'number-100@shop.example' })
  expect(newest.Text).toContain(`\nhttp://localhost:3000${link}\n`)
  expect(await program(server, '?offset=100&limit=5')).toMatchObject([{ To: 'number-0@shop.example' }])
  const operator = await operatorIn(server)
  const { body } = await operator.open('/operator/mails')
  expect(body).toContain('number-100@shop.example')
  expect(body).not.toMatch(/number-(0|200)@/)
  expect(body).toContain(`http://localhost:3000${link.replace('&', '&amp;')}</a>`)
  expect((await operator.open('/operator/mails?offset=100')).body).toContain('number-0@shop.example')
  for (const settings of [sending, { SANDBOX: 'false' }]) {
    const process = await otherServer(server, settings)
    expect(await program(process)).toEqual([])
    await process.close()
  }
})
