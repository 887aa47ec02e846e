import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { to as copyTo } from 'pg-copy-streams'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { knownMigrations } from '../../../src/foundation/database/migration.ts'
import { migrate } from '../../../src/foundation/database/migrations.ts'
import { queryOf } from '../../../src/foundation/database/query.ts'
import { openSnapshot } from '../../../src/foundation/database/snapshot.ts'
import { startEmbedded } from '../../../src/foundation/embedded/embedded.ts'
import { diskFiles } from '../../../src/foundation/files/disk.ts'
import { StartupError } from '../../../src/foundation/process/startup-error.ts'
import { writeWholeFile } from '../../../src/foundation/process/whole-file.ts'
import { createSecrets } from '../../../src/foundation/values/secrets.ts'
import { fillDatabase as fillTables } from '../../../src/operations/installation/backup/fill.ts'
import { refuseOther } from '../../../src/operations/installation/backup/header.ts'
import { openBackup } from '../../../src/operations/installation/backup/read.ts'
import { restoreBackup } from '../../../src/operations/installation/backup/restore.ts'
import { copyLine, ROWS_END } from '../../../src/operations/installation/backup/rows.ts'
import { findSequences, findTables } from '../../../src/operations/installation/backup/tables.ts'
import { writeBackup } from '../../../src/operations/installation/backup/write.ts'
import { storePicture } from '../../../src/shop/pictures/pictures.ts'
import { exportOf, operator } from '../../app/engine/transfer/fixture.ts'
import { openReceiver } from '../../app/shop/webhooks/dispatch-receiver.ts'
import { openClient } from '../../support/client.ts'
import { contentsOf, schemaOf } from '../../support/contents.ts'
import { createDatabase } from '../../support/database.ts'
import { folderOfTest, sharedFolder } from '../../support/folders.ts'
import { filled as picture } from '../../support/pictures.ts'
import { freePort, programEnv, type Run, runProgram, runServer } from '../../support/run-server.ts'
import { shared } from '../../support/shared.ts'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'
import { fillDatabase, openDatabase } from './filled-database.ts'

type Database = Awaited<ReturnType<typeof createDatabase>>

const keys = { SECRET_KEY: 'secret-key-of-the-tests-secret-key', OPERATOR_KEY: 'operator-key-of-the-tests' }
/** Of people, access, webhooks and history: what an export of a store does not carry. */
const beyondExports = [
  ...[
    'Application',
    'AuditEntry',
    'Delivery',
    'Event',
    'HistoryEntry',
    'RecordCount',
    'SalesSum',
    'StockMovement',
    'Store',
  ],
  ...['StoreUser', 'Subscription', 'Webhook'],
]

const folder = sharedFolder()
/** A filled database, and a backup of it. */
const filled = await shared(createDatabase())
let server: TestServer
let shop: TestStore
let file: string

beforeAll(async () => {
  ;({ server, shop } = await fillDatabase(filled.url))
  const name = String.raw`\. \N \\ Zoë`
  await shop.call('POST', '/Products', {
    body: { SKUInfo: { SKU: 'TEXT', Name: name }, Description: 'a\n\\.\nb\t\u2028"' },
  })
  // Writes what waits.
  await server.services.callLog.stop()
  file = join(folder, 'filled.backup')
  expect(await run('backup', filled.url, file)).toMatchObject({ code: 0 })
})
afterAll(() => server?.close())

function start(program: 'backup' | 'restore' | 'check', url: string, args: string[], settings = {}): Run {
  const path = new URL(`../../../src/cli/${program}.ts`, import.meta.url).pathname
  return runProgram(process.execPath, [path, ...args], {
    env: { ...programEnv, ...keys, DATABASE_URL: url, ...settings },
  })
}

async function run(program: 'backup' | 'restore' | 'check', url: string, ...args: string[]) {
  const { exited, output } = start(program, url, args)
  return { code: await exited, output: output() }
}

async function inNewDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const { url, drop } = await createDatabase()
  return work(url).finally(drop)
}

test('the newest backup is noted in the database, where the figures of every process find it', async () => {
  const client = await openClient(filled.url)
  const { rows } = await client
    .query('SELECT "by", "bytes"::int, "createdAt" <= now() AS "isPast" FROM "Backup"')
    .finally(() => client.end())
  expect(rows).toEqual([{ by: 'command', bytes: statSync(file).size, isPast: true }])
})

describe('a backup that is restored', () => {
  test('has every row of every table, the next numbers and the schema, and is found well', async () => {
    const before = await contentsOf(filled.url)
    for (const table of beyondExports) expect(before[table], table).not.toMatch(/^0 /)
    await inNewDatabase(async (url) => {
      const { code, output } = await run('restore', url, file)
      expect({ code, output }).toMatchObject({
        code: 0,
        output: expect.stringMatching(/\d+ rows of \d+ tables.*All is well\n$/s),
      })
      expect(await contentsOf(url)).toEqual(before)
      expect(await schemaOf(url)).toEqual(await schemaOf(filled.url))
    })
  })

  test('has the files of pictures, where the settings say that they lie', async () => {
    const [from, to] = [join(folder, 'files'), join(folder, 'restored')]
    const services = { ...server.services, files: diskFiles(from) }
    await storePicture(services, shop.store.id, await picture(40, 20).png().toBuffer(), 'file')
    const own = join(folder, 'pictures.backup')
    expect(await start('backup', filled.url, [own], { FILES_DIR: from }).exited).toBe(0)
    await inNewDatabase(async (url) => {
      expect(await start('restore', url, [own], { FILES_DIR: to }).exited).toBe(0)
    })
    const names = readdirSync(join(from, `${shop.store.id}`))
    const bytesIn = (place: string) =>
      names.map((name) => readFileSync(join(place, `${shop.store.id}`, name), 'latin1'))
    expect([names.length, bytesIn(to)]).toEqual([8, bytesIn(from)])
    await server.services.db.picture.deleteMany()
  })

  test('exports the same stores, and takes the same tokens and changes', async () => {
    await inNewDatabase(async (url) => {
      await restoreBackup(url, await openBackup(file), { ...server.services, erased: new Set() })
      const twin = await openServer({}, () => openDatabase(url))
      twin.clock.ms = server.clock.ms
      expect(await exportOf(twin, shop)).toBe(await exportOf(server, shop))
      const headers = { ...shop.credentials, 'content-type': 'application/json' }
      const payload = { ManufacturerName: 'New' }
      const created = await twin.app.inject({ method: 'POST', url: '/StoreWebAPI/v1/Manufacturers', headers, payload })
      expect(created.statusCode, created.body).toBe(201)
      await twin.close()
      expect(await run('check', url)).toMatchObject({ code: 0 })
    })
  })

  test('is one moment, whatever is changed while it is written', async () => {
    const { url, drop } = await createDatabase()
    const busy = await fillDatabase(url)
    const before = await contentsOf(url)
    const snapshot = await openSnapshot(url)
    for (let number = 0; number < 3; number++) await placeOrder(busy.server, busy.shop)
    await busy.shop.call('DELETE', '/Products/12')
    const path = join(folder, 'moment.backup')
    await writeWholeFile(path, (output) =>
      writeBackup(snapshot, output, { ...busy.server.services, createdAt: new Date() }),
    )
    await snapshot.close()
    expect(await contentsOf(url)).not.toEqual(before)
    await inNewDatabase(async (other) => {
      await restoreBackup(other, await openBackup(path), { ...busy.server.services, erased: new Set() })
      const { Order, StockMovement, RecordCount, Event } = await contentsOf(other)
      expect({ Order, StockMovement, RecordCount, Event }).toMatchObject({
        Order: before.Order,
        StockMovement: before.StockMovement,
        RecordCount: before.RecordCount,
        Event: before.Event,
      })
    })
    await busy.server.close()
    await drop()
  })
})

async function placeOrder(at: TestServer, { store }: TestStore): Promise<void> {
  const payload = { BillingEmail: 'guest@mail.example', OrderItemList: [{ CatalogID: 1, ItemQuantity: 1 }] }
  const url = `/admin/stores/${store.id}/orders`
  const answer = await at.app.inject({ method: 'POST', url, headers: operator(at), payload })
  expect(answer.statusCode, answer.body).toBe(201)
}

describe('beside a server', () => {
  test('that places orders and sends webhooks, it takes a consistent moment, and no restore goes on', async () => {
    const { url, drop } = await createDatabase()
    const receiver = await openReceiver()
    const made = await fillDatabase(url)
    await made.shop.call('POST', '/Webhooks', {
      body: { Name: 'Here', Url: receiver.url, EventType: 1, Enabled: true },
    })
    await made.server.close()
    const port = await freePort()
    const base = `http://127.0.0.1:${port}`
    const settings = { ...keys, DATABASE_URL: url, PORT: String(port), DATA_DIR: folder, OUTBOUND_ALLOW: '127.0.0.0/8' }
    const scheduled = join(folder, 'scheduled')
    const running = runServer({ ...settings, BACKUP_DIR: scheduled })
    await running.shows('the database was backed up')
    const backups = readdirSync(scheduled).filter((name) => !name.endsWith('.erased'))
    expect(backups).toEqual([expect.stringMatching(/^store-platform-[0-9a-f]{8}-\d{8}T\d{6}Z\.backup$/)])
    const order = async () => {
      const answer = await fetch(`${base}/admin/stores/${made.shop.store.id}/orders`, {
        method: 'POST',
        headers: { authorization: `Bearer ${keys.OPERATOR_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ BillingEmail: 'a@b.example', OrderItemList: [{ CatalogID: 1, ItemQuantity: 1 }] }),
      })
      return answer.status
    }
    expect(await order()).toBe(201)
    await receiver.came(1)
    const path = join(folder, 'beside.backup')
    const backup = start('backup', url, [path])
    let isOver = false
    backup.exited.then(() => {
      isOver = true
    })
    const statuses = new Set<number>()
    while (!isOver) statuses.add(await order())
    statuses.add(await order())
    expect([...statuses], running.output()).toEqual([201])
    expect(await backup.exited, backup.output()).toBe(0)

    expect(await run('restore', url, path)).toEqual({
      code: 2,
      output: 'A server runs on the database that is to be filled. Stop it, and run the command again\n',
    })
    await running.end()
    await inNewDatabase(async (other) => {
      expect(await run('restore', other, path)).toMatchObject({ code: 0 })
      const [was, is] = [await openBackup(path), await contentsOf(url)]
      const ofTable = (name: string) => was.rows[was.header.tables.findIndex((table) => table.name === name)] ?? 0
      expect(ofTable('Order')).toBeLessThan(Number.parseInt(is.Order ?? '', 10))
      expect(ofTable('DeliveryAttempt')).toBeGreaterThan(0)
    })
    await drop()
  })
})

/** The file with another header, as the version that writes such a header would have made it. */
function altered(name: string, change: (header: Record<string, unknown>) => void, of = file): string {
  const bytes = readFileSync(of)
  const end = bytes.indexOf('\n')
  const header = JSON.parse(bytes.subarray(0, end).toString())
  change(header)
  const content = Buffer.concat([Buffer.from(JSON.stringify(header)), bytes.subarray(end, -65)])
  return written(name, Buffer.concat([content, Buffer.from(`${createHash('sha256').update(content).digest('hex')}\n`)]))
}

function written(name: string, bytes: Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

describe('a backup of an older version', () => {
  const LAST_BEFORE = '20261126110000_whole_event_bodies'
  /** What the migrations after `LAST_BEFORE` fill, or add columns to. */
  const changed = [
    ...['Identity', 'Identity_id_seq', 'StoreUser', 'Developer', 'Session'],
    ...['Store', 'StoreHost', 'Application', 'Subscription', 'CsvImport'],
    ...['Event', 'Webhook', 'OrderStatus', 'Product', 'AccessToken', 'ApiCall'],
    ...['Order', 'OrderTransaction', 'OrderShipment', 'HistoryEntry', 'SearchText'],
    ...['ReturnReason', 'ReturnMethod', 'ReturnStatus'],
    // They are booked in slices, after the start.
    ...['PaymentEntry', 'PaymentEntry_id_seq', 'PaymentSum', 'PaymentSum_id_seq'],
  ]
  /** A database that has stopped at `LAST_BEFORE`, and its backup. */
  let old: Database
  let path: string

  beforeAll(async () => {
    old = await createDatabase()
    await migrate(old.url, undefined, LAST_BEFORE)
    path = await backupOfOld()
  })
  afterAll(() => old?.drop())

  /** Puts the rows of the filled database into the older tables, and backs them up as the version of that time did. */
  async function backupOfOld(): Promise<string> {
    const [from, to] = [await openClient(filled.url), await openClient(old.url)]
    const tables = await findTables({ query: queryOf(to) })
    const sequences = (await findSequences({ query: queryOf(to) })).map(({ name }) => name)
    const next = (await findSequences({ query: queryOf(from) })).filter(({ name }) => sequences.includes(name))
    const former: Readonly<Record<string, string>> = {
      'StoreUser.passwordHash': '(SELECT "passwordHash" FROM "Identity" WHERE "id" = "identityId")',
      'Developer.passwordHash': '(SELECT "passwordHash" FROM "Identity" WHERE "id" = "identityId")',
      'Store.host': '(SELECT min("host") FROM "StoreHost" WHERE "storeId" = "Store"."id")',
    }
    async function* rows() {
      for (const table of tables) {
        const columns = table.columns.map((name) => former[`${table.name}.${name}`] ?? `"${name}"`)
        yield Buffer.from(`${copyLine(table)}\n`)
        yield* from.query(copyTo(`COPY (SELECT ${columns} FROM "${table.name}") TO STDOUT`))
        yield Buffer.from(ROWS_END)
      }
    }
    await fillTables(to, { name: 'filled', tables, sequences: next, rows }, { finish: async () => {} })
    const snapshot = { query: queryOf(to), copy: (sql: string) => to.query(copyTo(sql)), close: () => to.end() }
    const whole = join(folder, 'older-tables.backup')
    await writeWholeFile(whole, (output) =>
      writeBackup(snapshot, output, { ...server.services, createdAt: new Date() }),
    )
    await Promise.all([from.end(), snapshot.close()])
    const migrations = knownMigrations().slice(0, knownMigrations().indexOf(LAST_BEFORE) + 1)
    return altered('older', (header) => Object.assign(header, { migrations }), whole)
  }

  test('is restored, and brought to this version', async () => {
    await inNewDatabase(async (url) => {
      const restored = await run('restore', url, path)
      expect(restored, restored.output).toMatchObject({ code: 0 })
      const contents = await contentsOf(url)
      expect(Number.parseInt(contents.Identity ?? '', 10)).toBeGreaterThan(0)
      expect(contents).toMatchObject(without(changed, await contentsOf(filled.url)))
      expect(await schemaOf(url)).toEqual(await schemaOf(filled.url))
      await migrate(old.url)
      expect(contents).toEqual(await contentsOf(old.url))
    })
  })

  test('is refused by a database that a newer version has started on', async () => {
    await inNewDatabase(async (url) => {
      await migrate(url)
      const { code, output } = await run('restore', url, path)
      expect({ code, output }).toMatchObject({
        code: 2,
        output: expect.stringMatching(
          /^The database has migration 20261126111000_plain_addresses, which \S+ lacks: a newer version has started on it\./,
        ),
      })
    })
  })
})

function without(names: readonly string[], contents: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(contents).filter(([name]) => !names.includes(name)))
}

describe('a restore refuses', () => {
  const flipped = (name: string, at: (length: number) => number): string => {
    const bytes = readFileSync(file)
    const index = at(bytes.length)
    bytes[index] = (bytes[index] ?? 0) ^ 1
    return written(name, bytes)
  }
  const begun = (name: string, end: number) => written(name, readFileSync(file).subarray(0, end))
  const withMigrations = (name: string, migrations: string[]) =>
    altered(name, (header) => Object.assign(header, { migrations }))
  const damaged = /^\S+ is cut off or damaged/
  const foreign = /^\S+ is not a backup of this server/

  test.each<[name: string, path: () => string, says: RegExp, key?: string]>([
    ['another key', () => file, /^\S+ was made under another SECRET_KEY\. Give the key of that time/, 'x'.repeat(32)],
    [
      'a newer version',
      () => withMigrations('newer', [...knownMigrations(), '2099_x']),
      /^\S+ is of a newer version, which has migration 2099_x\. Restore it with that version/,
    ],
    [
      'a version without an earlier migration',
      () => withMigrations('gap', knownMigrations().slice(1)),
      /^\S+ lacks migration \S+, but has later ones\. Restore it with the version that wrote it/,
    ],
    [
      'another format',
      () => altered('format', (header) => Object.assign(header, { formatVersion: 3 })),
      /^\S+ has format 3, and this version reads formats up to 2\./,
    ],
    ['a file without its last byte', () => begun('last', -1), damaged],
    ['half a file', () => begun('half', 100_000), damaged],
    ['a file cut off in its header', () => begun('begun', 60), damaged],
    ['one bit of the rows', () => flipped('rows', (length) => Math.floor(length / 2)), damaged],
    ['one bit of the header', () => flipped('header', () => 100), damaged],
    ['one bit of the numbers of rows', () => flipped('end', (length) => length - 70), damaged],
    ['another file', () => written('other', Buffer.from('{}\n')), foreign],
    ['an empty file', () => written('empty', Buffer.alloc(0)), foreign],
    ['no file', () => '/nowhere', /^\/nowhere cannot be read \(ENOENT\)/],
  ])('%s before it asks the database', async (_name, path, says, key = keys.SECRET_KEY) => {
    const read = async () => {
      const backup = await openBackup(path())
      refuseOther(backup.header, createSecrets(key), backup.file)
    }
    await expect(read()).rejects.toThrow(StartupError)
    await expect(read()).rejects.toThrow(says)
  })

  test('a table that the database lacks in one line, and leaves an empty database', async () => {
    const tables = [{ name: 'Own', columns: ['a'] }]
    const path = altered('tables', (header) => Object.assign(header, { tables }))
    await inNewDatabase(async (url) => {
      const { code, output } = await run('restore', url, path)
      expect({ code, output }).toEqual({
        code: 2,
        output: expect.stringMatching(/^The table \S+ is not the same in .*\n$/),
      })
      expect(Object.entries(await contentsOf(url)).filter(([, content]) => !/^(0 |1$)/.test(content))).toEqual([])
    })
  })

  test('a database that has a store', async () => {
    const before = await contentsOf(filled.url)
    const { code, output } = await run('restore', filled.url, file)
    expect({ code, output }).toMatchObject({
      code: 2,
      output: expect.stringMatching(/^The database is not empty \(it has rows of .*\bStore\b.*\)\. Name an empty one/),
    })
    expect(await contentsOf(filled.url)).toEqual(before)
  })

  test('rows that do not come out as they were counted', async () => {
    await inNewDatabase(async (url) => {
      const backup = await openBackup(file)
      const rows = backup.rows.map((count) => count + 1)
      await expect(restoreBackup(url, { ...backup, rows }, { ...server.services, erased: new Set() })).rejects.toThrow(
        /has 0 rows of .* and should have 1/,
      )
      expect(await contentsOf(url)).toMatchObject({ Store: expect.stringMatching(/^0 /), Store_id_seq: '1' })
    })
  })
})

describe('a kill', () => {
  test('in the middle of a restore leaves an empty database, on which the next restore works', async () => {
    await inNewDatabase(async (url) => {
      await migrate(url)
      const client = await openClient(url)
      // The last step of a restore waits for this.
      await client.query(`BEGIN; SELECT nextval('"Store_id_seq"')`)
      const killed = start('restore', url, [file])
      await killed.shows('Checking the references')
      await killed.end('SIGKILL')
      await client.query('ROLLBACK')
      await client.end()
      const contents = await contentsOf(url)
      expect(
        Object.entries(contents).filter(([name, content]) => !name.endsWith('_seq') && !content.startsWith('0 ')),
      ).toEqual([])
      expect(await run('restore', url, file)).toMatchObject({ code: 0 })
      expect(await contentsOf(url)).toEqual(await contentsOf(filled.url))
    })
  })

  test('in the middle of a backup leaves no file, and the next backup works', async () => {
    const path = join(folder, 'killed.backup')
    const client = await openClient(filled.url)
    await client.query('BEGIN; LOCK TABLE "Webhook" IN ACCESS EXCLUSIVE MODE')
    const killed = start('backup', filled.url, [path])
    await vi.waitFor(
      async () => {
        const { rows } = await client.query(
          'SELECT FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())',
        )
        expect(rows).toHaveLength(1)
      },
      { timeout: 30_000 },
    )
    await killed.end('SIGKILL')
    await client.query('ROLLBACK')
    await client.end()
    expect({ part: existsSync(`${path}.part`), file: existsSync(path) }).toEqual({ part: true, file: false })
    expect(await run('backup', filled.url, path)).toMatchObject({ code: 0 })
    expect({ part: existsSync(`${path}.part`), mode: statSync(path).mode & 0o777 }).toEqual({
      part: false,
      mode: 0o600,
    })
  })
})

describe('a backup refuses, and leaves no file', () => {
  test.each([
    [
      'another key than that of the database',
      { SECRET_KEY: 'another-key-of-the-tests-another-key' },
      /^SECRET_KEY .* is not the key/,
    ],
    [
      'no database',
      { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' },
      /^The database at 127\.0\.0\.1:1\/none cannot be used/,
    ],
  ])('%s', async (_name, settings, says) => {
    const path = join(folder, 'refused.backup')
    const { exited, output } = start('backup', filled.url, [path], settings)
    expect({ code: await exited, lines: output().trim().split('\n').length }, output()).toEqual({ code: 1, lines: 1 })
    expect(output()).toMatch(says)
    expect([existsSync(path), existsSync(`${path}.part`)]).toEqual([false, false])
  })

  test('a folder that is not there', async () => {
    expect(await run('backup', filled.url, '/nowhere/file')).toEqual({
      code: 1,
      output: '/nowhere/file.part cannot be written (ENOENT)\n',
    })
  })
})

test('the file holds neither the key nor what HKDF makes of it', () => {
  const header = readFileSync(file).subarray(0, readFileSync(file).indexOf('\n')).toString()
  expect(JSON.parse(header)).toMatchObject({ keyFingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(header).not.toContain(keys.SECRET_KEY)
})

test('an embedded database goes into a new folder, whether its server runs or not', async () => {
  const [from, to] = [folderOfTest(), folderOfTest()]
  const embedded = await startEmbedded({ dataDir: from, durable: false })
  await restoreBackup(embedded.url, await openBackup(file), { ...server.services, erased: new Set() })
  const path = join(folder, 'embedded.backup')
  const settings = { DATABASE_URL: '', DATA_DIR: from }
  const first = start('backup', '', [path], settings)
  expect(await first.exited, first.output()).toBe(0)
  await embedded.stop()
  const second = start('backup', '', [path], settings)
  expect(await second.exited, second.output()).toBe(0)
  const restored = start('restore', '', [path], { ...settings, DATA_DIR: to })
  expect(await restored.exited, restored.output()).toBe(0)

  const again = await startEmbedded({ dataDir: to, durable: false })
  expect(await contentsOf(again.url)).toEqual(await contentsOf(filled.url))
  await again.stop()
})
