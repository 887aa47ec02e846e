import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'
import { productBody, type Result, refusalOf } from './fixture.ts'

// Several records in one request, and which record a body means (rest-resources §0.7, §0.8).

let server: TestServer
let shop: TestStore
beforeAll(async () => {
  server = await openServer()
  shop = await server.openStore()
  await shop.call('POST', '/Products', { body: ['A-1', 'B-2', 'C-3'].map((sku) => productBody(sku)) })
})
afterAll(() => server.close())

const stockOf = async (id: number) => (await shop.call('GET', `/Products/${id}/skuinfo`)).json()[0].Stock

describe('POST of a list', () => {
  test('creates each and answers 201 with one item each, in order', async () => {
    const answer = await shop.call('POST', '/Manufacturers', {
      body: Array.from({ length: 100 }, (_, index) => ({ ManufacturerName: `M ${index}` })),
    })
    expect(answer.statusCode).toBe(201)
    expect(answer.json<Result[]>().map(({ Value }) => Number(Value))).toEqual(
      Array.from({ length: 100 }, (_, i) => i + 1),
    )
  })

  test('answers 206 when some fail, and stores the others', async () => {
    const body = [productBody('D-4'), productBody('a-1'), { SKUInfo: { SKU: 'E-5' } }, productBody('F-6')]
    const answer = await shop.call('POST', '/Products', { body })
    expect(answer.statusCode).toBe(206)
    expect(answer.json<Result[]>().map(({ Key, Value, Status }) => [Key, Value, Status])).toEqual([
      ['CatalogID', expect.stringMatching(/^\d+$/), '201'],
      ['Error', 'SKUInfo.SKU', '400'],
      ['Error', 'SKUInfo.Name', '400'],
      ['CatalogID', expect.stringMatching(/^\d+$/), '201'],
    ])
    expect((await shop.call('GET', '/Products?sku=F-6')).statusCode).toBe(200)
  })

  test('answers 400 with every item when all fail', async () => {
    const answer = await shop.call('POST', '/Products', { body: [{}, 5, productBody('A-1')] })
    expect(answer.statusCode).toBe(400)
    expect(answer.json<Result[]>().map(({ Status }) => Status)).toEqual(['400', '400', '400'])
  })
})

describe('PUT of a list', () => {
  test('finds records by identifier and by SKU without regard to case, and changes nothing that was not sent', async () => {
    const body = [
      { SKUInfo: { CatalogID: 1, Stock: 11 } },
      { skuinfo: { sku: 'b-2', stock: '12' } },
      { SKUInfo: { CatalogID: 0, SKU: 'C-3', Stock: 13 } },
    ]
    const answer = await shop.call('PUT', '/Products', { body })
    expect(answer.statusCode).toBe(200)
    expect(answer.json<Result[]>().map(({ Value }) => Value)).toEqual(['1', '2', '3'])
    expect(await Promise.all([1, 2, 3].map(stockOf))).toEqual([11, 12, 13])
    expect((await shop.call('GET', '/Products/2')).json()[0].SKUInfo).toMatchObject({ SKU: 'B-2', Name: 'Product B-2' })
  })

  test('answers 206 when one of a hundred does not exist', async () => {
    const body = Array.from({ length: 100 }, (_, index) => ({
      SKUInfo: { CatalogID: index === 49 ? 4_711 : 1 + (index % 3), Stock: index },
    }))
    const answer = await shop.call('PUT', '/Products', { body })
    expect(answer.statusCode).toBe(206)
    expect(answer.json<Result[]>()[49]).toEqual({
      Key: 'Error',
      Value: '4711',
      Status: '404',
      Message: 'There is no Product 4711',
    })
    expect(answer.json<Result[]>().filter(({ Status }) => Status === '200')).toHaveLength(99)
    expect(await stockOf(1)).toBe(99)
  })

  test('answers 400 when all fail and not all are unknown', async () => {
    const answer = await shop.call('PUT', '/Products', { body: [{ SKUInfo: { CatalogID: 99 } }, { MFGID: 'x' }] })
    expect(answer.statusCode).toBe(400)
    expect(answer.json<Result[]>().map(({ Status, Value }) => [Status, Value])).toEqual([
      ['404', '99'],
      ['400', 'SKUInfo.CatalogID'],
    ])
  })

  test('names the SKU that is unknown', async () => {
    const answer = await shop.call('PUT', '/Products', {
      body: [{ SKUInfo: { SKU: 'none' } }, { SKUInfo: { CatalogID: 1 } }],
    })
    expect(answer.json<Result[]>()[0]).toMatchObject({ Key: 'Error', Value: 'none', Status: '404' })
  })

  test('does not take a SKU where another identifier is needed', async () => {
    const answer = await shop.call('PUT', '/Manufacturers', { body: [{ ManufacturerName: 'M 1' }] })
    expect(refusalOf(answer)).toMatchObject({ statusCode: 400, field: 'ManufacturerID' })
  })
})

describe('400 for a number of records that no request may have', () => {
  const many = Array.from({ length: 101 }, () => ({ SKUInfo: { CatalogID: 1 } }))
  test.each([
    { method: 'POST', path: '/Products', body: [] },
    { method: 'PUT', path: '/Products', body: [] },
    { method: 'POST', path: '/Products', body: many },
    { method: 'PUT', path: '/Products', body: many },
    { method: 'PUT', path: '/Products/1', body: [] },
    { method: 'PUT', path: '/Products/1', body: [{}, {}] },
    { method: 'POST', path: '/Products/1/Features', body: many },
    { method: 'PUT', path: '/Products/1', body: '' },
    { method: 'PUT', path: '/Products/1', body: undefined },
  ] as const)('$method $path', async ({ method, path, body }) => {
    expect(refusalOf(await shop.call(method, path, { body }))).toMatchObject({ statusCode: 400, status: '400' })
  })
})

describe('items of a list inside a record', () => {
  test('are added, changed and listed under the name of their key', async () => {
    const added = await shop.call('POST', '/Products/1/Features', {
      body: [{ FeatureTitle: 'one' }, { FeatureTitle: 'two' }],
    })
    expect(added.statusCode).toBe(201)
    const [first, second] = added.json<Result[]>()
    expect(first).toMatchObject({ Key: 'FeatureID', Status: '201', Message: 'Created successfully' })

    const changed = await shop.call('PUT', `/Products/1/Features/${first?.Value}`, {
      body: { FeatureDescription: 'd' },
    })
    expect(changed.json()).toEqual([
      { Key: 'FeatureID', Value: first?.Value, Status: '200', Message: 'updated successfully' },
    ])
    const several = await shop.call('PUT', '/Products/1/Features', {
      body: [{ FeatureID: Number(second?.Value), FeatureTitle: 'zwei' }, { FeatureID: 4_711 }, { FeatureTitle: 'x' }],
    })
    expect(several.statusCode).toBe(206)
    expect(several.json<Result[]>().map(({ Key, Value, Status }) => [Key, Value, Status])).toEqual([
      ['FeatureID', second?.Value, '200'],
      ['Error', '4711', '404'],
      ['Error', 'FeatureID', '400'],
    ])
    expect((await shop.call('GET', '/Products/1/Features')).json()).toEqual([
      { FeatureID: Number(first?.Value), FeatureTitle: 'one', FeatureDescription: 'd' },
      { FeatureID: Number(second?.Value), FeatureTitle: 'zwei', FeatureDescription: '' },
    ])
    expect((await shop.call('GET', '/Products/1/Features?offset=2&limit=1')).json()).toHaveLength(1)
    expect(refusalOf(await shop.call('GET', '/Products/1/Features?offset=3'))).toMatchObject({
      statusCode: 400,
      message: 'Offset amount exceeds the total number of records',
    })
  })

  test('a code of the caller is a key in the address as it is', async () => {
    const code = '7,9 ä/x'
    await shop.call('PUT', '/Products/2', { body: { AdvancedOptionList: [{ AdvancedOptionCode: code }] } })
    const path = `/Products/2/AdvancedOptions/${encodeURIComponent(code)}`
    const answer = await shop.call('PUT', path, { body: { AdvancedOptionStock: 5 } })
    expect(answer.json()).toEqual([
      { Key: 'AdvancedOptionCode', Value: code, Status: '200', Message: 'updated successfully' },
    ])
    expect((await shop.call('GET', '/Products/2/AdvancedOptions')).json()[0].AdvancedOptionStock).toBe(5)
  })
})
