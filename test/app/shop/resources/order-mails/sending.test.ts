import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findMail } from '../../../../../src/access/mail/outbox.ts'
import { perDay } from '../../../../../src/shop/resources/order-mails/send.ts'
import { openMailReceiver } from '../../../../support/mail-receiver.ts'
import { servicesOn } from '../../../../support/services.ts'
import { shared } from '../../../../support/shared.ts'
import { sharedServer } from '../../../../support/store.ts'
import { notice, senderOf as peopleSenderOf, write } from '../../../access/mail/fixture.ts'
import { openTelling, senderOf } from './fixture.ts'

const HOUR_MS = 3_600_000
const receiver = await shared(openMailReceiver())
const server = await sharedServer({ SMTP_URL: receiver.url, MAIL_FROM: 'Server <mail@server.example>' })
const { db } = server.services

let shop: Awaited<ReturnType<typeof openTelling>>
let sender: ReturnType<typeof senderOf>
const noon = server.clock.ms
beforeEach(async () => {
  server.clock.ms = noon
  await db.mail.deleteMany()
  receiver.reset()
  shop = await openTelling(server, ['order-placed', 'parcel-sent', 'order-refunded'])
  sender = senderOf(server.services)
})
afterEach(() => sender.stop())

const settings = (data: object) => db.store.update({ where: { id: shop.store.id }, data })
const shipment = (more: object = {}) => ({
  ShipmentList: [{ ShipmentShippedDate: '03/10/2026', ShipmentMethodName: 'UPS Ground', ...more }],
})
const texts = () => receiver.mails.map(({ text }) => text)

describe('a mail of an order', () => {
  test('says what its order is when it is sent, in plain text, of the shop and with its address', async () => {
    await settings({
      name: 'Garden "Shop", Inc.',
      documentSeller: 'Garden Shop\n1 High Street, Leeds',
      mailReplyTo: 'help@shop.example',
    })
    const id = await shop.order({ ShipmentList: [{ ShipmentCost: 5 }] })
    await shop.change(id, { BillingFirstName: 'Zoë' })
    await sender.runDue()
    await sender.runDue()
    expect(receiver.mails).toHaveLength(1)
    const { headers, from, to, html } = receiver.last()
    expect([from, to, html]).toEqual(['mail@server.example', ['guest@shop.example'], ''])
    const [mail] = await shop.mails(id)
    expect(Object.fromEntries(headers)).toMatchObject({
      from: '"Garden \\"Shop\\", Inc." <mail@server.example>',
      'reply-to': 'help@shop.example',
      'auto-submitted': 'auto-generated',
      'message-id': mail?.messageId,
      'content-type': expect.stringContaining('text/plain'),
    })
    const subject = `Your order ${mail?.subject.split(' ')[2]} at Garden "Shop", Inc.`
    expect(mail).toMatchObject({ state: 'sent', subject, contentSealed: null, attempts: 1 })
    expect(texts()[0]).toMatch(
      /^Hello Zoë,\n\nthank you for your order AB-\d+:\n\n2 × Lamp\n\nTotal: \$45\.00\n\nHere you see .*\nhttp:\/\/localhost:3000\/order\/\S+\n\n-- \nGarden Shop\n1 High Street, Leeds$/,
    )
  })

  test('is in the language of the order, else of the documents of the store, and shows amounts in its currency', async () => {
    const yen = await openTelling(server, ['order-placed', 'order-refunded'], { currency: 'JPY' })
    const id = await yen.order()
    await db.order.updateMany({ where: { storeId: yen.store.id }, data: { locale: 'de-DE' } })
    await settings({ documentLocale: 'de-AT' })
    await shop.order()
    await sender.runDue()
    expect(texts().every((text) => text.startsWith('Guten Tag, Ada,'))).toBe(true)
    const refund = { TransactionType: 'Refund', TransactionAmount: 15 }
    await yen.add(`/Orders/${id}/Transactions`, refund)
    await sender.runDue()
    expect(texts().at(-1)).toMatch(/15\u00a0¥ erstattet(?![\s\S]*Lamp)/)
    const [{ OrderItemList }] = (await yen.call('GET', `/Orders/${id}`)).json()
    const RefundItemList = [{ ItemIndexID: OrderItemList[0].ItemIndexID, RefundQuantity: 1 }]
    await yen.add(`/Orders/${id}/Transactions`, { ...refund, RefundItemList })
    await sender.runDue()
    expect(texts().at(-1)).toMatch(/15\u00a0¥ erstattet[\s\S]*\n1 × Lamp\n/)
  })

  test('links to the carrier whose name begins that of the method, with the number percent-encoded', async () => {
    const carriers = [
      { name: 'UPS', trackingUrl: 'https://ups.example/?n={code}' },
      { name: 'UPS Ground', trackingUrl: 'https://ground.example/t/{code}/end' },
      { name: 'Post', trackingUrl: 'https://post.example/{code}' },
    ]
    await db.carrier.createMany({ data: carriers.map((carrier) => ({ ...carrier, storeId: shop.store.id })) })
    const [one, other] = [await shop.order(), await shop.order()]
    await shop.change(one, shipment({ ShipmentTrackingCode: '1Z/../?a=b#c https://evil.example' }))
    await shop.change(other, shipment({ ShipmentTrackingCode: '' }))
    await sender.runDue()
    const of = texts().filter((text) => text.includes('has left'))
    const [first = '', second = ''] = of.toSorted((text) => (text.includes('follow') ? -1 : 1))
    expect(first).toContain('\nhttps://ground.example/t/1Z%2F..%2F%3Fa%3Db%23c%20https%3A%2F%2Fevil.example/end\n')
    expect(first).toContain('1Z/../?a=b#c https: //evil. example\n')
    expect(second).not.toContain('follow')
  })

  test('makes no link, header or paragraph of what somebody else chose', async () => {
    await settings({ name: 'Shop\r\nBcc: all@evil.example' })
    await db.product.updateMany({ where: { storeId: shop.store.id }, data: { name: '{page} www.evil.example' } })
    const BillingFirstName = 'Win http://evil.example/x {total}'
    await shop.order({ BillingFirstName, BillingLastName: 'ann@evil.example', BillingCompany: '' })
    await sender.runDue()
    const { headers, text } = receiver.last()
    expect([headers.has('bcc'), headers.get('to')]).toEqual([false, 'guest@shop.example'])
    expect(headers.get('from')).toBe('"Shop Bcc: all@ evil. example" <mail@server.example>')
    expect(text).not.toMatch(/evil\.example|http:\/\/evil|\$40.*\$40/s)
    expect(text).toContain('{total}')
    expect(text).toContain('{page}')
  })

  test('is not sent where what it tells of is gone, and its order says so', async () => {
    const id = await shop.order()
    await shop.change(id, shipment())
    await db.orderShipment.updateMany({ where: { storeId: shop.store.id }, data: { shippedDate: '', statusId: 1 } })
    await sender.runDue()
    expect((await shop.mails(id)).map(({ state, reason }) => [state, reason])).toEqual([
      ['sent', ''],
      ['failed', 'What it tells of is there no more'],
    ])
  })

  test('is shown to owners alone in a sandbox that sends nothing, and of a test store to nobody but its developer', async () => {
    await shop.order()
    const other = await openTelling(server, ['order-placed'])
    await other.order()
    await db.testStore.create({ data: { storeId: other.store.id, state: 'ready', createdAt: new Date(noon) } })
    await sender.runDue()
    expect(receiver.mails).toHaveLength(1)
    expect((await other.mails()).map(({ state }) => state)).toEqual(['shown'])
    await shop.order()
    const sandbox = senderOf({ ...server.services, config: servicesOn(db).config })
    await sandbox.runDue()
    expect(receiver.mails).toHaveLength(1)
    const id = (await shop.mails()).at(-1)?.id ?? 0
    const services = { db, secrets: server.services.secrets, config: servicesOn(db).config }
    const read = (storeId: number) => findMail(services, { identityId: 0, storeId }, id)
    expect((await read(shop.store.id))?.text).toMatch(/^Hello Ada,/)
    expect(await read(other.store.id)).toBeNull()
  })

  test('that waits for a week is given up', async () => {
    await shop.order()
    await db.mail.updateMany({ data: { createdAt: new Date(noon - 8 * 24 * HOUR_MS) } })
    await sender.runDue()
    expect(await shop.mails()).toMatchObject([{ state: 'failed', reason: 'It has waited for a week' }])
  })
})

describe('bounds', () => {
  /** As if the store had sent so many today. */
  const sentToday = (count: number, recipient: string, sentAt = new Date(noon - HOUR_MS)) =>
    db.mail.createMany({
      data: Array.from({ length: count }, (_, index) => ({
        ...{
          storeId: shop.store.id,
          orderId: 1,
          kind: 'order-message',
          recipient,
          messageId: `<${recipient}${index}>`,
        },
        ...{ subject: 'x', state: 'sent', sentAt, nextAttemptAt: sentAt, createdAt: sentAt },
      })),
    })

  test.each([
    { bound: 'address', sent: 'GUEST@shop.example', ...perDay.address },
    { bound: 'store', sent: 'others@shop.example', ...perDay.store },
  ])(
    'of a day: beyond $max of the $bound, mails wait for the next day, and two processes send no more',
    async ({ sent, max, reason }) => {
      await shop.order()
      await sentToday(max - 1, sent)
      await Promise.all([shop.order(), shop.order()])
      const other = senderOf(server.services)
      await Promise.all([sender.runDue(), other.runDue()])
      expect(receiver.mails).toHaveLength(1)
      const waiting = await db.mail.findMany({ where: { state: 'waiting' } })
      const later = { reason, nextAttemptAt: new Date('2026-03-11T00:00:00Z'), process: null }
      expect(waiting).toMatchObject([later, later])
      server.clock.ms = Date.parse('2026-03-11T00:00:00Z')
      await sender.runDue()
      expect(receiver.mails).toHaveLength(3)
    },
  )

  test('of people are not those of orders: neither waits for the other, and neither counts', async () => {
    await shop.order()
    await sentToday(5_000, 'others@shop.example')
    await db.mail.updateMany({ where: { state: 'sent' }, data: { state: 'waiting', sentAt: null } })
    const people = peopleSenderOf(server.services)
    const mails = Array.from({ length: 3 }, () => notice({ storeId: shop.store.id, to: 'others@shop.example' }))
    expect(await Promise.all(mails.map((mail) => write(server.services, mail)))).toEqual([true, true, true])
    const startedAt = performance.now()
    await people.runDue()
    expect(receiver.mails.map(({ headers }) => headers.get('subject'))).toEqual(
      mails.map(() => 'Your e-mail address was changed'),
    )
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    await people.stop()
  })
})
