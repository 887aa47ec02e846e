import { beforeEach, expect, test } from 'vitest'
import { fieldsAt } from '../../../../support/person.ts'
import { sharedServer } from '../../../../support/store.ts'
import { openShop, type Shop } from './product-fixture.ts'

let open: Shop
let id: number
let page: string

const server = await sharedServer()
beforeEach(async () => {
  open = await openShop(server)
  id = await open.add('/Products', {
    SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 42.5 },
    PriceLevel2: 40,
    DiscountList: [{ DiscountLowbound: 10, DiscountPrice: 38 }],
  })
  page = `/admin/products/${id}/prices`
})

test('prices, levels and quantity discounts are changed in one form, and nothing else', async () => {
  const before = await open.read('Products', id)
  await open.merchant.submit(page, {
    ...(await open.merchant.formOf(page)),
    'SKUInfo.SalePrice': '39',
    'SKUInfo.OnSale': 'true',
    PriceLevel3: '35.25',
    PriceLevel3Hide: 'true',
    'DiscountList.0.DiscountPrice': '37',
    'DiscountList.1.DiscountLowbound': '100',
    'DiscountList.1.DiscountPrice': '30',
  })
  const { LastUpdate, UserID, ...after } = await open.read('Products', id)
  expect(after).toEqual({
    ...before,
    SKUInfo: { ...before.SKUInfo, SalePrice: 39, OnSale: true },
    PriceLevel3: 35.25,
    PriceLevel3Hide: true,
    DiscountList: [
      { ...before.DiscountList[0], DiscountPrice: 37 },
      expect.objectContaining({ DiscountLowbound: 100, DiscountPrice: 30 }),
    ],
    LastUpdate: undefined,
    UserID: undefined,
  })
})

test('a change of levels alone, or of discounts alone, is stored', async () => {
  const form = await open.merchant.formOf(page)
  await open.merchant.submit(page, { ...form, PriceLevel10: '1' })
  expect(await open.read('Products', id)).toMatchObject({ PriceLevel10: 1, DiscountList: [{ DiscountPrice: 38 }] })
  const next = await open.merchant.formOf(page)
  await open.merchant.submit(page, { ...next, 'DiscountList.0.gone': 'yes' })
  expect(await open.read('Products', id)).toMatchObject({ PriceLevel10: 1, DiscountList: [] })
})

test('a level names the groups that buy at it', async () => {
  const dealers = await open.add('/CustomerGroups', { Name: 'Dealers', PriceLevel: 2 })
  await open.add('/CustomerGroups', { Name: 'Guests' })
  const { body } = await open.merchant.open(page)
  expect(body).toMatch(
    new RegExp(`Level 2</th>\\s*<td[^>]*><a href="/admin/customergroups/${dealers}"><bdi>Dealers</bdi></a>`),
  )
  expect(body).not.toContain('Guests')
})

test('a wrong price is said beside its field, and one more discount keeps what was typed', async () => {
  const form = await open.merchant.formOf(page)
  const refused = await open.merchant.submit(page, { ...form, PriceLevel4: 'much', PriceLevel5: '7' })
  expect(refused.statusCode).toBe(400)
  expect(refused.body).toContain('<a href="#PriceLevel4">')
  expect(fieldsAt(refused.body, page)).toMatchObject({ PriceLevel4: 'much', PriceLevel5: '7' })
  const more = await open.merchant.submit(
    page,
    { ...form, PriceLevel5: '8', add: 'DiscountList' },
    { to: `${page}/rows` },
  )
  expect(fieldsAt(more.body, page)).toMatchObject({ PriceLevel5: '8', 'DiscountList.2.DiscountPrice': '' })
  expect(await open.read('Products', id)).toMatchObject({ PriceLevel5: 0 })
})

test('does not overwrite what somebody else has changed meanwhile, and shows that beside what was typed', async () => {
  const form = await open.merchant.formOf(page)
  await open.shop.call('PUT', `/Products/${id}`, { body: { PriceLevel2: 41, DiscountList: [] } })
  const refused = await open.merchant.submit(page, { ...form, PriceLevel2: '39' })
  expect(refused.statusCode).toBe(412)
  expect(refused.body).toContain('Stored now: 41')
  const again = fieldsAt(refused.body, page)
  expect(again).toMatchObject({ PriceLevel2: '39' })
  await open.merchant.submit(page, again)
  expect(await open.read('Products', id)).toMatchObject({ PriceLevel2: 39, DiscountList: [] })
})
