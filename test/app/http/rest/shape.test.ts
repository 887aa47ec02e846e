import { beforeAll, describe, expect, test } from 'vitest'
import { sharedServer } from '../../../support/store.ts'
import { productBody, refusalOf } from './fixture.ts'

// $select and $orderby, on the page that was already read (rest-protocol §8.1).

const names = ['beta', 'Alpha', 'alpha', '\u{1F600} face', '\uFFEE half', 'Ärger', 'Zulu', '10', '9']

const server = await sharedServer()
const shop = await server.openStore()

beforeAll(async () => {
  const body = names.map((name, index) =>
    productBody(`S-${index}`, {
      SKUInfo: { Name: name, Price: [10, 9, 9, 100.5, 0, 3, 3, 1, 2][index] },
      Hide: index % 2 === 0,
      FeatureList: [{ FeatureTitle: `b${index}` }, { FeatureTitle: `a${index}` }],
    }),
  )
  await shop.call('POST', '/Products', { body })
})

const get = (path: string) => shop.call('GET', path)
const listed = async (query: string) => (await get(`/Products?limit=200&${query}`)).json()
const ids = async (orderby: string) =>
  (await get(`/Products/skuinfo?limit=200&$orderby=${encodeURIComponent(orderby)}`))
    .json()
    .map(({ CatalogID }: { CatalogID: number }) => CatalogID - 1)

describe('$orderby', () => {
  test('compares text by code point', async () => {
    const byName = (await ids('Name')).map((index: number) => names[index])
    expect(byName).toEqual(['10', '9', 'Alpha', 'Zulu', 'alpha', 'beta', 'Ärger', '\uFFEE half', '\u{1F600} face'])
  })

  test('compares numbers as numbers and leaves equal ones in the order of the page', async () => {
    expect(await ids('Price')).toEqual([4, 7, 8, 5, 6, 1, 2, 0, 3])
    expect(await ids('price DESC')).toEqual([3, 0, 1, 2, 5, 6, 8, 7, 4])
  })

  test('takes several names, each with its direction', async () => {
    expect(await ids('Price desc, CatalogID desc')).toEqual([3, 0, 2, 1, 6, 5, 8, 7, 4])
    expect(await ids(' price asc ,SKU   asc,')).toEqual([4, 7, 8, 5, 6, 1, 2, 0, 3])
  })

  test('sorts by a member of an object, and by true and false', async () => {
    const records = await listed('$orderby=Hide,SKUInfo/Price')
    const order = records.map(({ SKUInfo }: { SKUInfo: { CatalogID: number } }) => SKUInfo.CatalogID - 1)
    expect(order).toEqual([7, 5, 1, 3, 4, 8, 6, 2, 0])
  })

  test('orders the page that was read, not the whole list', async () => {
    const answer = await get('/Products/skuinfo?limit=3&$orderby=Name')
    expect(answer.json().map(({ CatalogID }: { CatalogID: number }) => CatalogID)).toEqual([2, 3, 1])
  })

  test('leaves each record as it was read', async () => {
    const plain = await get('/Products/1')
    const ordered = await shop.call('GET', '/Products/1?%24orderby=MFGID', { tolerated: true })
    expect(ordered.body).toBe(plain.body)
  })
})

describe('$select', () => {
  test('keeps the chosen properties in record order, names without regard to case', async () => {
    const answer = await get('/Products?limit=1&$select=hide,MFGID,SKUInfo/price, SKUInfo/SKU')
    expect(answer.body).toBe('[{"SKUInfo":{"SKU":"S-0","Price":10},"MFGID":"","Hide":true}]')
  })

  test('gives an object or a list whole, or the named members of it', async () => {
    const [whole] = await listed('$select=SKUInfo,SKUInfo/SKU,FeatureList')
    expect(Object.keys(whole)).toEqual(['SKUInfo', 'FeatureList'])
    expect(Object.keys(whole.SKUInfo)).toContain('Price')
    expect(whole.FeatureList[0]).toHaveProperty('FeatureDescription')
    const [part] = await listed('$select=SKUInfo/SKU,SKUInfo,FeatureList/FeatureTitle')
    expect(Object.keys(part.SKUInfo)).toContain('Price')
    expect(part.FeatureList).toEqual([{ FeatureTitle: 'b0' }, { FeatureTitle: 'a0' }])
  })

  test('goes with $orderby by a property that is not chosen', async () => {
    const answer = await get('/Products/skuinfo?limit=3&$orderby=Name%20desc&$select=SKU')
    expect(answer.body).toBe('[{"SKU":"S-0"},{"SKU":"S-2"},{"SKU":"S-1"}]')
  })

  test('works on one record, on lists inside it, on related records and in XML', async () => {
    await shop.call('POST', '/Manufacturers', { body: { ManufacturerName: 'M' } })
    await shop.call('PUT', '/Products/1', { body: { ManufacturerID: 1 } })
    expect((await get('/Products/1?$select=ManufacturerName')).body).toBe('[{"ManufacturerName":"M"}]')
    const features = await get('/Products/1/Features?$orderby=FeatureTitle&$select=FeatureTitle')
    expect(features.body).toBe('[{"FeatureTitle":"a0"},{"FeatureTitle":"b0"}]')
    expect((await get('/Manufacturers/1/Products?$select=ManufacturerID')).body).toBe('[{"ManufacturerID":1}]')
    const xml = await shop.call('GET', '/Products/1?$select=SKUInfo/SKU', { accept: 'text/xml' })
    expect(xml.body).toContain('><Product><SKUInfo><SKU>S-0</SKU></SKUInfo></Product><')
  })
})

test('with countonly both are ignored', async () => {
  expect((await get('/Products?countonly=1&$select=Nothing&$orderby=Nothing')).body).toBe('{"TotalCount":9}')
})

describe('400 names the parameter', () => {
  test.each([
    ['$select', 'Nothing'],
    ['$select', 'SKUInfo/Nothing'],
    ['$select', 'MFGID/x'],
    ['$select', 'SKUInfo/'],
    ['$select', '__proto__'],
    ['$select', 'SKUInfo/constructor'],
    ['$select', ','],
    ['$select', Array.from({ length: 201 }, () => 'MFGID').join(',')],
    ['$orderby', 'Nothing'],
    ['$orderby', 'SKUInfo'],
    ['$orderby', 'FeatureList'],
    ['$orderby', 'FeatureList/FeatureTitle'],
    ['$orderby', 'MFGID sideways'],
    ['$orderby', 'MFGID asc desc'],
    ['$orderby', 'MFGID/x'],
    ['$orderby', "MFGID'; DROP TABLE"],
  ])('%s=%s', async (field, value) => {
    const answer = await get(`/Products?${field}=${encodeURIComponent(value)}`)
    expect(refusalOf(answer)).toMatchObject({ statusCode: 400, field })
  })
})
