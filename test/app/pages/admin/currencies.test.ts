import { expect, test } from 'vitest'
import type { TestPerson } from '../../../support/person.ts'
import { customerIn, merchantIn } from '../../../support/signed-in.ts'
import type { TestServer } from '../../../support/store.ts'
import { withServer } from './merchant-fixture.ts'

let server: TestServer
withServer((opened) => {
  server = opened
})

test('a unit price is shown as fine as it is on every page, and a sum in the decimals of the currency', async () => {
  const shop = await server.openStore({ currency: 'EUR' })
  const merchant = await merchantIn(server, shop.store)
  const customer = await customerIn(server, shop)
  const OptionList = [{ OptionName: 'Blue', OptionValue: 0.0125 }]
  const CatalogID = await shop.add('/Products', {
    SKUInfo: { SKU: 'PIN', Name: 'Pin', Price: 0.333, Stock: 9_000 },
    PriceLevel2: 0.0125,
    OptionSetList: [{ OptionSetName: 'Colour', OptionType: 'Dropdown', OptionList }],
  })
  await shop.add('/Products', {
    SKUInfo: { SKU: 'BRASS', Name: 'Brass pin', Price: 1, SalePrice: 0.0125, OnSale: true },
  })
  const [{ OptionSetList }] = (await shop.call('GET', `/Products/${CatalogID}`)).json()
  const ItemOptions = String(OptionSetList[0].OptionList[0].OptionID)
  const items = [{ ItemQuantity: 500 }, { ItemQuantity: 800, ItemOptions }]
  await shop.placeOrder(
    items.map((item) => ({ CatalogID, ...item })),
    { CustomerID: 1 },
  )

  const german = { 'accept-language': 'de-DE' }
  const pages = new Map<string, string>()
  const keep = (name: string, { body }: { body: string }) => {
    pages.set(name, body.replaceAll(/\s+|&nbsp;/g, ' ').replaceAll(/<[^>]*>/g, ''))
    return body
  }
  const visit = async (person: TestPerson, path: string): Promise<void> => {
    const skipped = /sign-out|edit\?|template|docs|find=|sort=|limit=|period=/
    const body = keep(path, await person.open(path, german))
    const links = [...body.matchAll(/ href="(\/(?:admin|account)\/[^"#]*)/g)].map(([, href = '']) => href)
    for (const link of links) if (!skipped.test(link) && !pages.has(link)) await visit(person, link)
  }
  await visit(merchant, '/admin/products')
  await visit(customer, '/account')
  await visit(merchant, '/admin/search?q=pin')
  keep('choices', await merchant.open('/admin/orders/products?q=pin', german))
  const fields = { 'ItemID.1': 'PIN', 'ItemQuantity.1': '500', 'ItemID.2': 'pi' }
  const options = { action: '/admin/orders', to: '/admin/orders/new', headers: german }
  keep('lines', await merchant.submit('/admin/orders/new', fields, options))
  for (const [path, ...texts] of [
    ['/admin/products', '0,333 €'],
    ['/admin/products/1', '0,333 €', 'Stufe 2: 0,0125 €'],
    ['/admin/products/1/options', '+0,0125 €'],
    ['/admin/products/2', '0,0125 €'],
    ['/admin/search?q=pin', '0,333 €'],
    ['choices', '0,333 €'],
    ['lines', 'je 0,333 €', '(+0,0125 €)', 'Pin PIN · 0,333 €', 'Brass pin BRASS · 0,0125 €'],
    ['/admin/orders/1', '0,333 €', '166,50 €', '0,3455 €', '276,40 €', '442,90 €'],
    ['/admin/orders/1/invoice', '500 0,333 € 166,50 €', '800 0,3455 € 276,40 €', '+0,0125 €', '442,90 €'],
    ['/admin/orders/1/lines', '+0,0125 €', '166,50 €'],
    ['/account/orders/1', '500 × 0,333 €', '166,50 €', '800 × 0,3455 €', '276,40 €'],
  ] as const) {
    for (const text of texts) expect([path, pages.get(path)]).toEqual([path, expect.stringContaining(text)])
  }
  expect(pages.size).toBeGreaterThan(60)
  for (const [path, text] of pages) expect([path, text.match(/(?<![\d,])0,(33|01|35) €/)]).toEqual([path, null])
})
