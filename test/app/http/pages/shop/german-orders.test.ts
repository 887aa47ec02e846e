import { beforeEach, expect, test } from 'vitest'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { textOf } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'

// The pages of orders and products as somebody reads them whose browser asks for German, and the same ones in English.

let shop: TestStore
let merchant: TestPerson

const server = await sharedServer()

/** A store in Berlin whose first order is one lamp for 1,234.50 euros. */
beforeEach(async () => {
  shop = await server.openStore({ timeZone: 'Europe/Berlin' })
  await server.database.db.store.update({ where: { id: shop.store.id }, data: { currency: 'EUR' } })
  merchant = await merchantIn(server, shop.store)
  const SKUInfo = { SKU: 'LAMP', Name: 'Lamp', Price: 1234.5, Stock: 1_500 }
  await shop.call('POST', '/Products', { body: { SKUInfo } })
  await placeOrder(shop.caller, {
    BillingEmail: 'ada@shop.example',
    BillingFirstName: 'Ada',
    BillingLastName: 'Byron',
    OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 1 }],
    ShipmentList: [{ ShipmentFirstName: 'Ada', ShipmentLastName: 'Byron', ShipmentCity: 'Berlin' }],
  })
})

/** The words of a page, with plain blanks. */
async function read(url: string, language: string) {
  const { body, statusCode } = await merchant.open(url, { 'accept-language': language })
  expect([url, statusCode]).toEqual([url, 200])
  const main = /<main[\s\S]*<\/main>/.exec(body)?.[0] ?? ''
  const [, lang] = /<html lang="(\w+)"/.exec(body) ?? []
  return { lang, title: /<title>([^<]*)/.exec(body)?.[1], main, text: textOf(main) }
}

const date = { de: '10.03.2026, 17:00', en: 'Mar 10, 2026, 5:00 PM' }
const pages: readonly {
  readonly url: string
  readonly de: readonly string[]
  readonly en: readonly string[]
}[] = [
  {
    url: '/admin/orders',
    de: ['Unbezahlt', 'Nicht versandt', '1.234,50 €', date.de, 'Mit der Auswahl', 'Rechnungen drucken'],
    en: ['Unpaid', 'Not shipped', '€1,234.50', date.en, 'With what is chosen', 'Print invoices'],
  },
  {
    url: '/admin/orders/1',
    de: [
      'Bestellung AB-1000',
      `Bestellt am ${date.de}`,
      'Zahlung erfassen',
      'Waren verschicken',
      'Lieferschein',
      'Diese Bestellung ist nicht bezahlt: 1.234,50 € von 1.234,50 € sind offen.',
      'Bei Storniert und Nicht abgeschlossen gehen die Waren zurück in den Bestand.',
      'Ada Byron Gast',
    ],
    en: [
      'Order AB-1000',
      `Placed ${date.en}`,
      'Record a payment',
      'Ship the goods',
      'This order is not paid: €1,234.50 of €1,234.50 is open.',
      'Cancel and Not Completed put the goods back into stock.',
      'Ada Byron guest',
    ],
  },
  {
    url: '/admin/orders/1/payments',
    de: [
      'Zahlungen der Bestellung AB-1000',
      'Autorisierung, noch nicht bezahlt',
      'Größer als 0, in EUR',
      'Es ist keine Zahlung',
    ],
    en: ['Payments of order AB-1000', 'Authorization, not paid yet', 'Above 0, in EUR', 'No payment is recorded.'],
  },
  {
    url: '/admin/orders/1/payments?notice=refund-recorded',
    de: ['Die Erstattung ist erfasst.'],
    en: ['The refund is recorded.'],
  },
  {
    url: '/admin/orders/1/refund',
    de: ['Erstattung zur Bestellung AB-1000', 'Kann erstattet werden', 'Zurückgegeben', 'Erstattung erfassen'],
    en: ['Refund of order AB-1000', 'Can be refunded', 'Returned', 'Record the refund'],
  },
  {
    url: '/admin/orders/new',
    de: [
      'Neue Bestellung',
      'Menge Summe',
      'Bestellung anlegen',
      'Die Bestellung erhält den Status Neu, sonst Unbezahlt.',
    ],
    en: ['New order', 'Quantity Sum', 'Place the order', 'the order is New. Otherwise it is Unpaid.'],
  },
  {
    url: '/admin/orders/1/shipments/0',
    de: ['Bestellung AB-1000 verschicken', 'Sendung', 'hat den Status Teilweise versandt, bis alles versandt ist'],
    en: ['Ship order AB-1000', 'Shipment', 'the order is Partial until everything has shipped'],
  },
  {
    url: '/admin/orders/1/invoice',
    de: ['Rechnung AB-1000', 'Rechnungs- und Bestelldatum: 10. März 2026', '1.234,50 €'],
    en: ['Invoice AB-1000', 'Date of invoice and order: Mar 10, 2026', '€1,234.50'],
  },
  {
    url: '/admin/reports?by=day&from=2026-03-10&to=2026-03-10',
    de: ['Dieser Monat', 'Gruppieren nach', '10. März 2026 – 10. März 2026', '1.234,50 €', 'Gesamtbetrag'],
    en: ['This month', 'Group by', 'Mar 10, 2026 – Mar 10, 2026', '€1,234.50', 'Total'],
  },
  {
    url: '/admin/products',
    de: ['Weitere Filter', 'Sortieren nach', '1.234,5'],
    en: ['More filters', 'Sort by', '1,234.5'],
  },
  {
    url: '/admin/products/1',
    de: ['Suchmaschinen', '1.234,50 €', '1.499 vom Produkt selbst'],
    en: ['Search engines', '€1,234.50', '1,499'],
  },
  {
    url: '/admin/search?q=lamp',
    de: ['LAMP · 1.234,50 € · 1.499 auf Lager'],
    en: ['LAMP · €1,234.50 · 1,499 in stock'],
  },
]

test.each(pages)('$url is in German for who asks for it, and in English else', async ({ url, de, en }) => {
  const german = await read(url, 'de-DE')
  expect(german.lang).toBe('de')
  for (const text of de) expect(german.text).toContain(text)
  const english = await read(url, 'en-US')
  expect(english.lang).toBe('en')
  for (const text of en) expect(english.text).toContain(text)
})

test('scripts and files get the language too', async () => {
  const asked = async (url: string, language: string) =>
    (await merchant.open(url, { 'accept-language': language })).body
  const suggested = async (url: string, language: string) => JSON.parse(await asked(url, language))
  const products = '/admin/orders/products?q=lam'
  expect(await suggested(products, 'de-DE')).toEqual([{ ID: 'LAMP', Name: 'Lamp · 1.234,50\u00a0€ · 1.499 auf Lager' }])
  expect(await suggested(products, 'en-US')).toEqual([{ ID: 'LAMP', Name: 'Lamp · €1,234.50 · 1,499 in stock' }])
  const found = await suggested('/admin/search/suggestions?q=lamp', 'de-DE')
  expect(found).toContainEqual(expect.objectContaining({ Details: 'LAMP · 1.234,50\u00a0€ · 1.499 auf Lager' }))

  const file = '/admin/orders/lines.csv'
  expect((await asked(file, 'de-DE')).split('\n')[0]).toMatch(
    /^\uFEFFRechnungsnummer;.*;Zahlungsart;.*;Nach Erstattungen;Offen;/,
  )
  expect((await asked(file, 'en-US')).split('\n')[0]).toMatch(/^\uFEFFInvoice number,.*,Payment method,.*,Net,Open,/)
})

test('a payment has one name: in the form, the list, the question of making it void and on the invoice', async () => {
  const payments = '/admin/orders/1/payments'
  await merchant.submit(payments, { ...(await merchant.formOf(payments)), TransactionAmount: '34.5' })
  const { TransactionList } = (await shop.call('GET', '/Orders/1')).json()[0]
  const sayings = [
    [payments, 'Zahlung'],
    [`${payments}/${TransactionList[0].TransactionIndexID}/void`, 'Zahlung über 34,50 € stornieren?'],
    ['/admin/orders/1', 'Teilweise bezahlt'],
    ['/admin/orders/1/invoice', '34,50 €'],
  ] as const
  for (const [url, said] of sayings) {
    const { text } = await read(url, 'de-DE')
    expect(text).toContain(said)
    expect(text).not.toMatch(/transa[ck]tion/i)
  }
})

test('a draft, the list and the page of an order say by one rule whose order it is', async () => {
  await shop.call('PUT', '/Orders/1', {
    body: { BillingFirstName: ' ', BillingLastName: ' ', BillingCompany: 'Analytical Engines' },
  })
  for (const url of ['/admin/orders', '/admin/orders/1', '/admin/search?q=ada%40shop.example']) {
    expect((await read(url, 'de-DE')).text).toContain('Analytical Engines')
  }
  await shop.call('PUT', '/Orders/1', { body: { BillingCompany: '', BillingEmail: '' } })
  expect((await read('/admin/orders/1', 'de-DE')).text).toContain('Kunde ohne Namen')
})

test('all pages of an order are titled by its number', async () => {
  for (const part of ['', '/fields', '/events']) {
    expect((await read(`/admin/orders/1${part}`, 'en-US')).title).toContain('Order AB-1000')
  }
})
