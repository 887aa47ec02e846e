import { describe, expect, test } from 'vitest'
import { sharedServer } from '../../../support/store.ts'
import { productBody, refusalOf } from './fixture.ts'

// Several records in one request, and which record a body means (rest-resources §0.7, §0.8).

const server = await sharedServer()
const shop = await server.openStore()
await shop.call('POST', '/Products', { body: ['A-1', 'B-2', 'C-3'].map((sku) => productBody(sku)) })

describe('PUT of a list', () => {
  test('does not take a SKU where another identifier is needed', async () => {
    const answer = await shop.call('PUT', '/Manufacturers', { body: [{ ManufacturerName: 'M 1' }] })
    expect(refusalOf(answer)).toMatchObject({ statusCode: 400, field: 'ManufacturerID' })
  })
})

describe('items of a list inside a record', () => {
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
