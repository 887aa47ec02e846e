import { describe, expect, test } from 'vitest'
import { sharedServer } from '../../../support/store.ts'
import { productBody, refusalOf } from './fixture.ts'

const server = await sharedServer({ REST_PREFIXES: '/StoreWebAPI,/api/3dCartWebAPI' })
const shop = await server.openStore()
await shop.call('POST', '/Products', { body: [productBody('A-1'), productBody('B+2', { Hide: true })] })
await shop.call('POST', '/Category', { body: { CategoryName: 'C' } })

test('every spelling of the headers answers', async () => {
  const { secureurl, privatekey, token } = shop.credentials
  const headers = { SecureUrl: secureurl.replace('https://', 'HTTPS://WWW.'), PRIVATEKEY: privatekey, Token: token }
  const answer = await server.app.inject({ url: '/StoreWebAPI/v1/Products', headers })
  expect(answer.statusCode).toBe(200)
})

describe('query parameters', () => {
  const skus = async (query: string) => {
    const answer = await shop.call('GET', `/Products/skuinfo?${query}`, { tolerated: query.includes('unknown') })
    return answer.statusCode === 200 ? answer.json().map(({ SKU }: { SKU: string }) => SKU) : answer.statusCode
  }

  test.each([
    ['&&unknown=1&$top=1&=x', ['A-1', 'B+2']],
    ['sku=B%2B2', ['B+2']],
    ['sku=B+2', 404],
    ['name=Product+A', ['A-1']],
    ['s%6Bu=A-1', ['A-1']],
    ['sku=&sku=B%2B2', ['B+2']],
  ])('%s', async (query, expected) => {
    expect(await skus(query)).toEqual(expected)
  })

  test.each([
    ['sku=%', 'sku'],
    ['name=%ff', 'name'],
    ['limit=%zz', 'limit'],
    ['%zz=1', ''],
  ])('broken percent-encoding in %s is refused and named', async (query, field) => {
    expect(refusalOf(await shop.call('GET', `/Products?${query}`))).toMatchObject({ statusCode: 400, field })
  })
})
