import { beforeEach, describe, expect, test } from 'vitest'
import { sweepsByAge } from '../../../../../src/parts/retention.ts'
import { openMailReceiver } from '../../../../support/mail-receiver.ts'
import { shared } from '../../../../support/shared.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { senderOf as peopleSenderOf } from '../../../access/mail/fixture.ts'
import { alertIn, expectSaved, opened } from '../../../http/pages/shop/order-fixture.ts'
import { openTelling, senderOf } from './fixture.ts'

// What people switch on, write and see.

const receiver = await shared(openMailReceiver())
const server = await sharedServer({
  SMTP_URL: receiver.url,
  MAIL_FROM: 'mail@server.example',
  MAIL_FROM_DOMAINS: 'Own.example',
})
const { db } = server.services
const sender = senderOf(server.services)
const people = peopleSenderOf(server.services)
const settings = '/admin/settings/mails'
let shop: Awaited<ReturnType<typeof openTelling>>
let merchant: Awaited<ReturnType<typeof merchantIn>>

beforeEach(async () => {
  await db.mail.deleteMany()
  receiver.reset()
  shop = await openTelling(server, [])
  merchant = await merchantIn(server, shop.store)
})

const switchOn = async (changes: Record<string, string>) => (await opened(merchant, settings)).send(changes)

describe('settings', () => {
  test('switch kinds on and change their texts, which the next mail has, and the preview before', async () => {
    const text = 'Danke, {name}!\n\nMehr: https://SHOP.example/faq?x={order}'
    await db.storeHost.create({ data: { host: 'shop.example', storeId: shop.store.id } })
    const changes = {
      'On.order-placed': 'yes',
      'Subject.order-placed.de': 'Danke für {order}',
      'Body.order-placed.de': text,
    }
    expectSaved(await switchOn(changes), `${settings}?notice=settings-saved`)
    const id = await shop.order()
    expect(await shop.told(id)).toEqual(['order-placed'])
    await db.order.updateMany({ where: { storeId: shop.store.id }, data: { locale: 'de-CH' } })
    await sender.runDue()
    const body = 'Danke, Ada!\n\nMehr: https://SHOP.example/faq?x=AB-1000'
    expect(receiver.mails[0]?.text).toContain(body)
    const preview = `${settings}/preview?kind=order-placed&language=de`
    expect((await merchant.open(preview)).body).toContain('Danke, Ada!')
    expect((await merchant.open(`${preview}&order=AB-9`)).body).toContain('No such order')
    expect((await merchant.open(`${settings}/preview?kind=order-refunded`)).body).toContain('No such order')
    const sent = await merchant.submit(preview, {}, { action: `${settings}/preview` })
    expect(sent.statusCode).toBe(303)
    await people.runDue()
    expect(receiver.mails[1]).toMatchObject({
      to: ['merchant@shop.example'],
      text: expect.stringContaining('Danke, Ada!'),
    })
    expect(await db.mail.count({ where: { orderId: null, kind: 'order-test' } })).toBe(1)
    const { details } = await db.auditEntry.findFirstOrThrow({
      where: { storeId: shop.store.id, action: 'store.changed' },
    })
    expect(details).toMatchObject({ orderMails: { to: ['order-placed'] }, mailTexts: ['order-placed de'] })
  })

  test.each([
    ['Body', 'Hello {nam}', 'has {nam}, which means nothing here'],
    ['Body', 'Track {tracking}', 'has {tracking}'],
    ['Body', '<%= process.env %> {order.constructor}', 'has {order.constructor}'],
    ['Body', 'See http://evil.example/x', 'has the address http://evil.example/x'],
    ['Body', 'See www.{shop}', 'has the address www.xx'],
    ['Body', 'See {name}.com', 'has the address xx.com'],
    ['Body', 'See https://localhost:3000@evil.example', 'has the address'],
    ['Body', 'See https://localhost\\@evil.example', 'has the address'],
    ['Body', 'See evil\uff0eexample', 'has the address'],
    ['Body', 'Ask ann@evil.example', 'has the address ann@evil.example'],
    ['Body', 'x'.repeat(5_001), 'must be a text of at most'],
    ['Subject', 'One\r\nBcc: all@evil.example', 'must be a text of 1 to 150 characters on one line'],
    ['Subject', '', 'must be a text of 1 to 150'],
  ])('refuse the %s %j', async (member, text, problem) => {
    const answer = await switchOn({ [`${member}.order-paid.en`]: text, 'On.order-paid': 'yes' })
    expect(answer.statusCode).toBe(400)
    expect(answer.body.replaceAll('&#39;', "'").replaceAll('&lt;', '<')).toContain(problem)
    const stored = await db.store.findUnique({ where: { id: shop.store.id }, include: { mailTexts: true } })
    expect(stored).toMatchObject({ orderMails: [], mailTexts: [] })
  })

  test('an address for answers counts once its link was opened in the store; of a listed domain it is the sender', async () => {
    expectSaved(
      await (await opened(merchant, settings)).send({ ReplyTo: 'Help@own.example' }, `${settings}/reply-to`),
      `${settings}?notice=reply-to-mailed`,
    )
    await people.runDue()
    const [link = ''] = receiver.mails.flatMap(({ text }) => /\/admin\/settings\/mails\?\S+/.exec(text) ?? [])
    const { ReplyTo = '', proof = '' } = Object.fromEntries(new URL(link, 'http://x').searchParams)
    const confirm = (changes: Record<string, string>, by = merchant) =>
      by.submit(settings, { ReplyTo, proof, ...changes }, { to: `${settings}/reply-to` })
    const stored = async () => (await db.store.findUniqueOrThrow({ where: { id: shop.store.id } })).mailReplyTo
    const [, until = '', code = ''] = /^(\d+)(\..+)$/.exec(proof) ?? []
    for (const wrong of [
      { ReplyTo: 'other@own.example' },
      { proof: `${Number(until) + 1}${code}` },
      { proof: `${until}.x` },
    ]) {
      expect((await confirm(wrong)).statusCode).toBe(400)
    }
    const other = await openTelling(server, [])
    expect((await confirm({}, await merchantIn(server, other.store))).statusCode).toBe(400)
    merchant = await merchantIn(server, shop.store)
    expect(await stored()).toBe('')
    expect((await merchant.open(link)).body).toContain('Confirm the address')
    expectSaved(await confirm({}), `${settings}?notice=settings-saved`)
    expect(await stored()).toBe('Help@own.example')
    await switchOn({ 'On.order-placed': 'yes' })
    await shop.order()
    await sender.runDue()
    const { headers, from } = receiver.last()
    expect([headers.get('from'), headers.get('reply-to'), from]).toEqual([
      expect.stringMatching(/^Shop \d+ <Help@own.example>$/),
      ...['Help@own.example', 'mail@server.example'],
    ])
    await confirm({ ReplyTo: '', proof: '' })
    expect(await stored()).toBe('')
  })
})

describe('an order', () => {
  const page = async (id: number) => (await merchant.open(`/admin/orders/${id}`)).body

  test('tells by its forms unless the box is cleared, and of an old one only where it is ticked', async () => {
    await switchOn({ 'On.parcel-sent': 'yes', 'On.order-cancelled': 'yes', 'On.order-refunded': 'yes' })
    const OrderDate = '2026-01-10T12:00:00'
    const [told, silent, old] = [await shop.order(), await shop.order(), await shop.order({ OrderDate })]
    const ship = async (id: number, changes: Record<string, string> = {}) => {
      const form = await opened(merchant, `/admin/orders/${id}/shipments/0`)
      expect((await form.send(changes)).statusCode).toBe(303)
      return form.fields.tell
    }
    expect([await ship(told), await ship(silent, { tell: '' }), await ship(old)]).toEqual(['yes', 'yes', undefined])
    expect(await Promise.all([told, silent, old].map(shop.told))).toEqual([['parcel-sent'], [], []])
    expect((await merchant.formOf(`/admin/orders/${old}/refund`)).tellable).toBe('yes')
    const status = { OrderStatusID: '5', tell: 'yes' }
    await merchant.submit(`/admin/orders/${old}`, status, { action: `/admin/orders/${old}/status` })
    expect(await shop.told(old)).toEqual(['order-cancelled'])
  })

  test('shows what was refused and what was sent, sends it again to another address, and takes a message', async () => {
    await switchOn({ 'On.order-placed': 'yes' })
    const id = await shop.order()
    expect(await page(id)).toContain('waiting')
    receiver.refusal = { step: 'RCPT TO', code: 550, text: 'no such mailbox' }
    await sender.runDue()
    const [mail] = await shop.mails(id)
    expect(await page(id)).toMatch(/Your order AB-1000 at[\s\S]*refused[\s\S]*550 no such mailbox[\s\S]*Send again/)
    receiver.refusal = null
    await shop.change(id, { BillingEmail: 'ada@shop.example' })
    const again = () =>
      merchant.submit(
        `/admin/orders/${id}`,
        {},
        { action: `/admin/orders/${id}/status`, to: `/admin/orders/${id}/mails/${mail?.id}/again` },
      )
    expectSaved(await again(), `/admin/orders/${id}?notice=message-written`)
    expect((await again()).statusCode).toBe(409)
    await sender.runDue()
    const message = await opened(merchant, `/admin/orders/${id}/mails/new`)
    expect(alertIn((await message.send({ Subject: 'Hi', Body: 'See evil.example' })).body)).toContain('has the address')
    expectSaved(
      await message.send({ Subject: 'Your {order}', Body: 'Dear {name},\nit rains.' }),
      `/admin/orders/${id}?notice=message-written`,
    )
    await sender.runDue()
    expect(receiver.mails.map(({ to }) => to)).toEqual([['ada@shop.example'], ['ada@shop.example']])
    expect(receiver.mails[1]?.text).toContain('Dear Ada,\nit rains.')
    expect((await shop.mails(id)).map(({ kind, state, contentSealed }) => [kind, state, contentSealed])).toEqual([
      ['order-message', 'bounced', null],
      ['order-placed', 'sent', null],
      ['order-message', 'sent', null],
    ])
    const later = () => new Date(server.clock.ms + 40 * 86_400_000)
    await sweepsByAge({ db, now: later }, server.services.config)['old mails'](() => false)
    expect(await page(id)).toMatch(/Your AB-1000[\s\S]*sent/)
  })
})
