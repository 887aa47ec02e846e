import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeCertificate } from '../../../support/certificate.ts'
import { folderOfTest } from '../../../support/folders.ts'
import { bankAccount, cardNumber } from '../../../support/odd-source.ts'
import { startCommand } from '../../../support/run-command.ts'
import { freePort } from '../../../support/run-server.ts'
import { shared } from '../../../support/shared.ts'
import type { TestStore } from '../../../support/store.ts'
import { importInto } from '../../engine/transfer/fixture.ts'
import { differencesBetween, expectEnd, keysFor, type Move, openStage, recordsOf } from './fixture.ts'

const stage = await shared(openStage())

const product = (id: number, members: object = {}) => ({
  service: 'Products',
  record: { SKUInfo: { CatalogID: id, SKU: `S-${id}`, Name: `Product ${id}`, Price: 5, Stock: 9 }, ...members },
})
const customer = (id: number) => ({ service: 'Customers', record: { CustomerID: id, Email: `c${id}@mail.example` } })
const manufacturer = (id: number, name = `Maker ${id}`) => ({
  service: 'Manufacturers',
  record: { ManufacturerID: id, ManufacturerName: name },
})
const order = (id: number, members: object = {}) => ({
  service: 'Orders',
  record: {
    OrderID: id,
    InvoiceNumber: 70_000 + id,
    InvoiceNumberPrefix: 'AB-',
    OrderStatusID: 4,
    OrderDate: '2026-02-03T23:04:05',
    OrderItemList: [{ CatalogID: 11, ItemID: 'S-11', ItemQuantity: 2 }],
    ...members,
  },
})
const status = (id: number) => ({
  service: 'OrderStatus',
  record: { OrderStatusID: id, Sorting: id, StatusDefinition: `Own ${id}`, StatusText: `Own ${id}`, Visible: true },
})

const few = [product(11), product(12), customer(21), order(31, { CustomerID: 21 }), order(32)]

async function openShop(lines: object[] = few): Promise<TestStore> {
  return stage.openSource(async (shop) => {
    expect((await importInto(stage.server, shop, lines)).refused).toEqual([])
  })
}

async function moved(lines?: object[]) {
  const shop = await openShop(lines)
  const move = await stage.openMove(shop)
  expectEnd(await move.run(), 0)
  return { ...move, shop }
}

async function change(shop: TestStore, path: string, body: object): Promise<void> {
  stage.server.clock.ms = Date.now()
  const answer = await shop.call('PUT', path, { body })
  expect(answer.statusCode, answer.body).toBe(200)
}

async function remove(shop: TestStore, path: string): Promise<void> {
  const answer = await shop.call('DELETE', path)
  expect(answer.statusCode, answer.body).toBe(200)
}

async function nameHere(here: TestStore, id: number): Promise<string | undefined> {
  const answer = await here.call('GET', `/Manufacturers/${id}`)
  return answer.statusCode === 200 ? answer.json()[0].ManufacturerName : undefined
}

describe('what comes', () => {
  test('ids and invoice numbers stay, and the next order placed here is above them', async () => {
    const { here } = await moved()
    const [first] = (await here.call('GET', '/Orders/31')).json()
    expect(first).toMatchObject({
      ...{ OrderID: 31, InvoiceNumber: 70_031, InvoiceNumberPrefix: 'AB-', OrderDate: '2026-02-03T23:04:05' },
      CustomerID: 21,
    })
    const id = await here.placeOrder([{ CatalogID: 11, ItemQuantity: 1 }])
    expect(id).toBeGreaterThan(32)
    expect((await here.call('GET', `/Orders/${id}`)).json()[0].InvoiceNumber).toBeGreaterThan(70_032)
  })

  test('an invoice number that two orders have comes, and is listed', async () => {
    const shop = await openShop([...few, order(33, { InvoiceNumber: 70_031 })])
    const move = await stage.openMove(shop)
    expect(expectEnd(await move.run(), 0)).toMatch(/, 2 worth a look$[\s\S]*^Copied, and worth a look: .*worth-a-look/m)
    const message = 'InvoiceNumber is already used by Order 31'
    expect(move.lines('worth-a-look.ndjson')).toContainEqual({ service: 'Orders', id: 33, message })
  })

  test('statuses above 12 come, listed by the source or not', async () => {
    const shop = await openShop([
      ...few,
      status(21),
      status(22),
      order(33, { OrderStatusID: 21 }),
      order(34, { OrderStatusID: 22 }),
    ])
    const move = await stage.openMove(shop)
    move.source.intercept = ({ path, query }) => {
      if (/OrderStatus\/22$/.test(path)) return { status: 404 }
      if (!/OrderStatus$/.test(path)) return undefined
      const listed = [...Array(12).keys()].map((index) => status(index + 1).record)
      const all = [...listed, status(21).record]
      return { status: 200, body: JSON.stringify(query.has('countonly') ? [{ TotalCount: all.length }] : all) }
    }
    expectEnd(await move.run(), 0)
    for (const [id, name] of [
      [33, 21],
      [34, 22],
    ]) {
      expect((await move.here.call('GET', `/Orders/${id}`)).json()[0].OrderStatusID).toBe(name)
    }
  })

  test('references to what the source has deleted are cleared and listed, the records come', async () => {
    const shop = await openShop([
      ...few,
      customer(22),
      product(13),
      order(33, { CustomerID: 22, OrderItemList: [{ CatalogID: 13, ItemID: 'S-13', ItemQuantity: 1 }] }),
    ])
    const move = await stage.openMove(shop)
    const isGone = (record: { CustomerID?: number; SKUInfo?: { CatalogID: number } }) =>
      record.CustomerID === 22 || record.SKUInfo?.CatalogID === 13
    move.source.intercept = async ({ service, path, query }) => {
      if (/(Customers\/22|Products\/13)$/.test(path)) return { status: 404 }
      if (!/^(Customers|Products)$/.test(service) || query.has('offset')) return undefined
      const all = (await shop.call('GET', `/${service}`)).json().filter((record: object) => !isGone(record))
      return { status: 200, body: JSON.stringify(query.has('countonly') ? [{ TotalCount: all.length }] : all) }
    }
    expectEnd(await move.run(), 0)
    const [found] = (await move.here.call('GET', '/Orders/33')).json()
    expect(found).toMatchObject({ CustomerID: 0, OrderItemList: [{ ItemID: 'S-13', ItemQuantity: 1 }] })
    expect(move.lines('cleared.ndjson')).toMatchObject(
      expect.arrayContaining([{ service: 'Customers', id: 22, in: 'Orders 33', member: 'CustomerID' }]),
    )
    expect(expectEnd(await move.run(['--compare']), 0)).toContain('0 different, 0 only there, 0 only here')
  })

  test('a customer and an order that are made between two services come, and so does what the order names', async () => {
    const shop = await openShop()
    const move = await stage.openMove(shop)
    let isMade = false
    move.source.intercept = async ({ service, query }) => {
      if (service === 'Orders' && !query.has('countonly') && !isMade) {
        isMade = true
        expect((await importInto(stage.server, shop, [customer(29), order(39, { CustomerID: 29 })])).refused).toEqual(
          [],
        )
      }
      return undefined
    }
    expectEnd(await move.run(), 0)
    expect((await move.here.call('GET', '/Orders/39')).json()[0].CustomerID).toBe(29)
    expect((await move.here.call('GET', '/Customers/29')).statusCode).toBe(200)
  })

  test('records that are deleted and added between two pages lose no other', async () => {
    const many = Array.from({ length: 450 }, (_, index) => product(100 + index))
    const shop = await openShop(many)
    const move = await stage.openMove(shop)
    let pages = 0
    move.source.intercept = async ({ service, query }) => {
      if (service === 'Products' && query.has('offset') && ++pages === 1) {
        for (const id of [100, 120, 299]) await remove(shop, `/Products/${id}`)
        await importInto(stage.server, shop, [product(900)])
      }
      return undefined
    }
    const { code, output } = await move.run()
    expect(code, output).toBeLessThan(2)
    const again = expectEnd(await move.run(), 0)
    expect(again).toContain('Products missing there, and still here: 100, 120, 299')
    const left = [...(await recordsOf(stage.server, move.here)).keys()]
    expect(left.filter((name) => name.startsWith('Products'))).toHaveLength(451)
  })

  test('no event, mail or history comes of it', async () => {
    const { here } = await moved()
    const { db } = stage.server.database
    for (const table of ['Event', 'HistoryEntry', 'Mail']) {
      const [row] = await db.$queryRawUnsafe<{ count: number }[]>(
        `SELECT count(*)::int AS "count" FROM "${table}" WHERE "storeId" = $1::int`,
        here.store.id,
      )
      expect(row?.count, table).toBe(0)
    }
  })

  test('again, only what has changed is written', async () => {
    const { shop, run } = await moved()
    expect(expectEnd(await run(), 0)).toMatch(/, 0 written, /)
    await change(shop, '/Products/11', { SKUInfo: { Name: 'Other' } })
    expect(expectEnd(await run(), 0)).toMatch(/, 1 written, /)
  })
})

describe('what is refused', () => {
  test('stands in a file of its owner alone, which npm run import takes once the cause is gone', async () => {
    const shop = await openShop([...few, manufacturer(41, 'Twice')])
    const move = await stage.openMove(shop)
    expect(
      (
        await importInto(stage.server, move.here, [
          manufacturer(99, 'Twice'),
          product(98, { SKUInfo: { CatalogID: 98, SKU: 'S-12', Name: 'Taken' } }),
        ])
      ).refused,
    ).toEqual([])
    const { output } = await move.run(['--into-used'])
    expect(output).toContain('refused.ndjson')
    expectMode(move.folder)
    const [line] = move.lines('refused.ndjson')
    expect(line).toMatchObject({
      service: 'Products',
      record: { SKUInfo: { CatalogID: 12 } },
      reason: expect.any(String),
    })
    await remove(move.here, '/Products/98')
    const command = startCommand(
      'import',
      [join(move.folder, 'refused.ndjson'), '--store', String(move.here.store.id)],
      {
        settings: move.settings,
        cwd: move.dataDir,
      },
    )
    expectEnd(await command.ends(), 0)
    expect((await move.here.call('GET', '/Products/12')).statusCode).toBe(200)
  })

  function expectMode(folder: string): void {
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600)
  }

  test('card and bank numbers and keys are nowhere', async () => {
    const shop = await openShop()
    const move = await stage.openMove(shop, { oddities: { unknownMembers: true } })
    await importInto(stage.server, move.here, [product(98, { SKUInfo: { CatalogID: 98, SKU: 'S-12', Name: 'Taken' } })])
    const { output, errors } = await move.run(['--into-used'])
    const { db } = stage.server.database
    const tables = await db.$queryRawUnsafe<{ name: string }[]>(
      `SELECT relname AS "name" FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
    )
    const rows = await Promise.all(
      tables.map(({ name }) => db.$queryRawUnsafe<{ row: string }[]>(`SELECT t::text AS "row" FROM "${name}" t`)),
    )
    const stored = rows
      .flat()
      .map(({ row }) => row)
      .join('\n')
    const written = [move.text(), output, errors, stage.server.log.join('\n')].join('\n')
    for (const secret of [cardNumber, bankAccount]) expect(`${written}${stored}`).not.toContain(secret)
    const { privatekey, token } = shop.credentials
    for (const key of [privatekey, token, move.settings.OPERATOR_KEY ?? '']) expect(written).not.toContain(key)
    expect(output).toContain('Orders.CheckAccount')
  })
})

/** Answers the lists of a service as if it had these records, which it counts as `total`. */
function lists(
  { source }: Pick<Move, 'source'>,
  service: string,
  records: readonly object[],
  total = records.length,
): void {
  source.intercept = ({ service: asked, path, query }) => {
    if (asked !== service || !path.endsWith(`/${service}`)) return undefined
    if (query.has('countonly')) return { status: 200, body: JSON.stringify([{ TotalCount: total }]) }
    const first = Math.max(0, Number(query.get('offset') ?? 1) - 1)
    const page = records.slice(first, first + Number(query.get('limit')))
    return page.length > 0 ? { status: 200, body: JSON.stringify(page) } : { status: 400, body: '[]' }
  }
}

describe('a copy is never stuck on one record', () => {
  const wrongIds = [2_147_483_648, 2_147_000_000, 0, -5, 1.5, 'A-1', null, '99999999999999999999']

  const goodOnes = { Products: product, Customers: customer, Orders: order }
  const wrongOnes = {
    Products: (id: unknown, name: number) => ({ SKUInfo: { CatalogID: id, SKU: String(name), Name: 'Product' } }),
    Customers: (id: unknown, name: number) => ({ CustomerID: id, Email: `c${name}@mail.example` }),
    Orders: (id: unknown, name: number) => ({ OrderID: id, InvoiceNumber: name, CustomerID: 2_147_483_648 }),
  }

  test.each(['Products', 'Customers', 'Orders'] as const)(
    '%s with ids that no record can have are refused by name, the others come',
    async (service) => {
      const move = await stage.openMove(await openShop([product(11)]))
      const wrong = [...wrongIds, service === 'Orders' ? 33 : 0].map((id, index) =>
        wrongOnes[service](id, 9_000 + index),
      )
      lists(move, service, [...wrong.slice(0, 4), goodOnes[service](1_000_000_001).record, ...wrong.slice(4)])
      const { code, output, errors } = await move.run()
      expect(code, errors).toBe(1)
      expect(output).toMatch(/, 9 refused$/m)
      expect(output).not.toContain('fewer records')
      const refused = move.lines('refused.ndjson')
      const names = refused.map(({ record }) => Number(/900\d/.exec(JSON.stringify(record))))
      expect(names.sort()).toEqual(wrong.map((_, index) => 9_000 + index))
      for (const { reason } of refused) expect(reason).toMatch(/must be a (whole )?number/)
      expect((await move.here.call('GET', `/${service}/1000000001`)).statusCode).toBe(200)
      expect((await move.run()).output).toMatch(/, 0 written, .*, 9 refused$/m)
      expect((await move.run(['--compare'])).output).toMatch(/, 0 different, 9 only there, /)
    },
  )

  test('a record that the source lists and counts more than once comes once, and is said', async () => {
    const move = await stage.openMove(await openShop([]))
    const many = Array.from({ length: 205 }, (_, index) => product(100 + index).record)
    // Also where a page ends, and three times.
    lists(move, 'Products', [many[0], ...many.slice(0, 199), many[198], many[198], ...many.slice(199)] as object[])
    for (let run = 1; run <= 2; run++) {
      const output = expectEnd(await move.run(), 0)
      expect(output).toContain('Products: record 100, 298 came twice')
    }
    lists(move, 'Products', [many[0], ...many.slice(0, 204)] as object[])
    const output = expectEnd(await move.run(['--apply-deletions']), 0)
    expect(output).toContain('1 deleted')
    expect(Number((await move.here.call('GET', '/Products?countonly=1')).json().TotalCount)).toBe(204)
  })

  test.each(['', '0001-01-01T00:00:00', '1/1/0001 12:00:00 AM'])(
    'dates that say none by “%s” are none',
    async (none) => {
      const move = await stage.openMove(await openShop([product(11)]))
      const shipments = [{ ShipmentID: 1, ShipmentShippedDate: none, ShipmentLastUpdate: none }]
      lists(move, 'Orders', [
        { ...order(31).record, OrderDate: none, LastUpdate: none, ShipmentList: shipments },
        order(32).record,
      ])
      expectEnd(await move.run(), 0)
      expect(expectEnd(await move.run(), 0)).toMatch(/, 0 written, /)
      expect((await move.run(['--compare'])).output).toMatch(/, 0 different, 0 only there, /)
    },
  )

  test.each([
    { answer: null, come: 200 },
    ...(existsSync('/usr/bin/script')
      ? [{ answer: 'n', come: 200 } as const, { answer: 'y', come: 450 } as const]
      : []),
  ])(
    'a source that goes on far beyond its count is asked about on a terminal, and left elsewhere: $answer',
    async ({ answer, come }) => {
      const move = await stage.openMove(await openShop([customer(21)]))
      const many = Array.from({ length: 450 }, (_, index) => product(100 + index).record)
      lists(move, 'Products', many, 3)
      const command = move.start([], {}, { isTerminal: answer !== null })
      const far = 'Products: 398 records came, and the source counts 3'
      if (answer !== null) {
        await command.shows(`${far}. Go on reading? (y or n): `)
        command.answer(answer)
      }
      const { code, output } = await command.ends()
      expect([code, output.includes(`${far}: the rest is left`)]).toEqual(come === 200 ? [1, true] : [0, false])
      expect(Number((await move.here.call('GET', '/Products?countonly=1')).json().TotalCount)).toBe(come)
      expect((await move.here.call('GET', '/Customers/21')).statusCode).toBe(200)
    },
  )

  test.each([401, 404, 500])(
    'what a source says with status %i shows neither keys nor what terminals obey',
    async (status) => {
      const move = await stage.openMove(await openShop())
      const { MIGRATE_TOKEN: token = '', MIGRATE_PRIVATE_KEY: key = '' } = move.settings
      const said = `\u001b[2J${token}\r\n\u202e\u0085${'x '.repeat(85)}${key}`
      let failures = 0
      move.source.intercept = ({ service, query }) => {
        if (service !== 'Manufacturers') return undefined
        if (status !== 500 || ++failures === 1) {
          return { status, headers: { 'retry-after': '0' }, body: JSON.stringify([{ Message: said }]) }
        }
        // The second failure is told.
        if (failures === 2) return { status: 200, body: said }
        const record = { ...manufacturer(41).record, [said]: 1 }
        return { status: 200, body: JSON.stringify([query.has('countonly') ? { TotalCount: 1 } : record]) }
      }
      const { output, errors } = await move.run()
      for (const shown of [output, errors]) {
        expect(shown).not.toMatch(/[^\P{C}\n]|[\u2028\u2029]/u)
        for (const secret of [token, key]) expect(shown).not.toContain(secret.slice(0, 8))
      }
      expect(output).toMatch(
        status === 500 ? /no place here: Manufacturers\. \[2J… / : /^Manufacturers could not be read \(.*… /m,
      )
    },
  )

  test('an address at which nobody ever answered ends after the second try, by name', async () => {
    const move = await stage.openMove(await openShop([]))
    const address = `http://127.0.0.1:${await freePort()}`
    const { code, errors } = await move.run(['--from', address])
    expect({ code, errors }).toEqual({
      code: 1,
      errors: `Nobody answers at ${address} (ECONNREFUSED). Check --from, and whether this machine may reach it\n`,
    })
  })

  test('the same source with and without its path is one', async () => {
    const { run, source } = await moved()
    for (const from of [`${source.url}/StoreWebAPI/`, source.url, `${source.url}/`, `${source.url}/storewebapi`]) {
      expect(expectEnd(await run(['--from', from]), 0)).toMatch(/, 0 written, /)
    }
  })
})

describe('what was changed here', () => {
  test('stays and is listed, also when the source changes it', async () => {
    const { shop, here, run, lines } = await moved([...few, manufacturer(41), manufacturer(42)])
    await change(here, '/Manufacturers/41', { ManufacturerName: 'Mine' })
    await change(shop, '/Manufacturers/41', { ManufacturerName: 'Theirs' })
    await change(shop, '/Manufacturers/42', { ManufacturerName: 'News' })
    await run()
    expect(await nameHere(here, 41)).toBe('Mine')
    expect(await nameHere(here, 42)).toBe('News')
    expect(lines('changed-here.ndjson')).toMatchObject([{ service: 'Manufacturers', id: 41 }])
  })

  test('is not brought again when it was deleted here', async () => {
    const { shop, here, run, lines } = await moved([...few, manufacturer(41)])
    await remove(here, '/Manufacturers/41')
    await change(shop, '/Manufacturers/41', { ManufacturerName: 'Theirs' })
    await run()
    expect(await nameHere(here, 41)).toBeUndefined()
    expect(lines('changed-here.ndjson')).toMatchObject([{ service: 'Manufacturers', id: 41 }])
  })

  test('a store with records is refused without --into-used, and keeps what it has with it', async () => {
    const shop = await openShop([...few, manufacturer(41)])
    const move = await stage.openMove(shop)
    await importInto(stage.server, move.here, [manufacturer(41, 'Mine')])
    const refused = await move.run()
    expect(refused.code).toBe(1)
    expect(refused.errors).toMatch(/has records.*--into-used/)
    await move.run(['--into-used'])
    expect(await nameHere(move.here, 41)).toBe('Mine')
    expect((await move.here.call('GET', '/Orders/31')).statusCode).toBe(200)
  })
})

describe('deletions', () => {
  const makers = (count: number) => Array.from({ length: count }, (_, index) => manufacturer(1_000 + index))
  const left = async (here: TestStore) =>
    Number((await here.call('GET', '/Manufacturers?countonly=1')).json().TotalCount)

  async function withDeleted(count: number) {
    const move = await moved([...few, ...makers(30)])
    for (let index = 0; index < count; index++) await remove(move.shop, `/Manufacturers/${1_000 + index}`)
    return move
  }

  test('are listed, not made, without --apply-deletions', async () => {
    const { here, run } = await withDeleted(2)
    expect(expectEnd(await run(), 0)).toContain('Manufacturers missing there, and still here: 1000, 1001')
    expect(await left(here)).toBe(30)
  })

  test('of 20 records are made', async () => {
    const { here, run } = await withDeleted(20)
    expect(expectEnd(await run(['--apply-deletions']), 0)).toContain('20 deleted')
    expect(await left(here)).toBe(10)
  })

  test('of 21 records, more than 1 %, are made by --yes alone', async () => {
    const { here, run } = await withDeleted(21)
    expect((await run(['--apply-deletions'])).errors).toMatch(/21 records are missing there.*--yes/)
    expect(await left(here)).toBe(30)
    await run(['--apply-deletions', '--yes'])
    expect(await left(here)).toBe(9)
  })

  test('are not made after a list that is not complete', async () => {
    const { source, here, run, shop } = await withDeleted(2)
    lists({ source }, 'Manufacturers', (await shop.call('GET', '/Manufacturers')).json().slice(0, 20), 28)
    const { code, output } = await run(['--apply-deletions', '--yes'])
    expect(code).toBe(1)
    expect(output).toMatch(/Manufacturers: fewer records came/)
    expect(await left(here)).toBe(30)
  })

  test('spare what was changed here', async () => {
    const { here, run } = await withDeleted(2)
    await change(here, '/Manufacturers/1000', { ManufacturerName: 'Mine' })
    await run(['--apply-deletions'])
    expect(await nameHere(here, 1_000)).toBe('Mine')
    expect(await nameHere(here, 1_001)).toBeUndefined()
  })

  test('of orders are never made', async () => {
    const { source, here, run, shop } = await moved()
    lists({ source }, 'Orders', (await shop.call('GET', '/Orders/31')).json())
    expect(await run(['--apply-deletions', '--yes'])).toMatchObject({
      output: expect.stringMatching(/Orders missing there, and still here: 32/),
    })
    expect((await here.call('GET', '/Orders/32')).statusCode).toBe(200)
  })
})

describe('who may', () => {
  test('a second program on the same copy is refused', async () => {
    const move = await stage.openMove(await openShop())
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const arrived = Promise.withResolvers<void>()
    move.source.intercept = ({ service, query }) => {
      if (service !== 'Orders' || query.has('countonly')) return undefined
      arrived.resolve()
      return promise
    }
    const first = move.start()
    await arrived.promise
    const second = await move.run()
    expect(second.code).toBe(1)
    expect(second.errors).toMatch(/Another npm run migrate \(process \d+\)/)
    resolve(undefined)
    expectEnd(await first.ends(), 0)
  })

  test('another source for the same folder is refused', async () => {
    const move = await moved()
    const other = await stage.openMove(await openShop())
    const refused = await move.run(['--from', other.source.url])
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('belongs to a copy of') })
  })

  test('--by cartapi is refused, with the two ways that there are', async () => {
    const move = await stage.openMove(await openShop([]))
    const refused = await move.run(['--by', 'cartapi'])
    expect(refused).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/--by cartapi.*REST application.*CSV files/),
    })
  })

  test('plain http is refused but for this machine', async () => {
    const move = await stage.openMove(await openShop([]))
    expect((await move.run(['--from', 'http://shop.example'])).errors).toMatch(/must begin with https:/)
  })

  test('a redirect is not followed', async () => {
    const move = await stage.openMove(await openShop([]))
    const other = await stage.openMove(await openShop([]))
    move.source.intercept = () => ({ status: 302, headers: { location: other.source.url } })
    expect((await move.run()).code).toBe(1)
    expect(other.source.requests).toEqual([])
  })

  test('a certificate that nobody trusts is refused at once', async () => {
    const move = await stage.openMove(await openShop([]))
    const folder = folderOfTest()
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    makeCertificate(cert, key)
    const requests: unknown[] = []
    const server = createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request) =>
      requests.push(request),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const refused = await move.run(['--from', `https://localhost:${(server.address() as AddressInfo).port}`])
    server.close()
    expect(refused.errors).toMatch(/no certificate that can be trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/)
    expect(requests).toEqual([])
  })

  test('keys that open nothing are refused', async () => {
    const move = await stage.openMove(await openShop([]))
    const refused = await move.run([], { MIGRATE_TOKEN: 'nobody' })
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('The source refuses the keys (401') })
    expect(refused.errors).not.toContain('nobody')
  })

  test('a service that the keys do not open is named, the rest comes, and the exit code is 1', async () => {
    const shop = await openShop()
    const move = await stage.openMove(shop)
    const privileges = Object.fromEntries(
      ['Products', 'Customers', 'Orders', 'OrderStatus', 'Category'].map((service) => [service, ['read' as const]]),
    )
    const { code, output } = await move.run([], await keysFor(stage.server, shop, privileges))
    expect(code).toBe(1)
    expect(output).toMatch(/^Manufacturers could not be read \(status 401/m)
    expect((await move.here.call('GET', '/Orders/31')).statusCode).toBe(200)
  })

  test('a server here that does not listen is named', async () => {
    const move = await stage.openMove(await openShop([]))
    const refused = await move.run([], { PUBLIC_URL: `http://localhost:${await freePort()}` })
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('No server answers') })
  })

  test.each(['0', '3601', 'soon'])('MIGRATE_ROUND_SECONDS=%s is refused', async (seconds) => {
    const move = await stage.openMove(await openShop([]))
    expect((await move.run([], { MIGRATE_ROUND_SECONDS: seconds })).errors).toMatch(/whole number from 1 to 3600/)
  })
})

test('--compare names each member that differs', async () => {
  const { here, run, lines, shop } = await moved([...few, manufacturer(41)])
  await change(here, '/Manufacturers/41', { ManufacturerName: 'Mine' })
  await remove(shop, '/Products/12')
  const { code, output } = await run(['--compare'])
  expect(code).toBe(1)
  expect(output).toMatch(/ 1 different, 0 only there, 1 only here/)
  expect(lines('differences.ndjson')).toEqual(
    expect.arrayContaining([
      {
        service: 'Manufacturers',
        id: 41,
        differences: expect.arrayContaining([{ member: 'ManufacturerName', there: 'Maker 41', here: 'Mine' }]),
      },
      { service: 'Products', id: 12, only: 'here' },
    ]),
  )
  expect(await differencesBetween(stage.server, shop, here)).not.toEqual([])
})

test('--follow reads again from the same time on where rounds could not read all changes', async () => {
  const { here, source, start, shop } = await moved([...few, manufacturer(41)])
  await change(shop, '/Products/12', { SKUInfo: { Name: 'Changed there' } })
  const since: string[] = []
  const goneOn = Promise.withResolvers<void>()
  source.intercept = ({ service, query }) => {
    const from = query.get('lastupdatestart')
    if (service !== 'Products' || from === null) return undefined
    // Later than any round reads back by itself.
    if (since.push(from) === 1) stage.server.clock.ms += 600_000
    if (from !== since[0]) goneOn.resolve()
    return since.length <= 2 ? { status: 401 } : undefined
  }
  const following = start(['--follow'], { MIGRATE_ROUND_SECONDS: '1' })
  await goneOn.promise
  following.kill()
  const { errors } = await following.ends()
  expect((await here.call('GET', '/Products/12')).json()[0].SKUInfo.Name).toBe('Changed there')
  expect(errors).not.toContain('Copied')
})

test('the figures of --follow are those of the round', async () => {
  const { here, source, start, shop } = await moved()
  const following = start(['--follow'], { MIGRATE_ROUND_SECONDS: '1' })
  for (const name of ['First', 'Second']) {
    await change(shop, '/Products/12', { SKUInfo: { Name: name } })
    await expect.poll(async () => (await here.call('GET', '/Products/12')).json()[0].SKUInfo.Name).toBe(name)
    // The round is over when the next one begins.
    await new Promise<void>((resolve) => {
      source.intercept = ({ service }) => void (service === 'Category' && resolve())
    })
  }
  following.kill()
  expect((await following.ends()).output.match(/\d+ written/g)).toEqual(['1 written', '1 written'])
})
