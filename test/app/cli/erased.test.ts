import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { queryOf } from '../../../src/foundation/database/query.ts'
import { bringErasures } from '../../../src/operations/installation/backup/replay.ts'
import { eraseWaiting } from '../../../src/shop/erasure/waiting.ts'
import { openClient } from '../../support/client.ts'
import { createDatabase } from '../../support/database.ts'
import { sharedFolder } from '../../support/folders.ts'
import { startCommand } from '../../support/run-command.ts'
import { freePort, runServer, serverKeys } from '../../support/run-server.ts'
import { ofTest } from '../../support/shared.ts'
import { sharedServer, type TestStore } from '../../support/store.ts'
import { exportOf, importInto } from '../engine/transfer/fixture.ts'

const name = { BillingFirstName: 'Zelda', BillingLastName: 'Quixwood' }
const parcel = {
  ShipmentID: 1,
  ShipmentFirstName: 'Zelda',
  ShipmentLastName: 'Quixwood',
  ShipmentAddress: 'Zyx Lane 7',
}
const records = [
  { service: 'Products', record: { SKUInfo: { CatalogID: 1, SKU: 'LAMP', Name: 'Lamp', Price: 5 } } },
  {
    service: 'Customers',
    record: { CustomerID: 12, Email: 'zq@mail.example', ...name, BillingAddress1: 'Zyx Lane 7' },
  },
  { service: 'Customers', record: { CustomerID: 14, Email: 'former@mail.example', ...name } },
  { service: 'Customers', record: { CustomerID: 13, Email: 'other@mail.example' } },
  {
    service: 'Orders',
    record: {
      ...{ OrderID: 40, CustomerID: 12, InvoiceNumber: 7, OrderStatusID: 4, OrderDate: '2026-02-03T23:04:05' },
      ...{ ...name, BillingEmail: 'zq@mail.example', ShipmentList: [parcel] },
      OrderItemList: [{ CatalogID: 1, ItemID: 'LAMP', ItemQuantity: 2 }],
    },
  },
]
const marks = '%(Zelda|Quixwood|zq@mail.example|zq\\\\u0040|Zyx Lane)%'

const server = await sharedServer()
const baseUrl = await server.app.listen({ host: '127.0.0.1', port: 0 })
const folder = sharedFolder()
/** Several commands take their time on a busy machine. */
vi.setConfig({ testTimeout: 300_000 })
const [before, later] = [join(folder, 'before.backup'), join(folder, 'later.backup')]
let shop: TestStore
let exported: string
let file: string

beforeAll(async () => {
  shop = await server.openStore()
  expect((await importInto(server, shop, records)).refused).toEqual([])
  exported = await exportOf(server, shop)
  expect((await run('backup', [before])).code).toBe(0)
  file = readdirSync(folder).find((each) => /^store-platform-[0-9a-f]{8}\.erased$/.test(each)) ?? ''
  expect(readFileSync(join(folder, file), 'utf8')).toBe('')
  rmSync(join(folder, file))
})

function run(command: string, args: string[], settings: Record<string, string> = {}) {
  const own = { ...serverKeys, DATABASE_URL: server.database.url, PUBLIC_URL: baseUrl, DATA_DIR: folder, ...settings }
  return startCommand(command, args, { settings: own, cwd: folder }).ends()
}

/** The tables of a database that have something of the person. */
async function tablesWith(url: string): Promise<string[]> {
  const client = await openClient(url)
  const { rows } = await client.query(`SELECT tablename AS "name" FROM pg_tables WHERE schemaname = 'public'`)
  const found: string[] = []
  for (const { name: table } of rows) {
    const text = `SELECT 1 FROM "${table}" t WHERE t::text SIMILAR TO $1 LIMIT 1`
    if ((await client.query(text, [marks])).rows.length > 0) found.push(table)
  }
  await client.end()
  return found.sort()
}

async function newDatabase(): Promise<string> {
  const { url } = await ofTest(createDatabase())
  return url
}

const linesIn = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

test('npm run erase says what goes and erases it; a backup has its numbers beside it', async () => {
  const args = ['--store', `${shop.store.id}`, '--customer', '12']
  await shop.call('DELETE', '/Customers/14')
  const shown = await run('erase', args)
  expect([shown.code, shown.output], shown.errors).toEqual([
    1,
    expect.stringMatching(
      /^What goes:\nCustomerID: 12\nOrders: 40\nUnshipped: 1\nCounts: Customers 1, .*\nNothing was erased\n$/,
    ),
  ])
  expect(await tablesWith(server.database.url)).toEqual(expect.arrayContaining(['Customer', 'Order', 'OrderShipment']))

  expect(await run('erase', [...args, '--yes'])).toMatchObject({
    code: 0,
    output: expect.stringMatching(/\nErased\n$/),
  })
  const list = await run('erase', [...args.slice(0, 2), '--list'])
  expect(list.output).toMatch(/^Id: \d+; CustomerID: 12; Orders: 40; DateErased: \S+Z; Counts: Customers 1, Orders 1/)

  await run('backup', [later])
  const erasure = { store: shop.store.id, at: expect.any(String), customer: 12, Customers: [12, 14], Orders: [40] }
  expect(linesIn(join(folder, file))).toEqual([erasure])
})

test('an older backup is not restored without the file, and with it the person is erased there too', async () => {
  const [away, at] = [join(folder, 'away.erased'), linesIn(join(folder, file))[0].at]
  renameSync(join(folder, file), away)
  const url = await newDatabase()
  const refusal = await run('restore', [before], { DATABASE_URL: url })
  expect([refusal.code, refusal.errors]).toEqual([2, expect.stringContaining(`there is no ${join(folder, file)}. `)])
  expect(await tablesWith(url)).toEqual([])
  writeFileSync(join(folder, 'odd'), '{"store":1}\n')
  const odd = await run('restore', [before, '--erased', join(folder, 'odd')], { DATABASE_URL: url })
  expect(odd.errors).toMatch(/odd is no file of erasures/)

  const { code, output, errors } = await run('restore', [before, '--erased', away], { DATABASE_URL: url })
  renameSync(away, join(folder, file))

  expect([code, output], errors).toEqual([0, expect.stringMatching(/\n1 person erased again\n.*All is well\n$/s)])
  expect(await tablesWith(url)).toEqual([])
  const client = await openClient(url)
  const { rows } = await client.query(
    `
    SELECT e."createdAt" = $1 AS "isThen", e."erasedAt" IS NOT NULL AS "isDone", a."details"->>'replayed' AS "replayed",
      (SELECT count(*)::int FROM "Event" WHERE "eventType" = 29) AS "events",
      (SELECT "value" >= 40 FROM "Counter" c WHERE c."storeId" = e."storeId" AND "name" = 'Order') AS "isPast"
    FROM "Erasure" e, "AuditEntry" a WHERE a."action" = 'customer.erased'`,
    [at],
  )
  await client.end()
  expect(rows).toEqual([{ isThen: true, isDone: true, replayed: 'true', events: 0, isPast: true }])
})

test('what a killed restore has left waits in the next server, which writes the file to BACKUP_DIR', async () => {
  const url = await newDatabase()
  const [line] = readFileSync(join(folder, file), 'utf8').split('\n')
  const none = join(folder, 'none')
  const kept = join(folder, file)
  renameSync(kept, none)
  const restored = await run('restore', [before, '--erased', 'none'], { DATABASE_URL: url })
  renameSync(none, kept)
  expect(restored.output).toMatch(/\n0 persons erased again\n/)
  expect(await tablesWith(url)).toEqual(expect.arrayContaining(['Customer', 'Order']))
  // As it was between the rows and the tables.
  const client = await ofTest(openClient(url))
  await bringErasures({ query: queryOf(client) }, new Set([`${line}`]))
  const refused = await run('backup', [join(folder, 'half.backup')], { DATABASE_URL: url })
  expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('A restore of this database was broken')])
  const port = await freePort()
  const at = `http://127.0.0.1:${port}`
  const dir = join(folder, 'backups')
  const settings = {
    ...serverKeys,
    DATABASE_URL: url,
    PORT: `${port}`,
    PUBLIC_URL: at,
    BACKUP_DIR: dir,
    DATA_DIR: folder,
  }
  const running = runServer(settings)
  onTestFinished(async () => void (await running.end()))
  await running.shows('Base address')

  expect((await client.query(`SELECT to_regclass('"_erased"') AS "table", "customerId" FROM "Erasure"`)).rows).toEqual([
    { table: null, customerId: 12 },
  ])
  await vi.waitFor(() => expect(readFileSync(join(dir, file), 'utf8')).toBe(`${line}\n`), 10_000)
  const args = ['--store', `${shop.store.id}`, '--email', 'other@mail.example', '--yes']
  expect((await run('erase', args, { PUBLIC_URL: at })).code).toBe(0)
  await vi.waitFor(() => expect(linesIn(join(dir, file))).toHaveLength(2), 10_000)
})

test('an import passes over the records, and a program that sends what it once read is refused', async () => {
  const lines = exported.split('\n').filter((each) => /^\{"service":"(Customers|Orders)"/.test(each))
  const path = join(folder, 'lines.ndjson')
  writeFileSync(path, [...lines, JSON.stringify({ service: 'Customers', deletedId: 12 })].join('\n'))

  const { code, output } = await run('import', [path, '--store', `${shop.store.id}`])

  expect([code, output]).toEqual([0, '5 lines: 1 stored, 0 refused, 4 passed over (their persons were erased)\n'])
  const put = async (address: string, body: object) => {
    const answer = await shop.call('PUT', address, { body })
    return [answer.statusCode, answer.json()[0].Message]
  }
  expect(await put('/Customers/12', { CustomerID: 12, ...name })).toEqual([
    409,
    'BillingFirstName belongs to a person who was erased',
  ])
  expect(await put('/Customers/12', { CustomerGroupID: 0, BillingFirstName: '' })).toEqual([
    200,
    'updated successfully',
  ])
  expect(await put('/Orders/40', { ShipmentList: [parcel] })).toEqual([
    409,
    expect.stringMatching(/^ShipmentList\.Shipment\w+ belongs to a person who was erased$/),
  ])
  expect(await put('/Orders/40', { OrderStatusID: 2 })).toEqual([200, 'updated successfully'])
  expect(await put('/Customers/13', name)).toEqual([200, 'updated successfully'])
  // As a rule leaves them.
  const { services } = server
  const ofRule = { storeId: shop.store.id, actorKind: 'merchant', actor: 'owner@shop.example', createdAt: new Date() }
  const erase = async (customerId: number) =>
    eraseWaiting(services, await services.db.erasure.create({ data: { ...ofRule, customerId } }))
  expect([await erase(13), await erase(99)]).toMatchObject([{ records: { Customers: [13] } }, null])
  expect(await services.db.erasure.findMany({ where: { actorKind: 'merchant' } })).toMatchObject([
    { customerId: 13, erasedAt: expect.any(Date), counts: { Customers: 1 } },
  ])
  const found = await tablesWith(server.database.url)
  expect(found).toEqual([])
})
