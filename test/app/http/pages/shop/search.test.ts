import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { inTransaction, queryIn } from '../../../../../src/foundation/database/client.ts'
import { slicedMigrations } from '../../../../../src/foundation/database/migration.ts'
import { rewriteSlice } from '../../../../../src/foundation/database/slices.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { memberIn, merchantIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { withMerchant } from './merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson

withMerchant((scene) => ({ server, shop, merchant } = scene))

/** What the page of the search shows, by service, as it shows it. */
async function found(q: string, who = merchant): Promise<Record<string, string[]>> {
  const { statusCode, body } = await who.open(`/admin/search?${new URLSearchParams({ q })}`)
  expect(statusCode).toBe(200)
  const sections = body.split('<section').slice(1)
  return Object.fromEntries(
    sections.map((section) => [
      /<h2[^>]*>([^<]+)</.exec(section)?.[1] ?? '',
      [...section.matchAll(/<li><a href="[^"]+">([^<]*)</g)].map(([, title]) => title ?? ''),
    ]),
  )
}

describe('the search', () => {
  let tee: number
  beforeEach(async () => {
    tee = await shop.add('/Products', {
      SKUInfo: { SKU: 'TEE-01', Name: 'Émile’s Linen Throw', Price: 10, Stock: 3 },
      GTIN: '4006381333931',
      MFGID: 'MF/77',
    })
    await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Throwing lamp', Price: 10, Stock: 3 } })
    await shop.add('/Customers', {
      BillingFirstName: 'Zoë',
      BillingLastName: 'O’Brien-Łódzki',
      BillingCompany: 'Ærø & Söhne',
      BillingPhoneNumber: '+49 (0)170 123-45 67',
      BillingAddress1: 'Mühlenstr. 7',
      BillingZipCode: '24937',
      BillingCity: 'Flensburg',
      ShippingCity: 'Ærøskøbing',
      Email: 'zoe.obrien@customers.example',
      Password: 'secret words',
    })
    await shop.add('/GiftRegistries', {
      Name: 'Ada and Paul',
      CustomerAddressBook: { FirstName: 'Ada', LastName: 'Lovelace', PhoneNumber: '0309876543' },
      GiftRegistryItemList: [{ CatalogID: tee, SKU: 'TEE-01', Listed: 1 }],
    })
  })

  async function order(): Promise<number> {
    const line = { 'ItemID.1': 'TEE-01', 'ItemQuantity.1': '1', BillingEmail: 'guest@shop.example' }
    await merchant.submit('/admin/orders/new', line, { action: '/admin/orders' })
    const [{ OrderID, OrderItemList, ShipmentList }] = (await shop.call('GET', '/Orders')).json()
    await shop.call('PUT', `/Orders/${OrderID}`, {
      body: {
        BillingFirstName: 'José',
        BillingLastName: 'Núñez',
        BillingPhoneNumber: '212-555-0199',
        BillingAddress: 'Karl-Müller-Straße 12',
        BillingZipCode: '80331',
        BillingCity: 'München',
        AlternateOrderID: 'Market-4711',
        ShipmentList: [
          {
            ShipmentID: ShipmentList[0]?.ShipmentID,
            ShipmentFirstName: 'Grandma',
            ShipmentLastName: 'Duck',
            ShipmentAddress: 'Rue de la Paix 3',
            ShipmentZipCode: 'SW1A 1AA',
            ShipmentCity: 'Malmö',
            ShipmentTrackingCode: '1Z 999 AA1',
          },
        ],
        TransactionList: [
          {
            TransactionType: 'Sale',
            TransactionAmount: 10,
            TransactionID: 'pi_3NxYz',
            TransactionReference: 'Wire 88',
          },
        ],
      },
    })
    await shop.add('/RMA', {
      OrderID,
      RMAItemList: [{ CatalogID: OrderItemList[0].CatalogID, RMAItemReturnQuantity: 1 }],
    })
    return OrderID
  }

  const both = { Orders: ['AB-1000'], Returns: ['Return 1'] }
  /** What is typed, and what is found. */
  const searches: readonly (readonly [q: string, expected: Readonly<Record<string, readonly string[]>>])[] = [
    ['AB-1000', both],
    ['#ab-1000', both],
    ['1000', both],
    ['AB 1000', both],
    ['ab1000', both],
    ['# ab – 1000', both],
    ['10-00', {}],
    ['AC 1000', {}],
    ['1000 nuñ', both],
    ['AB 1000 jose nunez', both],
    ['Núñez #AB-1000', both],
    ['1000 ada', {}],
    ['1001 nunez', {}],
    ['nunez jose', both],
    ['NÚÑ', both],
    ['duck grand', both],
    ['st@shop.exam', both],
    ['(212) 555 0199', both],
    ['5550199', both],
    ['muenchen', both],
    ['80331 München', both],
    ['nunez munch', both],
    ['Karl-Mueller-Str. 12', both],
    ['karl-muller', both],
    ['malmoe', both],
    ['sw1a 1a rue', both],
    ['1Z 999', both],
    ['PI_3nxyz', both],
    ['wire 88', both],
    ['4711', both],
    ['tee-01', { ...both, Products: ['Émile’s Linen Throw'], 'Gift registries': ['Ada and Paul'] }],
    ['emiles thr', { Products: ['Émile’s Linen Throw'] }],
    ['throw', { Products: ['Throwing lamp', 'Émile’s Linen Throw'] }],
    ['inen', { Products: ['Émile’s Linen Throw'] }],
    ['4006381333931', { Products: ['Émile’s Linen Throw'] }],
    ['mf/77', { Products: ['Émile’s Linen Throw'] }],
    ['obrien', { Customers: ['Zoë O’Brien-Łódzki'] }],
    ["O'Brien lodz", { Customers: ['Zoë O’Brien-Łódzki'] }],
    ['aero sohne', { Customers: ['Zoë O’Brien-Łódzki'] }],
    ['zoe.ob', { Customers: ['Zoë O’Brien-Łódzki'] }],
    ['0170 1234567', { Customers: ['Zoë O’Brien-Łódzki'] }],
    ['24937 flensburg', { Customers: ['Zoë O’Brien-Łódzki'] }],
    ['muehlenstr. 7', { Customers: ['Zoë O’Brien-Łódzki'] }],
    ['aeroskoebing', { Customers: ['Zoë O’Brien-Łódzki'] }],
    ['lovelace', { 'Gift registries': ['Ada and Paul'] }],
    ['paul ada', { 'Gift registries': ['Ada and Paul'] }],
    ['ze', {}],
    ['%', {}],
    ['zo', { Customers: ['Zoë O’Brien-Łódzki'] }],
    ['mf 7', { Products: ['Émile’s Linen Throw'] }],
    ['', {}],
  ]

  test('finds what is typed, in whatever order, case and spelling, and nothing else', async () => {
    await order()
    for (const [q, expected] of searches) expect([q, await found(q)]).toEqual([q, expected])
  })

  test('finds umlauts in both spellings, whichever is typed, and telephone numbers with more equal digits first', async () => {
    const customer = (BillingLastName: string, BillingPhoneNumber = '') => {
      const person = { BillingFirstName: 'Kim', BillingLastName, BillingPhoneNumber, Password: 'secret words' }
      return shop.add('/Customers', { ...person, Email: `${randomUUID()}@customers.example` })
    }
    const names = 'Müller Mueller Muller Sørensen Soerensen Århus Aarhus Jäger Jaeger Frauen Shoe Short'.split(' ')
    for (const name of names) await customer(name)
    const typed = {
      'Müller Mueller Muller': ['müller', 'Mueller', 'MU\u0308LLER', 'muller', 'uell', 'kim muel'],
      'Müller Mueller': ['mue'],
      'Sørensen Soerensen': ['sørensen', 'soerensen', 'sorensen'],
      'Århus Aarhus': ['århus', 'aarhus', 'arhus'],
      'Jäger Jaeger': ['jäg', 'jaeger'],
      Shoe: ['shoe'],
      Frauen: ['frauen'],
    }
    for (const [called, queries] of Object.entries(typed)) {
      for (const q of queries) {
        const { Customers = [] } = await found(q)
        const foundNames = names.filter((name) => Customers.includes(`Kim ${name}`))
        expect([q, foundNames.join(' ')]).toEqual([q, called])
      }
    }

    await customer('Equal', '+49 30 12345678')
    for (const town of ['40', '89', '221']) await customer(`Town ${town}`, `+49 ${town} 12345678`)
    for (const typed of ['030 12345678', '0049 (30) 12345678', '+49 30 1234 5678']) {
      const { Customers = [] } = await found(typed)
      expect([typed, Customers.length, Customers[0]]).toEqual([typed, 4, expect.stringContaining('Equal')])
    }
  })

  test('finds a combination of options by its whole SKU', async () => {
    await shop.call('PUT', `/Products/${tee}`, {
      body: { AdvancedOptionList: [{ AdvancedOptionCode: '1', AdvancedOptionSufix: '-L', AdvancedOptionStock: 2 }] },
    })
    expect(await found('tee-01-l')).toEqual({ Products: ['Émile’s Linen Throw'] })
  })

  test('finds records by what they are called now, and no longer by what is gone', async () => {
    const id = await order()
    await shop.call('PUT', `/Products/${tee}`, { body: { SKUInfo: { Name: 'Woollen scarf' } } })
    expect(await found('emiles')).toEqual({})
    expect(await found('wool')).toEqual({ Products: ['Woollen scarf'] })
    await shop.call('PUT', `/Orders/${id}`, { body: { BillingLastName: 'Ortega' } })
    expect(await found('nunez')).toEqual({})
    expect(await found('ortega')).toMatchObject({ Orders: ['AB-1000'] })
    await shop.call('DELETE', `/Products/${tee}`)
    expect(await found('wool')).toEqual({})
  })

  test('finds by places in the lists too, and by what was stored before once its slices are rewritten', async () => {
    await order()
    const { db } = server.database
    const kept = () => db.$queryRaw<object[]>`SELECT * FROM "SearchText" ORDER BY 1, 2, 3, 4, 5`
    const before = await kept()
    expect(before).toEqual(await db.$queryRaw`SELECT * FROM "WordsOfRecords" ORDER BY 1, 2, 3, 4, 5`)
    for (const found of ['orders?find=München', 'orders?find=malmoe', 'customers?find=24937']) {
      expect((await merchant.open(encodeURI(`/admin/${found}`))).body).toMatch(/>1 (order|customer)</)
    }

    await db.$executeRaw`UPDATE "SearchText" SET "words" = 'old' WHERE "source" IN (0, 1) OR "service" = 'GiftRegistries'`
    await db.$executeRaw`DELETE FROM "Upgrade" WHERE "name" LIKE '%_places_of_%' OR "name" LIKE '%_spellings_of_%'`
    expect(await found('malmoe')).toEqual({})
    for (const migration of slicedMigrations()) await inTransaction(db, (tx) => rewriteSlice(queryIn(tx), migration))
    expect(await kept()).toEqual(before)
  })

  test('shows eight of a service, what names one first, and leads to the list of all', async () => {
    for (let number = 1; number <= 10; number++) {
      await shop.add('/Products', { SKUInfo: { SKU: `SCARF-${number}`, Name: `Scarf ${number}`, Price: 1 } })
    }
    await shop.add('/Products', { SKUInfo: { SKU: 'SCARF', Name: 'The scarf', Price: 1 } })
    await shop.add('/Products', { SKUInfo: { SKU: 'X-SCARF', Name: 'Another', Price: 1 } })
    const { Products = [] } = await found('scarf')
    expect([Products[0], Products.length]).toEqual(['The scarf', 8])
    const { body } = await merchant.open('/admin/search?q=scarf')
    expect(body).toContain('href="/admin/products?find=scarf"')
    const list = (await merchant.open('/admin/products?find=scarf')).body
    expect(list).toContain('12 products')
    expect((await merchant.open('/admin/products?find=scarf&hide=1')).body).toContain('No products fit')
  })

  test('offers the first of each service while somebody types', async () => {
    await order()
    const { statusCode, body } = await merchant.open('/admin/search/suggestions?q=tee-01')
    expect(statusCode).toBe(200)
    expect(JSON.parse(body).map(({ Kind, Title }: { Kind: string; Title: string }) => `${Kind}: ${Title}`)).toEqual([
      'order: AB-1000',
      'product: Émile’s Linen Throw',
      'return: Return 1',
      'gift registry: Ada and Paul',
    ])
    expect(JSON.parse(body)[2].Details).toMatch(/^Mar 10, 2026, .* · TEE-01$/)
  })

  test('finds for a role what it may read, and by nothing that it may not', async () => {
    await order()
    const packer = await memberIn(server, shop, { Name: 'Packer', Privileges: { Orders: ['write'] } })
    const asked = async (q: string) => Object.keys(await found(q, packer))
    expect(await asked('AB-1000')).toContain('Orders')
    expect(await asked('1Z 999')).toContain('Orders')
    for (const q of [
      'nunez',
      'duck',
      'guest@shop',
      '5550199',
      'munchen',
      '80331',
      'malmo',
      'sw1a',
      'obrien',
      'lovelace',
    ])
      expect(await asked(q)).toEqual([])
  })

  test('finds nothing of another store', async () => {
    await order()
    const other = await merchantIn(server, (await server.openStore()).store)
    for (const q of ['AB-1000', 'nunez', 'munchen', 'malmo', 'flensburg', 'tee-01', 'obrien'])
      expect(await found(q, other)).toEqual({})
  })

  test.each([
    ['x'.repeat(101), 'q "'],
    ['a\0b', 'holds a character'],
  ])('refuses %j', async (q, said) => {
    const { statusCode, body } = await merchant.open(`/admin/search?${new URLSearchParams({ q })}`)
    expect([statusCode, body.includes(said) || body.includes('100 characters')]).toEqual([400, true])
  })
})
