import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { textOf } from '../../../../support/person.ts'
import { sharedServer } from '../../../../support/store.ts'
import { expectSaved, opened, shopWithOrder } from './order-fixture.ts'

// What pages and files of an order say of what is stored of it.

let scene: Awaited<ReturnType<typeof shopWithOrder>>

/** As a program wrote it: options that add and take off, one with a dollar sign in its name, and marks that the platform does not write. */
const description =
  'Caf&eacute; <M> Throw<BR/><b>Size:</b>&nbsp;Queen - $20.00<br />\n<p><B>Card:</B> &lt;gift&gt; &#36;5 - A 4.00</p>' +
  '<b>Pins:</b>&nbsp;Cool - -$2.00<br>Sweet $0.125'

const server = await sharedServer()
beforeEach(async () => {
  scene = await shopWithOrder(server)
})

beforeEach(async () => {
  const [{ ItemIndexID }] = (await scene.order()).OrderItemList
  await change({ OrderItemList: [{ ItemIndexID, ItemQuantity: 2, ItemDescription: description, ItemOptionPrice: 20 }] })
})

async function change(body: object) {
  expect((await scene.shop.call('PUT', '/Orders/1', { body })).statusCode).toBe(200)
}

const pay = async (body: object) => (await scene.shop.add('/Orders/1/Transactions', body)) as number

/** Ships one piece of the only line. */
async function shipOne() {
  const form = await opened(scene.merchant, '/admin/orders/1/shipments/0')
  const [quantity = ''] = Object.keys(form.fields).filter((name) => name.startsWith('Quantity.'))
  const sent = await form.send({ [quantity]: '1', ShipmentShippedDate: '2026-03-09', ShipmentTrackingCode: 'T-1' })
  expectSaved(sent, '/admin/orders/1?notice=goods-shipped')
}

async function returnOne() {
  const form = await opened(scene.merchant, '/admin/orders/1/returns/new')
  const [quantity = ''] = Object.keys(form.fields).filter((name) => name.endsWith('.ReturnQuantity'))
  expectSaved(await form.send({ [quantity]: '1' }), '/admin/orders/1?notice=return-added')
}

async function timeline(language = 'en-US'): Promise<string> {
  const { body } = await scene.merchant.open('/admin/orders/1', { 'accept-language': language })
  return textOf(body.split('id="timeline"')[1] ?? '')
}

test('the options of a line read as options on every page of an order and its returns, whoever wrote them, and add what they add', async () => {
  const transactionId = await pay({ TransactionType: 'Sale', TransactionAmount: 100 })
  await shipOne()
  await returnOne()
  const [{ ShipmentID: shipmentId }] = (await scene.order()).ShipmentList
  const refundId = await pay({ TransactionType: 'Refund', TransactionAmount: 1 })
  const ids: Record<string, unknown> = { id: 1, rmaId: 1, transactionId, shipmentId }
  const roles = readFileSync('test/app/http/pages/roles.txt', 'utf8')
  // Others show what is stored, so that it can be changed.
  const shown = /^GET (\/admin\/orders\/:id(?!\S*\/(?:fields|edit|history|events))\S*):/gm
  const named = []
  for (const [, route = ''] of roles.matchAll(shown)) {
    if (route.includes('credit-notes')) ids.transactionId = refundId
    const { statusCode, body } = await scene.merchant.open(route.replaceAll(/:(\w+)/g, (_, name) => `${ids[name]}`))
    const text = textOf(body.split('id="timeline"')[0] ?? '')
    const isRaw = /&lt;b|&amp;nbsp;|&amp;#36;| - -?\$/i.test(text)
    expect({ route, statusCode, isRaw }).toEqual({ route, statusCode: 200, isRaw: false })
    const options = route.endsWith('/packing-slip')
      ? 'Queen Card: &lt;gift&gt; $5 - A 4.00 Pins: Cool Sweet '
      : 'Queen (+$20.00) Card: &lt;gift&gt; $5 - A 4.00 Pins: Cool (-$2.00) Sweet (+$0.125)'
    if (text.includes('Size')) named.push(text.includes('Café &lt;M&gt; Throw') && text.includes(options))
  }
  expect(named.length).toBeGreaterThan(6)
  expect(new Set(named)).toEqual(new Set([true]))
  const file = (await scene.merchant.open('/admin/orders/lines.csv', { 'accept-language': 'de-DE' })).body
  expect(file.replaceAll('\u00a0', ' ')).toContain(
    'Café <M> Throw, Size: Queen (+20,00 $), Card: <gift> $5 - A 4.00, Pins: Cool (-2,00 $), Sweet (+0,125 $)',
  )
  expect(file.split('\n')[2]).toMatch(/;2026-03-10;.*;2026-03-09;T-1/)
  expect((await scene.order()).OrderItemList[0].ItemDescription).toBe(description)
})
test('a return says of each line what was sold of it and what came back, as the sums of the order do', async () => {
  await shipOne()
  const shown = async () => {
    const { body } = await scene.merchant.open('/admin/orders/1/returns/new')
    return [...body.matchAll(/data-label="Sold" class="right">(\d+)(?:<br><small class="quiet">(\d+) in)?/g)]
      .map(([, sold, returned = 0]) => `${returned} of ${sold}`)
      .join()
  }
  const summed = async () => {
    const [{ ItemSumList }] = (await scene.shop.call('GET', '/Orders/1/Sums')).json()
    return ItemSumList.map((each: Record<string, number>) => `${each.ReturnedQuantity} of ${each.ItemQuantity}`).join()
  }
  expect([await shown(), await summed()]).toEqual(['0 of 1,0 of 1', '0 of 1,0 of 1'])
  await returnOne()
  expect([await shown(), await summed()]).toEqual(['1 of 1,0 of 1', '1 of 1,0 of 1'])
  await returnOne()
  expect(await summed()).toBe('1 of 1,1 of 1')
  expect((await scene.merchant.open('/admin/orders/1/returns/new')).body).toContain('nothing left to return')
  const [first] = (await scene.shop.call('GET', '/RMA')).json()
  const [item] = first.RMAItemList
  await scene.shop.call('PUT', `/RMA/${first.RMAID}`, { body: { RMAItemList: [{ ...item, RestockQuantity: 1 }] } })
  const goods = (await scene.merchant.open('/admin/orders/1/lines')).body
  expect(goods.match(/Returns put \d+ back/g)).toEqual(['Returns put 1 back'])
})

describe('the timeline', () => {
  test('tells what was done, by pages as by programs, in the words, dates and money of its reader', async () => {
    const id = await pay({ TransactionType: 'Sale', TransactionAmount: 100, TransactionMethod: 'bank transfer' })
    await pay({ TransactionType: 'Refund', TransactionAmount: -20 })
    await shipOne()
    await returnOne()
    const form = await opened(scene.merchant, `/admin/orders/1/payments/${id}/void`)
    await form.send({ Reason: 'Entered twice' })
    expect(await timeline()).toMatch(
      /Payment of \$100\.00 made void Payment \$100\.00: Note: nothing → Entered twice .* Return 1 : Added .* Status: Unpaid → Partial Parcel 1 sent: 1 × Café &lt;M&gt; Throw, tracking number T-1 Earlier: 4 .* Refund of \$20\.00 recorded .* Payment of \$100\.00 by bank transfer recorded .* Item Café &lt;M&gt; Throw: Quantity: 3 → 2 .* Order placed/,
    )
    const german = await timeline('de-DE')
    expect(german).toContain('Zahlung von 100,00 $ per bank transfer erfasst')
    expect(german).toContain('Paket 1 verschickt: 1 × Café &lt;M&gt; Throw, Sendungsnummer T-1')
    expect(`${await timeline()} ${german}`).not.toMatch(/\d+\/\d+\/\d{4}|Parcel 0|undefined|LAMP/)
  })

  test('tells what things were then: what was corrected later is told as a correction', async () => {
    const id = await pay({ TransactionType: 'Sale', TransactionAmount: 100 })
    const parcel = (ShipmentShippedDate: string, ShipmentTrackingCode: string) =>
      change({ ShipmentList: [{ ShipmentID: 0, ShipmentShippedDate, ShipmentTrackingCode }] })
    await parcel('03/09/2026', '')
    await parcel('03/09/2026', 'T-2')
    await change({ TransactionList: [{ TransactionIndexID: id, TransactionAmount: 90 }] })
    await parcel('', 'T-2')
    await parcel('2026-03-11', 'T-2')
    expect(await timeline()).toMatch(
      /Parcel 1 sent: 2 × [^,]*, tracking number T-2 .* Parcel 1: Shipped on: Mar 9, 2026 → nothing .* Amount: \$100\.00 → \$90\.00 .* Parcel 1: Tracking number: nothing → T-2 .* Parcel 1 sent: 2 × Café &lt;M&gt; Throw Mar .* Payment of \$100\.00 recorded/,
    )
  })
})
