import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { migrate } from '../../../../src/foundation/database/migrations.ts'
import { createSecrets } from '../../../../src/foundation/values/secrets.ts'
import { checkDatabase } from '../../../../src/operations/installation/check-database.ts'
import { move } from '../../../../src/operations/installation/move/move.ts'
import { openClient } from '../../../support/client.ts'
import { dropDatabase, onServer } from '../../../support/database.ts'
import { folderOfTest } from '../../../support/folders.ts'
import { hasPostgres15, type Postgres15, startPostgres15 } from '../../../support/postgres-15.ts'
import { runServer, serverKeys, temporaryFolder } from '../../../support/run-server.ts'

/** The server that the tests use now. */
let serverUrl: string
let count = 0

/** Makes a database, which ends with the test. `name` is free for quoting. */
async function make(options: string, name = 'unfit'): Promise<string> {
  const full = `${name}_${process.pid}_${count++}`
  await onServer(serverUrl, `CREATE DATABASE "${full}" ${options}`)
  onTestFinished(() => dropDatabase(serverUrl, full))
  return at(full)
}

function at(name: string): string {
  return Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href
}

async function refusalOf(url: string): Promise<string> {
  return migrate(url).then(
    () => expect.unreachable(),
    (error) => error.message,
  )
}

/** Pastes the statement of a refusal, and returns the address of what it makes. */
async function paste(refusal: string): Promise<string> {
  const [statement = '', name = ''] = /^ {2}CREATE DATABASE "([^"]+)" .*;$/m.exec(refusal) ?? []
  await onServer(serverUrl, statement)
  onTestFinished(() => dropDatabase(serverUrl, name))
  return at(name)
}

async function isEmpty(url: string): Promise<boolean> {
  const client = await openClient(url)
  const { rows } = await client.query(`
    SELECT "relname"::text FROM pg_class WHERE "relnamespace" = 'public'::regnamespace
    UNION ALL SELECT "extname"::text FROM pg_extension WHERE "extname" <> 'plpgsql'`)
  await client.end()
  return rows.length === 0
}

const folding = 'its lower() leaves É as it is'
const unfit = [
  ['LATIN1', `ENCODING 'LATIN1' LOCALE 'C'`, 'its encoding is LATIN1, and UTF8 is needed'],
  ['SQL_ASCII', `ENCODING 'SQL_ASCII' LOCALE 'C'`, 'its encoding is SQL_ASCII, and UTF8 is needed'],
  ['KOI8R, which has no É', `ENCODING 'KOI8R' LOCALE 'C'`, 'its encoding is KOI8R, and UTF8 is needed'],
  ['UTF-8 beside C', `ENCODING 'UTF8' LOCALE 'C'`, folding],
] as const

describe.each([
  ['the one of the tests', false],
  ['15', true],
])('on PostgreSQL %s', (_version, is15) => {
  describe.skipIf(is15 && !hasPostgres15)('(15 needs postgresql-15)', () => {
    let postgres: Postgres15 | undefined
    beforeAll(async () => {
      postgres = is15 ? await startPostgres15() : undefined
      serverUrl = postgres?.url ?? inject('templateUrl')
    })
    afterAll(() => postgres?.stop())

    test.each(unfit)(
      'an empty database of %s is refused and stays empty; the statement makes a fit one',
      async (_name, options, fault) => {
        const url = await make(`TEMPLATE template0 LOCALE_PROVIDER libc ${options}`)
        const refusal = await refusalOf(url)
        expect(refusal).toContain(`${new URL(url).pathname} is empty and cannot hold a store: ${fault}`)
        expect(await isEmpty(url)).toBe(true)

        const fit = await paste(refusal)
        expect(await migrate(fit)).not.toEqual([])
        const client = await openClient(fit)
        expect((await client.query(`SELECT lower('ÉMILE ΣΑΣ') AS "folded"`)).rows).toEqual([
          { folded: expect.stringMatching(/^émile σα[σς]$/) },
        ])
        await client.end()
        // A second refusal names another one.
        await migrate(await paste(await refusalOf(url)))
      },
    )

    test('the statement bears any name', async () => {
      const url = await make(
        `TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'`,
        'Ä shop; with spaces that is rather long',
      )
      await migrate(await paste(await refusalOf(url)))
    })

    test('a database that other programs have tables in, or whose migrations were begun, is refused as an empty one', async () => {
      const url = await make(`TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C'`)
      const client = await openClient(url)
      await client.query(`CREATE TABLE "Store" ()`)
      await client.end()
      expect(await refusalOf(url)).toContain(folding)
    })

    test('the target of a move is refused before the source is closed', async () => {
      const source = await paste(
        await refusalOf(await make(`TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'`)),
      )
      await migrate(source)
      const target = await make(`TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C'`)
      const moving = move({
        source: { url: source, name: 'source' },
        target: { url: target, name: 'target' },
        secrets: createSecrets(serverKeys.SECRET_KEY),
        say: () => {},
      })
      await expect(moving).rejects.toThrow(folding)
      expect(await isEmpty(target)).toBe(true)
      expect(await migrate(source)).toEqual([])
    })
  })
})

describe.skipIf(!hasPostgres15)('on PostgreSQL 15, as a superuser (needs postgresql-15)', () => {
  let postgres: Postgres15
  beforeAll(async () => {
    postgres = await startPostgres15()
    serverUrl = postgres.url
  })
  afterAll(() => postgres?.stop())

  async function asRole(url: string): Promise<string> {
    await onServer(serverUrl, `DO $$ BEGIN CREATE ROLE "shop" LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`)
    return Object.assign(new URL(url), { username: 'shop' }).href
  }

  test('a role that is not the owner gets a statement with which it is', async () => {
    const url = await asRole(await make(''))
    const refusal = await refusalOf(url)
    expect(refusal).toContain('this role may not create tables in its schema public')
    const fit = await paste(refusal)
    expect(await migrate(await asRole(fit))).not.toEqual([])
  })

  test('a role that may not create the extensions gets the same', async () => {
    const url = await make('')
    const client = await openClient(url)
    await client.query(`GRANT CREATE ON SCHEMA "public" TO PUBLIC`)
    await client.end()
    const role = await asRole(url)
    expect(await refusalOf(role)).toContain('this role may not create the extension pg_trgm in it')
    expect(await migrate(url)).not.toEqual([])
    expect(await migrate(role).catch((error) => error.message)).not.toContain('extension')
  })

  test('a machine without locales takes ICU', async () => {
    const url = await make(`TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'`)
    const client = await openClient(url)
    await client.query(`DELETE FROM pg_collation WHERE "collprovider" = 'c' AND "collname" !~ '^(C|POSIX|ucs_basic)$'`)
    await client.end()
    const refusal = await refusalOf(url)
    expect(refusal).toContain('LOCALE_PROVIDER icu')
    await migrate(await paste(refusal))
  })

  test('a database with a store starts, with one warning in the log and a finding of npm run check', async () => {
    const url = await make('')
    const dataDir = folderOfTest()
    const settings = { ...serverKeys, DATABASE_URL: url, DATA_DIR: dataDir, PORT: '0' }
    const first = runServer({ ...settings, SANDBOX: 'true' })
    await first.shows('All keys')
    await first.end()
    expect(first.output()).not.toContain('was made wrongly')
    await onServer(
      serverUrl,
      `UPDATE pg_database SET "datctype" = 'C', "datcollate" = 'C' WHERE "datname" = '${new URL(url).pathname.slice(1)}'`,
    )

    const again = runServer(settings)
    await again.shows('Base address')
    await again.end()
    const warnings = again
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":"warn"'))
    expect(warnings).toEqual([expect.stringContaining(`was made wrongly: ${folding}`)])

    const found: unknown[] = []
    for await (const { check, findings } of checkDatabase(url, 5))
      if (findings.length > 0) found.push([check.name, ...findings])
    expect(found).toEqual([
      ['database', { storeId: null, record: 'The database', found: expect.stringContaining(folding) }],
    ])
  })

  test('a start on an empty database that cannot hold a store ends with the statement', async () => {
    const url = await make(`TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`)
    const refused = runServer({ ...serverKeys, DATABASE_URL: url, DATA_DIR: temporaryFolder(), PORT: '0' })
    expect(await refused.exited).toBe(1)
    const output = refused.output()
    expect(output).toContain('store-platform cannot start: The database at ')
    const started = runServer({
      ...serverKeys,
      DATABASE_URL: await paste(output),
      DATA_DIR: temporaryFolder(),
      PORT: '0',
    })
    await started.shows('There is no store yet')
    expect(await started.end()).toBe(0)
  })
})
