import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hold, untilItWaits } from '../../../../support/held.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { csvPages } from './csv-fixture.ts'
import { withMerchant } from './merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson
const { takeIn, apply, linesAt, countsAt } = csvPages(() => ({ server, merchant }))

withMerchant((scene) => ({ server, shop, merchant } = scene))

/** Adds products with these SKUs, and returns their ids. */
async function addProducts(skus: readonly string[]): Promise<number[]> {
  const ids: number[] = []
  for (let from = 0; from < skus.length; from += 100) {
    const body = skus.slice(from, from + 100).map((sku) => ({ SKUInfo: { SKU: sku, Name: `Product ${sku}` } }))
    const answer = await shop.call('POST', '/Products', { body })
    expect(answer.statusCode, answer.body).toBe(201)
    ids.push(...answer.json().map(({ Value }: { Value: string }) => Number(Value)))
  }
  return ids
}

async function skusOf(ids: readonly number[]): Promise<string[]> {
  const found = await server.database.db.product.findMany({ where: { storeId: shop.store.id, id: { in: [...ids] } } })
  const byId = new Map(found.map(({ id, sku }) => [id, sku]))
  return ids.map((id) => byId.get(id) ?? '')
}

const fileOf = (lines: readonly (readonly [id: number, sku: string])[]) =>
  `SKUInfo.CatalogID,SKUInfo.SKU\n${lines.map(([id, sku]) => `${id},${sku}\n`).join('')}`

describe('two lines of a file', () => {
  test('exchange their SKUs, wherever they stand in it', async () => {
    const others = Array.from({ length: 250 }, (_, at) => `OTHER-${at}`)
    const [one = 0, two = 0, ...more] = await addProducts(['A', 'B', ...others])
    const changed = more.map((id, at) => [id, `NEW-${at}`] as const)
    const address = await takeIn('products', fileOf([[one, 'b'], ...changed, [two, 'A']]))
    expect(await countsAt(address)).toEqual(['Changes (252)'])
    await apply(address)
    expect(await countsAt(address)).toEqual(['Changed (252)'])
    expect(await skusOf([one, two])).toEqual(['b', 'A'])
    const entries = (await shop.call('GET', `/Products/${one}`)).json()[0]
    expect(entries.SKUInfo.Name).toBe('Product A')
  })

  test('exchange e-mail addresses', async () => {
    const add = async (Email: string) => await shop.add('/Customers', { Email, Password: 'secret' })
    const [one, two] = [await add('ada@shop.example'), await add('bob@shop.example')]
    const file = `CustomerID,Email,Password\n${one},bob@shop.example,new-of-ada\n${two},ada@shop.example,\n`
    await apply(await takeIn('customers', file))
    const email = async (id: number) => (await shop.call('GET', `/Customers/${id}`)).json()[0].Email
    expect([await email(one), await email(two)]).toEqual(['bob@shop.example', 'ada@shop.example'])
  })

  test('are refused before anything is promised, where nothing frees a SKU', async () => {
    const [one = 0, two = 0, three = 0] = await addProducts(['A', 'B', 'C', 'D'])
    // The third waits for the second, and that for D, which no line frees.
    const address = await takeIn(
      'products',
      fileOf([
        [three, 'E'],
        [one, 'B'],
        [two, 'D'],
      ]),
    )
    expect(await countsAt(address)).toEqual(['Changes (1)', 'Errors (2)'])
    expect(await linesAt(address, 'errors')).toEqual([
      ['3', 'B', 'SKUInfo.SKU “B” is already used by another Product'],
      ['4', 'D', 'SKUInfo.SKU “D” is already used by another Product'],
    ])
    await apply(address)
    expect(await skusOf([one, two, three])).toEqual(['A', 'B', 'E'])
  })

  test('cannot give one SKU to two records', async () => {
    const [one = 0, two = 0] = await addProducts(['A', 'B', 'C'])
    const file = `SKUInfo.CatalogID,SKUInfo.SKU,SKUInfo.Name\n${one},X,One\n${two},x,Two\n,X,Three\n`
    expect(await linesAt(await takeIn('products', file), 'errors')).toEqual([
      ['2', 'X', 'SKUInfo.SKU “X” is given to another record by line 4'],
      ['3', 'x', 'SKUInfo.SKU “x” is given to another record by line 4'],
    ])
  })

  test('that exchange SKUs wait for a record that somebody else changes', async () => {
    const [one = 0, two = 0] = await addProducts(['A', 'B'])
    const address = await takeIn(
      'products',
      fileOf([
        [one, 'B'],
        [two, 'A'],
      ]),
    )
    const held = await hold(
      server,
      shop,
      (tx) => tx.db.$queryRaw`SELECT 1 FROM "Product" WHERE "storeId" = ${shop.store.id} AND "id" = ${two} FOR UPDATE`,
    )
    const applied = apply(address)
    await untilItWaits(server.database, applied)
    await held.commit()
    await applied
    expect(await skusOf([one, two])).toEqual(['B', 'A'])
  })

  test('that exchange SKUs are both left out where one of them is refused', async () => {
    const [one = 0, two = 0, three = 0] = await addProducts(['A', 'B', 'C'])
    const address = await takeIn(
      'products',
      fileOf([
        [one, 'B'],
        [two, 'A'],
        [three, 'D'],
      ]),
    )
    expect((await shop.call('DELETE', `/Products/${two}`)).statusCode).toBe(200)
    await apply(address)
    expect(await countsAt(address)).toEqual(['Changed (1)', 'Errors (2)'])
    expect((await linesAt(address, 'errors')).map(([line, , problem]) => [line, problem])).toEqual([
      ['2', `There is no Product ${two} | was left out with lines 2, 3, which are changed together`],
      ['3', `There is no Product ${two} | was left out with lines 2, 3, which are changed together`],
    ])
    expect(await skusOf([one, three])).toEqual(['A', 'D'])
  })
})

test('a list of changes by REST may exchange SKUs too', async () => {
  const ids = await addProducts(['A', 'B', 'C'])
  const body = ids.map((CatalogID, at) => ({ SKUInfo: { CatalogID, SKU: 'ABC'[(at + 1) % 3] } }))
  const answer = await shop.call('PUT', '/Products', { body })
  expect(answer.statusCode, answer.body).toBe(200)
  expect(await skusOf(ids)).toEqual(['B', 'C', 'A'])
})

test('more than 100 lines that exchange SKUs in a circle are refused, and the others are made', async () => {
  const skus = Array.from({ length: 101 }, (_, at) => `S-${at}`)
  const ids = await addProducts([...skus, 'OTHER'])
  const round = fileOf([
    ...ids.slice(0, 101).map((id, at) => [id, `S-${(at + 1) % 101}`] as const),
    [ids[101] ?? 0, 'NEW'],
  ])
  const address = await takeIn('products', round)
  expect(await countsAt(address)).toEqual(['Changes (1)', 'Errors (101)'])
  expect((await linesAt(address, 'errors'))[0]?.[2]).toContain(
    'is exchanged in a cycle of more than 100 lines, or 10 with passwords. Give one of these records an unused text',
  )
  await apply(address)
  expect(await skusOf(ids)).toEqual([...skus, 'NEW'])
})

/** Any order of numbers, the same one in each run. */
const scattered = (from: number) => (from * 67) % 151

test.each([
  ['upwards', (at: number) => at],
  ['downwards', (at: number) => -at],
  ['in any order', scattered],
])('a chain of 150 lines, each of which takes the SKU that another one frees, is made: %s', async (_, placeOf) => {
  const ids = await addProducts(Array.from({ length: 150 }, (_, at) => `S-${at}`))
  const lines = ids.map((id, at) => [id, `S-${at + 1}`] as const)
  const ordered = lines.map((line, at) => ({ line, at })).toSorted((a, b) => placeOf(a.at) - placeOf(b.at))
  const address = await takeIn('products', fileOf(ordered.map(({ line }) => line)))
  expect(await countsAt(address)).toEqual(['Changes (150)'])
  await apply(address)
  expect(await countsAt(address)).toEqual(['Changed (150)'])
  expect(await skusOf(ids)).toEqual(lines.map(([, sku]) => sku))
})

test('more than 10 passwords are not hashed in one transaction', async () => {
  const emails = Array.from({ length: 11 }, (_, at) => `c${at}@shop.example`)
  const body = emails.map((Email) => ({ Email, Password: 'secret' }))
  const ids = (await shop.call('POST', '/Customers', { body })).json().map(({ Value }: { Value: string }) => Value)
  const fileWith = (passwords: number) =>
    `CustomerID,Email,Password\n${ids.map((id: string, at: number) => `${id},${emails[(at + 1) % 11]},${at < passwords ? 'new-secret' : ''}\n`).join('')}`
  const address = await takeIn('customers', fileWith(11))
  expect(await countsAt(address)).toEqual(['Errors (11)'])
  expect((await linesAt(address, 'errors'))[0]?.[2]).toContain('more than 100 lines, or 10 with passwords')
  expect(await countsAt(await takeIn('customers', fileWith(10)))).toEqual(['Changes (11)'])
})

test('whatever a file does to SKUs, what its preview promises is made, and SKUs stay unique', async () => {
  const wanted = fc.array(
    fc.record({ record: fc.nat(5), sku: fc.constantFrom(...'ABCDEFGH'), isUpper: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 7,
    },
  )
  await fc.assert(
    fc.asyncProperty(wanted, async (lines) => {
      shop = await server.openStore()
      merchant = await merchantIn(server, shop.store)
      const ids = await addProducts([...'ABCDEF'])
      const file = lines.map(({ record, sku, isUpper }): [number, string] => [
        ids[record] ?? 0,
        isUpper ? sku : sku.toLowerCase(),
      ])
      const address = await takeIn('products', fileOf(file))
      const shown = (await countsAt(address)).find((tab) => tab.startsWith('Changes'))
      const promised = shown === undefined ? [] : await linesAt(address, 'changes')
      if (shown !== undefined) {
        await apply(address)
        expect(await countsAt(address)).toContain(shown.replace('Changes', 'Changed'))
      }
      const after = await skusOf(ids)
      expect(new Set(after.map((sku) => sku.toLowerCase())).size).toBe(6)
      for (const [line] of promised) {
        const [id, sku] = file[Number(line) - 2] as [number, string]
        expect(after[ids.indexOf(id)]).toBe(sku)
      }
    }),
    { numRuns: 30 },
  )
}, 120_000)
