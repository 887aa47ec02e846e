import { beforeEach, expect, test } from 'vitest'
import { sharedServer } from '../../../../support/store.ts'
import { addShirt, openShop, type Shop } from './product-fixture.ts'

let open: Shop
let id: number
let codes: string[]
let page: string

const server = await sharedServer()
beforeEach(async () => {
  open = await openShop(server)
  ;({ id, codes } = await addShirt(open))
  page = `/admin/products/${id}/options`
})

const options = async () => (await open.read('Products', id)).AdvancedOptionList
const row = (place: number, name: string) => `AdvancedOptionList.${place}.${name}`

test('the grid has every combination, and a tick adds those that did not exist', async () => {
  const form = await open.merchant.formOf(page)
  const added = [1, 2, 3].map((place) => form[row(place, 'AdvancedOptionCode')])
  expect(added).toEqual(codes.slice(1))
  const answer = await open.merchant.submit(page, {
    ...form,
    [row(0, 'AdvancedOptionPrice')]: '1.5',
    [row(2, 'add')]: 'yes',
    [row(2, 'AdvancedOptionStock')]: '12',
    [row(3, 'AdvancedOptionStock')]: '99',
  })
  expect([answer.statusCode, answer.headers.location]).toEqual([303, `/admin/products/${id}?notice=record-saved`])
  expect(await options()).toMatchObject([
    {
      AdvancedOptionCode: codes[0],
      AdvancedOptionName: 'Small red',
      AdvancedOptionPrice: 1.5,
      AdvancedOptionStock: 7,
    },
    {
      AdvancedOptionCode: codes[2],
      AdvancedOptionName: 'Large, Red',
      AdvancedOptionSufix: '-L-R',
      AdvancedOptionStock: 12,
    },
  ])
})

test('a combination is removed, and a form that is sent as it was shown changes nothing', async () => {
  const before = await open.read('Products', id)
  server.clock.ms += 1_000
  await open.merchant.submit(page, await open.merchant.formOf(page))
  expect(await open.read('Products', id)).toEqual(before)
  await open.merchant.submit(page, { ...(await open.merchant.formOf(page)), [row(0, 'gone')]: 'yes' })
  expect(await options()).toEqual([])
})

test('a wrong number is said beside its cell, and nothing is stored', async () => {
  const typed = {
    ...(await open.merchant.formOf(page)),
    [row(1, 'add')]: 'yes',
    [row(3, 'add')]: 'yes',
    [row(3, 'AdvancedOptionStock')]: 'many',
  }
  const { statusCode, body } = await open.merchant.submit(page, typed)
  expect(statusCode).toBe(400)
  expect(body).toContain(`<a href="#${row(3, 'AdvancedOptionStock')}">Large, Blue: Stock</a>`)
  expect(body).toContain('value="many"')
  expect(await options()).toHaveLength(1)
})

test('does not overwrite what somebody else has changed meanwhile', async () => {
  const form = await open.merchant.formOf(page)
  await open.shop.call('PUT', `/Products/${id}`, {
    body: { AdvancedOptionList: [{ AdvancedOptionCode: codes[3], AdvancedOptionStock: 1 }] },
  })
  const refused = await open.merchant.submit(page, { ...form, [row(1, 'add')]: 'yes' })
  expect(refused.statusCode).toBe(412)
  expect(refused.body).toContain('Large, Blue')
  expect(await options()).toMatchObject([{ AdvancedOptionCode: codes[3] }])
})

test('one button adds every combination that does not exist, with what its line says, and tells before which', async () => {
  const other = await openShop(server)
  const shirt = await addShirt(other)
  const address = `/admin/products/${shirt.id}/options`
  const { body } = await other.merchant.open(address)
  expect(body).toContain('3 combinations do not exist yet: Small, Blue; Large, Red; Large, Blue.')
  expect(body).toMatch(/<button type="submit"[^>]* name="all" value="yes"[^>]*>Add all 3 combinations</)
  const form = { ...(await other.merchant.formOf(address)), [row(2, 'AdvancedOptionStock')]: '12', all: 'yes' }
  await other.merchant.submit(address, form)
  const { AdvancedOptionList } = await other.read('Products', shirt.id)
  expect(AdvancedOptionList).toMatchObject([
    { AdvancedOptionCode: shirt.codes[0], AdvancedOptionName: 'Small red', AdvancedOptionStock: 7 },
    { AdvancedOptionCode: shirt.codes[1], AdvancedOptionName: 'Small, Blue', AdvancedOptionSufix: '-S-B' },
    { AdvancedOptionCode: shirt.codes[2], AdvancedOptionName: 'Large, Red', AdvancedOptionStock: 12 },
    { AdvancedOptionCode: shirt.codes[3], AdvancedOptionName: 'Large, Blue', AdvancedOptionStock: 0 },
  ])
  expect((await other.merchant.submit(address, form)).statusCode).toBe(412)
  expect((await other.merchant.open(address)).body).not.toContain('name="all"')
})

test('the types of option sets are offered with what they mean, and one that is stored stays, whatever it is', async () => {
  const OptionSetList = ['radio', 'Swatch', ''].map((OptionType, at) => ({ OptionSetName: `Set ${at}`, OptionType }))
  const id = await open.add('/Products', { SKUInfo: { SKU: 'TYPES', Name: 'Types' }, OptionSetList })
  const address = `/admin/products/${id}/edit?section=option-sets`
  const { body } = await open.merchant.open(address)
  expect(body).toContain('<option value="radio" selected>Radio: one option of a list that is open</option>')
  expect(body).toContain('<option value="Swatch" selected>Swatch</option>')
  const before = await open.read('Products', id)
  await open.merchant.submit(address, await open.merchant.formOf(address))
  expect(await open.read('Products', id)).toEqual(before)
  await open.merchant.submit(address, {
    ...(await open.merchant.formOf(address)),
    'OptionSetList.2.OptionType': 'Dropdown',
  })
  const types = (await open.read('Products', id)).OptionSetList.map((set: { OptionType: string }) => set.OptionType)
  expect(types).toEqual(['radio', 'Swatch', 'Dropdown'])
})

test('options of a category can be combined as well', async () => {
  const OptionList = [{ OptionName: 'Gold' }]
  const category = await open.add('/Category', {
    CategoryName: 'Rings',
    OptionSetList: [{ OptionSetName: 'Metal', OptionType: 'Radio', OptionList }],
  })
  const ring = await open.add('/Products', {
    SKUInfo: { SKU: 'RING', Name: 'Ring' },
    CategoryList: [{ CategoryID: category }],
  })
  const address = `/admin/products/${ring}/options`
  const { body } = await open.merchant.open(address)
  expect(body).toContain('of a category')
  await open.merchant.submit(address, { ...(await open.merchant.formOf(address)), [row(0, 'add')]: 'yes' })
  expect((await open.read('Products', ring)).AdvancedOptionList).toMatchObject([{ AdvancedOptionName: 'Gold' }])
})

test('a product with more options than fit into a form says so, and sets of a thousand options do not hold the page up', async () => {
  const AdvancedOptionList = Array.from({ length: 300 }, (_, at) => ({ AdvancedOptionCode: String(at + 1) }))
  const many = await open.add('/Products', { SKUInfo: { SKU: 'MANY', Name: 'Many' }, AdvancedOptionList })
  expect((await open.merchant.open(`/admin/products/${many}/options`)).body).toContain('that fit into one form')

  const OptionList = Array.from({ length: 1_000 }, (_, at) => ({ OptionName: `Option ${at}` }))
  const wide = await open.add('/Products', {
    SKUInfo: { SKU: 'WIDE', Name: 'Wide' },
    OptionSetList: ['A', 'B', 'C'].map((OptionSetName) => ({ OptionSetName, OptionType: 'Dropdown', OptionList })),
  })
  const address = `/admin/products/${wide}/options`
  expect((await open.merchant.open(address)).body).toContain('More combinations are possible')
  const form = await open.merchant.formOf(address)
  expect(Object.keys(form).length).toBeLessThan(2_000)
  await open.merchant.submit(address, { ...form, [row(0, 'add')]: 'yes' })
  expect((await open.read('Products', wide)).AdvancedOptionList).toHaveLength(1)
})
