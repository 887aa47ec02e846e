import { beforeEach, describe, expect, test } from 'vitest'
import type { TestPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { alertIn, expectSaved, opened, shopWithOrder } from './order-fixture.ts'

// What the numbers of returns mean, in the settings and wherever a return is shown or edited.

let scene: Awaited<ReturnType<typeof shopWithOrder>>
let merchant: TestPerson

const page = '/admin/settings/returns'
const saved = (list: string) => `${page}?notice=settings-saved#${list}`

const server = await sharedServer()
beforeEach(async () => {
  scene = await shopWithOrder(server)
  merchant = scene.merchant
})

/** The form of a list, as somebody has it open. */
async function openList(list: string, person = merchant) {
  const fields = await person.formOf(page, `${page}/${list}`)
  return (changes: Record<string, string>) =>
    person.submit(page, { ...fields, ...changes }, { to: `${page}/${list}`, action: `${page}/${list}` })
}

const names = async (list: string, person = merchant) => {
  const fields = await person.formOf(page, `${page}/${list}`)
  const rows = Object.entries(fields).flatMap(([name, value]) => {
    const [, key] = new RegExp(`^Name\\.${list}-(\\d+)$`).exec(name) ?? []
    return key === undefined ? [] : [[Number(key), value, fields[`Visible.${list}-${key}`] === 'yes'] as const]
  })
  return rows.map(([number, name, isVisible]) => `${number} ${name}${isVisible ? '' : ' (hidden)'}`)
}

/** The options of a select, the chosen one with a star. */
function optionsIn(html: string, id: string): string[] {
  const [, inner = ''] = new RegExp(`<select id="${id}"[^>]*>([\\s\\S]*?)</select>`).exec(html) ?? []
  return [...inner.matchAll(/<option value="([^"]*)"( selected)?>([^<]*)</g)].map(
    ([, value, selected, text]) => `${selected ? '*' : ''}${value} ${text}`,
  )
}

const returned = (more: object = {}) =>
  scene.shop.call('POST', '/RMA', {
    body: { OrderID: 1, RMAItemList: [{ SKU: 'LAMP', ReturnQuantity: 1 }], ...more },
  })
const readReturn = async () => (await scene.shop.call('GET', '/RMA/1')).json()[0]

describe('the lists of names for returns', () => {
  test('begin with those of a new store', async () => {
    expect(await names('reasons')).toEqual(['1 Damaged item', '2 Wrong item', '3 No longer wanted', '4 Other'])
    expect(await names('methods')).toEqual([
      '1 Money back',
      '2 Exchange for the same product',
      '3 Exchange for a different product',
    ])
    expect(await names('statuses')).toEqual(['1 New', '2 Approved', '3 Received', '4 Completed', '5 Denied'])
  })

  test('are changed, hidden and added to, in this store alone and with an entry in the audit log', async () => {
    const other = await server.openStore()
    const stranger = await merchantIn(server, other.store)
    const send = await openList('reasons')
    const changes = {
      'Name.reasons-1': 'Broken on arrival',
      'Name.reasons-new1': 'Too late',
      'ReturnReasonID.reasons-new1': '70',
      'Name.reasons-new2': 'Too big',
    }
    expectSaved(await send(changes), saved('reasons'))
    const hide = await merchant.formOf(page, `${page}/reasons`)
    delete hide['Visible.reasons-2']
    const to = { to: `${page}/reasons`, action: `${page}/reasons` }
    expectSaved(await merchant.submit(page, hide, to), saved('reasons'))
    const now = [
      '1 Broken on arrival',
      '2 Wrong item (hidden)',
      '3 No longer wanted',
      '4 Other',
      '5 Too big',
      '70 Too late',
    ]
    expect(await names('reasons')).toEqual(now)
    expect(await names('statuses')).toHaveLength(5)
    expect(await names('reasons', stranger)).toContain('1 Damaged item')
    const [hidden, changed] = (await merchant.call('GET', '/admin/audit?limit=2')).json()
    expect(hidden).toMatchObject({ Action: 'return-lists.changed', Details: { returnReasons: [2] } })
    expect(changed.Details).toEqual({ returnReasons: [1, 70, 5] })
    expect((await merchant.open('/admin/audit')).body).toContain(
      'reasons for returns: Broken on arrival, Too late, Too big',
    )
  })

  test.each([
    ['a name that is too long', { 'Name.reasons-2': 'x'.repeat(51) }, 400, 'Name.reasons-2'],
    ['no name', { 'Name.reasons-2': '' }, 400, 'Name.reasons-2'],
    ['the name of another, whatever its case', { 'Name.reasons-3': 'wrong ITEM' }, 409, 'Name.reasons-3'],
    [
      'a number of the list',
      { 'Name.reasons-new1': 'Late', 'ReturnReasonID.reasons-new1': '2' },
      409,
      'ReturnReasonID.reasons-new1',
    ],
    [
      'a number of 0',
      { 'Name.reasons-new1': 'Late', 'ReturnReasonID.reasons-new1': '0' },
      400,
      'ReturnReasonID.reasons-new1',
    ],
    [
      'a number that is none',
      { 'Name.reasons-new1': 'Late', 'ReturnReasonID.reasons-new1': 'x' },
      400,
      'ReturnReasonID.reasons-new1',
    ],
  ])('refuse %s, and keep what they are', async (_what, changes, status, field) => {
    const before = await names('reasons')
    const answer = await (await openList('reasons'))(changes)
    expect(answer.statusCode).toBe(status)
    expect(alertIn(answer.body)).toContain(`href="#${field}"`)
    for (const value of Object.values(changes)) if (value !== '') expect(answer.body).toContain(`value="${value}"`)
    expect(await names('reasons')).toEqual(before)
  })

  test('have at most a hundred names', async () => {
    const data = Array.from({ length: 95 }, (_, at) => ({ id: 10 + at, name: `Reason ${at}`, visible: true }))
    const storeId = scene.shop.store.id
    await server.database.db.returnReason.createMany({ data: data.map((row) => ({ storeId, ...row })) })
    const fields = await merchant.formOf(page, `${page}/reasons`)
    expect(Object.keys(fields).filter((name) => name.startsWith('Name.reasons-new'))).toEqual(['Name.reasons-new1'])
    const more = { 'Name.reasons-new1': 'A', 'Name.reasons-new2': 'B', 'Visible.reasons-new2': 'yes' }
    expect((await (await openList('reasons'))(more)).statusCode).toBe(400)
    expectSaved(await (await openList('reasons'))({ 'Name.reasons-new1': 'A' }), saved('reasons'))
    expect(await names('reasons')).toHaveLength(100)
  })

  test('of two people who rename at the same time, the second sees what the first did', async () => {
    const colleague = await merchantIn(server, scene.shop.store)
    const [first, second] = [await openList('statuses'), await openList('statuses', colleague)]
    expectSaved(await first({ 'Name.statuses-2': 'Agreed' }), saved('statuses'))
    const answer = await second({ 'Name.statuses-3': 'Arrived' })
    expect(answer.statusCode).toBe(412)
    expect(alertIn(answer.body)).toContain('Somebody else has changed it')
    expect(answer.body).toContain('value="Agreed"')
    expect(await names('statuses')).toContain('3 Received')
    // The form that shows it takes the change; one of another list is not concerned.
    expectSaved(await (await openList('statuses', colleague))({ 'Name.statuses-3': 'Arrived' }), saved('statuses'))
    expect((await names('statuses')).slice(1, 3)).toEqual(['2 Agreed', '3 Arrived'])
  })

  test('of two who save at once, one is refused', async () => {
    const colleague = await merchantIn(server, scene.shop.store)
    const sends = [await openList('methods'), await openList('methods', colleague)]
    const answers = await Promise.all(sends.map((send, at) => send({ 'Name.methods-1': `Money ${at}` })))
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([303, 412])
  })

  test('ask for the names of numbers that returns have', async () => {
    await returned({ RMAReasonID: 77 })
    const shown = (await merchant.open(page)).body
    expect(shown).toContain('Returns have this number, which has no name yet.')
    expectSaved(await (await openList('reasons'))({ 'Name.reasons-used77': 'Recalled' }), saved('reasons'))
    expect(await names('reasons')).toContain('77 Recalled')
    expect((await merchant.open('/admin/rma/1')).body).toContain('Recalled')
  })
})

describe('a return', () => {
  beforeEach(async () => {
    await (await openList('reasons'))({ 'Name.reasons-1': 'Broken on arrival' })
  })

  test('is added by names, without those that are hidden', async () => {
    const hide = await merchant.formOf(page, `${page}/reasons`)
    delete hide['Visible.reasons-2']
    await merchant.submit(page, hide, { to: `${page}/reasons`, action: `${page}/reasons` })
    const url = '/admin/orders/1/returns/new'
    const { body } = await merchant.open(url)
    expect(optionsIn(body, 'RMAReasonID')).toEqual([
      '*0 Not chosen',
      '1 Broken on arrival',
      '3 No longer wanted',
      '4 Other',
    ])
    expect(optionsIn(body, 'RMAStatusID')[1]).toBe('*1 New')
    const line = `Item.${(await scene.order()).OrderItemList[0].ItemIndexID}`
    const form = await opened(merchant, url)
    const sent = { [`${line}.ReturnQuantity`]: '1', RMAReasonID: '1', RMAMethodID: '3' }
    expectSaved(await form.send(sent), '/admin/orders/1?notice=return-added')
    expect(await readReturn()).toMatchObject({ RMAReasonID: 1, RMAMethodID: 3, RMAStatusID: 1 })
    expect((await merchant.open('/admin/orders/1')).body).toContain('data-label="Status">New</td>')
  })

  test('shows names on its pages and in lists, and is found by them', async () => {
    await returned({ RMAReasonID: 1, RMAMethodID: 2, RMAStatusID: 5 })
    await returned({ RMAReasonID: 3 })
    const received = (await merchant.open('/admin/orders/1/returns/1')).body
    for (const name of ['Broken on arrival', 'Exchange for the same product'])
      expect(received).toContain(`<dd>${name}</dd>`)
    expect(optionsIn(received, 'RMAStatusID')).toContain('*5 Denied')
    const record = (await merchant.open('/admin/rma/1')).body
    for (const name of ['Broken on arrival', 'Exchange for the same product', 'Denied']) expect(record).toContain(name)
    expect(record).toContain(`<a href="/admin/orders/1"><bdi>AB-1000</bdi></a>`)
    const list = (await merchant.open('/admin/rma?rmareasonid=1')).body
    expect(list).toContain('Broken on arrival</td>')
    expect(list).not.toContain('No longer wanted</td>')
    expect(optionsIn(list, 'rmareasonid')).toContain('*1 Broken on arrival')
    expect((await merchant.open('/admin/search?q=LAMP')).body).toContain('Denied')
    const edit = (await merchant.open('/admin/rma/1/edit')).body
    expect(optionsIn(edit, 'RMAReasonID')).toContain('*1 Broken on arrival')
  })

  test('with a number that no list names shows it as such, and keeps it', async () => {
    await returned({ RMAReasonID: 7, RMAStatusID: 44 })
    expect((await merchant.open('/admin/rma/1')).body).toContain('Reason 7')
    const url = '/admin/orders/1/returns/1'
    const { body } = await merchant.open(url)
    expect(body).toContain('<dd>Reason 7</dd>')
    expect(optionsIn(body, 'RMAStatusID')).toContain('*44 Status 44')
    const form = await opened(merchant, url)
    expectSaved(await form.send({ 'Item.0.ReceivedQuantity': '1' }), '/admin/orders/1?notice=record-saved')
    expect(await readReturn()).toMatchObject({ RMAReasonID: 7, RMAStatusID: 44 })
    const list = (await merchant.open('/admin/rma')).body
    expect(optionsIn(list, 'rmareasonid')).toContain('7 Reason 7')
    const edit = await opened(merchant, '/admin/rma/1/edit?section=order-reason-and-status')
    expect(edit.fields.RMAReasonID).toBe('7')
    expect((await edit.send({ Comments: 'Thanks' })).statusCode).toBe(303)
    expect(await readReturn()).toMatchObject({ RMAReasonID: 7, Comments: 'Thanks' })
  })

  test('has a history in names', async () => {
    await returned({ RMAReasonID: 3 })
    await scene.shop.call('PUT', '/RMA/1', { body: { RMAReasonID: 1, RMAMethodID: 9, RMAStatusID: 3 } })
    const history = (await merchant.open('/admin/rma/1/history')).body.replaceAll(/<[^>]*>/g, '')
    expect(history).toContain('No longer wanted → Broken on arrival')
    expect(history).toContain('nothing → Compensation 9')
    expect(history).toContain('New → Received')
  })

  test('is read and written in numbers by programs', async () => {
    await returned({ RMAReasonID: 1 })
    expect((await readReturn()).RMAReasonID).toBe(1)
    const file = await merchant.open('/admin/rma/export?format=csv')
    expect(file.body).toMatch(/RMAReasonID/)
    expect(file.body).not.toContain('Broken on arrival')
  })
})

describe('an order status of the store’s own', () => {
  const settings = '/admin/settings/order-statuses'
  const add = (text: string) =>
    merchant.submit(settings, { StatusText: text }, { to: `${settings}/new`, action: `${settings}/new` })

  test('is what an order may be moved to: on its page, with others, in its form and by filters', async () => {
    await add('Waiting for parts')
    const shown = (await merchant.open('/admin/orders/1')).body
    expect(optionsIn(shown, 'OrderStatusID')).toContain('13 Waiting for parts')
    const list = (await merchant.open('/admin/orders')).body
    expect(optionsIn(list, 'OrderStatusID')).toContain('13 Waiting for parts')
    expect(optionsIn(list, 'orderstatus')).toContain('13 Waiting for parts')
    // Hidden ones can be looked for, but nothing is moved to them.
    expect(optionsIn(list, 'orderstatus')).toContain('8 Custom 1')
    expect(optionsIn(list, 'OrderStatusID')).not.toContain('8 Custom 1')

    const moved = await merchant.submit(
      '/admin/orders/1',
      { OrderStatusID: '13' },
      { action: '/admin/orders/1/status' },
    )
    expectSaved(moved, '/admin/orders/1?notice=status-changed')
    expect((await scene.order()).OrderStatusID).toBe(13)
    expect((await merchant.open('/admin/orders?orderstatus=13')).body).toContain('Waiting for parts</td>')

    await add('Ready')
    const bulk = await merchant.submit(
      '/admin/orders',
      { ids: '1', OrderStatusID: '14' },
      { action: '/admin/orders/bulk/slips?', to: '/admin/orders/bulk/status' },
    )
    expect(bulk.statusCode).toBe(303)
    const preview = (await merchant.open(String(bulk.headers.location))).body
    expect(preview).toContain('<del>Waiting for parts</del> → <ins>Ready</ins>')

    const fields = (await merchant.open('/admin/orders/1/fields')).body
    expect(fields).toContain('Waiting for parts')
    expect(fields).toContain('Online Credit Card')
    const form = '/admin/orders/1/edit?section=number-customer-and-status'
    const edit = await merchant.formOf(form)
    expect(edit.OrderStatusID).toBe('13')
    expect((await merchant.submit(form, { ...edit, OrderStatusID: '14' })).statusCode).toBe(303)
    expect((await scene.order()).OrderStatusID).toBe(14)
    const history = (await merchant.open('/admin/orders/1/history')).body.replaceAll(/<[^>]*>/g, '')
    expect(history).toContain('Waiting for parts → Ready')
  })
})

test('the page and the forms of returns speak German', async () => {
  const german = { 'accept-language': 'de-DE' }
  const settings = (await merchant.open(page, german)).body
  for (const words of ['<h1>Bezeichnungen für Retouren</h1>', '>Gründe</h2>', '>Ausgleich</h2>']) {
    expect(settings).toContain(words)
  }
  await returned({ RMAReasonID: 7 })
  const received = (await merchant.open('/admin/orders/1/returns/1', german)).body
  expect(received).toContain('<dd>Grund 7</dd>')
  expect(received).toContain('Wie weit die Retoure ist')
})
