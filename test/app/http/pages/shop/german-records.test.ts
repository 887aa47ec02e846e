import { beforeEach, expect, test } from 'vitest'
import { sharedServer } from '../../../../support/store.ts'
import { csvPages, wordsOf } from './csv-fixture.ts'
import { addShirt, openShop, type Shop } from './product-fixture.ts'

// The pages of records for somebody whose browser asks for German: texts, numbers, money and dates.

const german = { 'accept-language': 'de-DE,de;q=0.9,en;q=0.8' }

let shop: Shop

const server = await sharedServer()
beforeEach(async () => {
  shop = await openShop(server)
})

async function germanOf(address: string): Promise<string> {
  const { statusCode, body } = await shop.merchant.open(address, german)
  expect(statusCode, body).toBe(200)
  expect(body).toContain('<html lang="de">')
  // Amounts have a blank that does not break before the currency.
  return wordsOf(body).replaceAll('\u00a0', ' ')
}

const lamp = { SKU: 'LAMP', Name: 'Lampe', Price: 1234.5, Stock: 2500 }

test('the page of a product says what it is, and its record as JSON stays as programs read it', async () => {
  const id = await shop.add('/Products', { SKUInfo: lamp })
  const { id: shirt } = await addShirt(shop)
  const page = await germanOf(`/admin/products/${id}`)
  for (const words of ['Suchmaschinen', '1.234,50 $', '2.500 vom Produkt selbst', 'In keiner Kategorie.', 'sichtbar'])
    expect(page).toContain(words)
  expect(page).toContain('"Price": 1234.5')
  expect(await germanOf(`/admin/products/${shirt}`)).toContain('5 vom Produkt selbst, 7 in 1 Kombination')
})

test('the forms of a product and of its parts speak German', async () => {
  const { id } = await addShirt(shop)
  expect(await germanOf(`/admin/products/${id}/edit?section=name-and-visibility`)).toContain('Bedeutung der Felder')
  const options = await germanOf(`/admin/products/${id}/options`)
  expect(options).toContain('3 Kombinationen gibt es noch nicht: Small, Blue; Large, Red; Large, Blue.')
  expect(options).toContain('Alle 3 Kombinationen hinzufügen')
  expect(await germanOf(`/admin/products/${id}/stock`)).toContain('Zum Beispiel 12, -3 oder 2,5.')
  expect(await germanOf(`/admin/products/${id}/prices`)).toContain('Ein Preis von 0 gilt als nicht gesetzt')
  const { body } = await shop.merchant.open(`/admin/products/${id}/edit?section=option-sets`, german)
  expect(body).not.toContain('Add another')
})

test('a list counts, filters and chooses in German', async () => {
  await shop.add('/Products', { SKUInfo: lamp })
  const list = await germanOf('/admin/products')
  for (const words of ['Weitere Filter', 'Sortieren nach', 'Alle auf dieser Seite auswählen', '1.234,5'])
    expect(list).toContain(words)
  expect(await germanOf('/admin/products?find=nothing-like-it')).toContain('Ändern Sie die Filter oben')
})

test('the history says who did what, with amounts and names, in German', async () => {
  const id = await shop.add('/Products', { SKUInfo: lamp })
  const maker = await shop.add('/Manufacturers', { ManufacturerName: 'Acme' })
  const category = await shop.add('/Category', { CategoryName: 'Leuchten' })
  const CategoryList = [{ CategoryID: category }]
  const body = { SKUInfo: { Price: 12 }, ManufacturerID: maker, NonSearchable: true, CategoryList }
  await shop.shop.call('PUT', `/Products/${id}`, { body })
  const history = await germanOf('/admin/history')
  expect(history).toContain('1.234,50 $ → 12,00 $')
  expect(history).toContain('nichts → Acme')
  expect(history).toContain('Nein → Ja')
  expect(history).toContain('Kategorie Leuchten: hinzugefügt')
  expect(history).toContain('Anwendung ')
  expect(await germanOf(`/admin/products/${id}/history`)).toContain('Änderungsverlauf: LAMP · Lampe')
})

test('what a file would change, and how many products change at once, are told in German', async () => {
  await shop.add('/Products', { SKUInfo: lamp })
  const { takeIn } = csvPages(() => ({ server, merchant: shop.merchant }))
  const file = await takeIn('products', 'SKUInfo.SKU,SKUInfo.Price\nLAMP,19.5\n')
  const preview = await germanOf(file)
  expect(preview).toContain('zu bestätigen')
  expect(preview).toContain('SKUInfo.Price 1234,5 → 19,5')
  expect(preview).toContain('Nichts ändern')
  const chosen = await shop.merchant.submit('/admin/products', { ids: ['1'] }, { action: '/admin/products/bulk?' })
  const change = String(chosen.headers.location)
  expect(await germanOf(change)).toContain('1 Produkt ist ausgewählt.')
  const price = { Kind: 'price', Field: 'Price', How: 'raise-percent', Value: '2.5', Round: '.99', OnSale: 'same' }
  const compared = await shop.merchant.submit(change, price)
  const bulk = await germanOf(String(compared.headers.location))
  expect(bulk).toContain('Preis um 2,5 % erhöhen')
  expect(bulk).toContain('der auf ,99 endet.')
  expect(bulk).toContain('1.234,50 $ → 1.264,99 $')
})

test('what scripts say stands in the page in German', async () => {
  const { body } = await shop.merchant.open('/admin/products', german)
  expect(body).toContain('data-fits="Treffer"')
})
