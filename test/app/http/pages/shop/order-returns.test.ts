import { beforeEach, describe, expect, test } from 'vitest'
import { sharedServer } from '../../../../support/store.ts'
import { alertIn, expectSaved, opened, shopWithOrder, typedIn } from './order-fixture.ts'

let scene: Awaited<ReturnType<typeof shopWithOrder>>
/** The fields of the order's line begin with this. */
let line: string

const newReturn = '/admin/orders/1/returns/new'
const added = '/admin/orders/1?notice=return-added'

const server = await sharedServer()
beforeEach(async () => {
  scene = await shopWithOrder(server)
  line = `Item.${(await scene.order()).OrderItemList[0].ItemIndexID}`
})

const returns = async () => {
  const answer = await scene.shop.call('GET', '/RMA')
  return answer.statusCode === 404 ? [] : answer.json()
}

describe('a return of an order', () => {
  test('is added with what is put back in stock, which is said before', async () => {
    const form = await opened(scene.merchant, newReturn)
    const changes = {
      [`${line}.ReturnQuantity`]: '2',
      [`${line}.ReceivedQuantity`]: '2',
      [`${line}.RestockQuantity`]: '1',
      RMAReasonID: '3',
      RMAMethodID: '2',
      RMAStatusID: '4',
      Comments: 'Thank you',
      InternalComments: 'One is broken',
    }
    const shown = await form.send(changes, `${newReturn}/stock`)
    expect(shown.body).toMatch(/puts back 1 of <strong>LAMP[\s\S]*leaves 8 in stock/)
    expect([await returns(), await scene.ledger()]).toEqual([[], ['LAMP order -3']])

    expectSaved(await scene.merchant.submit(newReturn, typedIn(shown.body, newReturn)), added)
    expect(await returns()).toMatchObject([
      {
        RMAID: 1,
        OrderID: 1,
        RMAReasonID: 3,
        RMAMethodID: 2,
        RMAStatusID: 4,
        Comments: 'Thank you',
        InternalComments: 'One is broken',
        RMAItemList: [{ SKU: 'LAMP', ItemName: 'Lamp', ReturnQuantity: 2, ReceivedQuantity: 2, RestockQuantity: 1 }],
      },
    ])
    expect(await scene.ledger()).toEqual(['LAMP order -3', 'LAMP return 1'])
    const page = (await scene.merchant.open(newReturn)).body
    expect(page).toContain('2 in other returns')
    expect(page).toContain('<a href="/admin/orders/1/returns/1">Return 1</a>')
    expect(page).toContain('2 × Lamp <small class="quiet">LAMP</small>')
  })

  test.each([
    { changes: {}, field: '', says: 'Say how many pieces' },
    { changes: { ReturnQuantity: '4' }, field: 'ReturnQuantity', says: 'must be at most 3: this line has 3' },
    { changes: { ReturnQuantity: 'x' }, field: 'ReturnQuantity', says: 'must be' },
    { changes: { RestockQuantity: '1' }, field: 'ReturnQuantity', says: 'must be more than 0' },
    { changes: { ReturnQuantity: '1', RestockQuantity: '-1' }, field: 'RestockQuantity', says: 'must be' },
    { changes: { ReturnQuantity: '1', RestockQuantity: '9' }, field: 'RestockQuantity', says: 'must be at most 3' },
  ])('is refused with $changes, by working out as by adding', async ({ changes, field, says }) => {
    const form = await opened(scene.merchant, newReturn)
    const sent = Object.fromEntries(Object.entries(changes).map(([name, value]) => [`${line}.${name}`, value]))
    for (const to of [newReturn, `${newReturn}/stock`]) {
      const answer = await form.send(sent, to)
      expect(answer.statusCode).toBe(400)
      expect(alertIn(answer.body)).toContain(says)
      if (field !== '') expect(alertIn(answer.body)).toContain(`<a href="#${line}.${field}">LAMP: the `)
    }
    expect([await returns(), await scene.stock()]).toEqual([[], 7])
  })

  test('has at most what other returns leave, also when two merchants return at once', async () => {
    const forms = [await opened(scene.merchant, newReturn), await opened(scene.merchant, newReturn)]
    const answers = await Promise.all(forms.map((form) => form.send({ [`${line}.ReturnQuantity`]: '2' })))
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 412])
    const lost = answers.find(({ statusCode }) => statusCode === 412)?.body ?? ''
    const again = await scene.merchant.submit(newReturn, typedIn(lost, newReturn))
    expect(again.statusCode).toBe(400)
    expect(alertIn(again.body)).toContain('must be at most 1: this line has 3, of which 2 are in other returns')
    const fields = { ...typedIn(again.body, newReturn), [`${line}.ReturnQuantity`]: '1' }
    expectSaved(await scene.merchant.submit(newReturn, fields), added)
    expect((await scene.merchant.open(newReturn)).body).toContain('nothing left to return')
  })

  test('is added once by a form that is sent twice', async () => {
    const form = await opened(scene.merchant, newReturn)
    const sent = { [`${line}.ReturnQuantity`]: '1', [`${line}.RestockQuantity`]: '1' }
    const answers = await Promise.all([form.send(sent), form.send(sent)])
    for (const answer of [...answers, await form.send(sent)]) if (answer.statusCode !== 409) expectSaved(answer, added)
    expect(await returns()).toHaveLength(1)
    expect(await scene.ledger()).toEqual(['LAMP order -3', 'LAMP return 1'])
    const changed = await form.send({ ...sent, [`${line}.ReturnQuantity`]: '2' })
    expect([changed.statusCode, alertIn(changed.body)]).toEqual([
      409,
      expect.stringContaining('has added a return already'),
    ])
  })

  test('of a cancelled order moves no stock', async () => {
    await scene.shop.call('PUT', '/Orders/1', { body: { OrderStatusID: 5 } })
    const form = await opened(scene.merchant, newReturn)
    const sent = { [`${line}.ReturnQuantity`]: '1', [`${line}.RestockQuantity`]: '1' }
    expect((await form.send(sent, `${newReturn}/stock`)).body).toContain('an order in this status holds none')
    expectSaved(await form.send(sent), added)
    expect(await scene.stock()).toBe(10)
  })
})

describe('a return that has been added', () => {
  const stored = '/admin/orders/1/returns/1'
  const saved = '/admin/orders/1?notice=record-saved'

  beforeEach(async () => {
    const form = await opened(scene.merchant, newReturn)
    await form.send({ [`${line}.ReturnQuantity`]: '2', InternalComments: 'Stays' })
  })

  test('is received and restocked by the difference, which is said before', async () => {
    const form = await opened(scene.merchant, stored)
    const changes = { 'Item.0.ReceivedQuantity': '2', 'Item.0.RestockQuantity': '2', RMAStatusID: '5' }
    expect((await form.send(changes, `${stored}/stock`)).body).toMatch(/puts back 2 of <strong>LAMP[\s\S]*leaves 9/)
    expect(await scene.stock()).toBe(7)
    expectSaved(await form.send(changes), saved)
    expect(await returns()).toMatchObject([
      {
        RMAStatusID: 5,
        InternalComments: 'Stays',
        RMAItemList: [{ ReturnQuantity: 2, ReceivedQuantity: 2, RestockQuantity: 2 }],
      },
    ])
    const less = await (await opened(scene.merchant, stored)).send({ 'Item.0.RestockQuantity': '1' }, `${stored}/stock`)
    expect(less.body).toMatch(/takes 1 of <strong>LAMP/)
    expectSaved(await scene.merchant.submit(stored, typedIn(less.body, stored)), saved)
    expect(await scene.ledger()).toEqual(['LAMP order -3', 'LAMP return 2', 'LAMP return -1'])
  })

  test('leads to a refund from the page of its order, once goods of a paid order have been received', async () => {
    const hasLink = async () =>
      /<h2>Returns<\/h2>[\s\S]*?href="\/admin\/orders\/1\/refund\?return=1">Refund it</.test(
        (await scene.merchant.open('/admin/orders/1')).body,
      )
    await (await opened(scene.merchant, stored)).send({ 'Item.0.ReceivedQuantity': '2' })
    expect(await hasLink()).toBe(false)
    const pay = (TransactionType: string) =>
      scene.shop.add('/Orders/1/Transactions', { TransactionType, TransactionAmount: 20 })
    await pay('Sale')
    expect(await hasLink()).toBe(true)
    await scene.shop.add('/Orders/1/Transactions', { TransactionType: 'Refund', TransactionAmount: 5, RMAID: 1 })
    expect(await hasLink()).toBe(false)
  })

  test('is refused beside the field when more goes back than was sold', async () => {
    const answer = await (await opened(scene.merchant, stored)).send({ 'Item.0.RestockQuantity': '4' })
    expect(answer.statusCode).toBe(400)
    expect(alertIn(answer.body)).toContain(
      '<a href="#Item.0.RestockQuantity">LAMP: the restocked quantity</a> must be at most 3',
    )
    expect(typedIn(answer.body, stored)).toMatchObject({ 'Item.0.RestockQuantity': '4' })
  })

  test('is not restocked twice, by two merchants or by a form that is sent twice', async () => {
    const [first, second] = [await opened(scene.merchant, stored), await opened(scene.merchant, stored)]
    const restock = { 'Item.0.RestockQuantity': '2' }
    const answers = await Promise.all([first.send(restock), second.send(restock)])
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 412])
    const again = await first.send(restock)
    expect(again.statusCode).toBe(412)
    expect(alertIn(again.body)).toContain('This return is not as the form showed it')
    expect(await scene.ledger()).toEqual(['LAMP order -3', 'LAMP return 2'])
  })

  test('is led to by the page of its record', async () => {
    expect((await scene.merchant.open('/admin/rma/1')).body).toContain(`<a href="${stored}">Receive and restock`)
  })

  test('exists for its order alone', async () => {
    expect((await scene.merchant.open('/admin/orders/2/returns/1')).statusCode).toBe(404)
  })
})
