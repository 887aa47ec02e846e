import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { connect, type Db } from '../../../../src/foundation/database/client.ts'
import { migrate } from '../../../../src/foundation/database/migrations.ts'
import { outageOf } from '../../../../src/foundation/database/outage.ts'
import { type Embedded, startEmbedded } from '../../../../src/foundation/embedded/embedded.ts'
import { administratorUrl } from '../../../support/administrator.ts'
import { openClient } from '../../../support/client.ts'

const holdFile = fileURLToPath(new URL('./hold.ts', import.meta.url))
/** The user whom many systems have, and who owns nothing. */
const nobody = { uid: 65_534, gid: 65_534 }

/** A data folder whose database was made and stopped. */
let prepared: string
let dataDir: string
/** `dataDir`, unless a test names another below it. */
let temporary: string
let started: Embedded[]
let holders: ChildProcess[]
beforeAll(async () => {
  prepared = await mkdtemp(join(tmpdir(), 'embedded-'))
  await (await startEmbedded({ dataDir: prepared })).stop()
})
afterAll(() => rm(prepared, { recursive: true, force: true }))
beforeEach(async () => {
  // Spaces and quotes must not matter.
  temporary = await mkdtemp(join(tmpdir(), "the shop's data "))
  dataDir = temporary
  started = []
  holders = []
})
afterEach(async () => {
  for (const { stop } of started) await stop()
  for (const holder of holders) await ended(holder)
  // Where a test killed the process of a server, this start takes it over.
  if (existsSync(pidFile())) await (await startEmbedded({ dataDir })).stop()
  await rm(temporary, { recursive: true, force: true })
})

describe('a folder', () => {
  test('is made at the first start, and has at the next what was written before', async () => {
    const first = await start()
    await remember(first.url, 'kept')
    await first.stop()
    expect(existsSync(pidFile())).toBe(false)

    const second = await start()

    expect(await remembered(second.url)).toEqual(['kept'])
  })

  test('that several processes start on at once is made once and held by one', async () => {
    const answers = await Promise.all([hold(), hold(), hold()])

    expect(answers.filter(({ url }) => url)).toHaveLength(1)
    const refused = answers.filter(({ url }) => !url).map(({ line }) => line)
    expect(refused).toEqual([expect.stringMatching('in use'), expect.stringMatching('in use')])
    expect(await readdir(dataDir)).toEqual(['postgres'])
  })

  test('that an interrupted start left half-made is not taken for a database, and goes', async () => {
    await copyPrepared()
    await mkdir(join(dataDir, 'postgres.new-abcdef', 'data', 'base'), { recursive: true })

    const { url } = await start()

    expect(await valuesOf(url, 'SELECT 1')).toEqual([1])
    expect(await readdir(dataDir)).toEqual(['postgres'])
  })

  test('starts while a slower process is still making its own beside it', async () => {
    await copyPrepared()
    const halfMade = join(dataDir, 'postgres.new-abcdef')
    const write = `const fs = require('node:fs')
      for (let at = 0; ; at++) {
        fs.mkdirSync(${JSON.stringify(halfMade)} + '/data/' + (at % 50), { recursive: true })
        fs.writeFileSync(${JSON.stringify(halfMade)} + '/data/' + (at % 50) + '/file', '')
        if (at === 0) console.log('writing')
      }`
    // It makes its folder again when that is taken away in the middle of a step.
    const slower = spawn(process.execPath, ['-e', `for (;;) try { ${write} } catch {}`])
    try {
      await once(slower.stdout, 'data')

      const { url } = await start()

      expect(await valuesOf(url, 'SELECT 1')).toEqual([1])
    } finally {
      slower.kill('SIGKILL')
      await once(slower, 'exit')
    }
  })

  test('in use is refused to another process, which does no harm to the first', async () => {
    await copyPrepared()
    const { url } = await start()

    await expect(startEmbedded({ dataDir })).rejects.toThrow(/is in use by another process.*DATA_DIR/)

    expect(await valuesOf(url, 'SELECT 1')).toEqual([1])
  })
})

test('letters of every alphabet fold, and are found by their parts', async () => {
  await copyPrepared()
  const { url } = await start()
  await valuesOf(url, 'CREATE EXTENSION pg_trgm')

  expect(await valuesOf(url, `SELECT lower('ÄÉ ЛАМПА')`)).toEqual(['äé лампа'])
  expect(await valuesOf(url, `SELECT cardinality(show_trgm('лампа'))`)).toEqual([6])
})

test('a server is reached through a folder that its owner alone may enter, with passwords, and keeps durably', async () => {
  await copyPrepared()
  const { url } = await start()
  const administrator = await administratorUrl(dataDir, url)

  expect(new URL(url).searchParams.get('host')).toBe(join(dataDir, 'postgres'))
  expect(await valuesOf(url, 'SHOW listen_addresses')).toEqual([''])
  expect(await valuesOf(administrator, 'SELECT DISTINCT auth_method FROM pg_hba_file_rules')).toEqual(['scram-sha-256'])
  for (const address of [url, administrator]) {
    const wrong = Object.assign(new URL(address), { password: 'wrong' }).href
    await expect(openClient(wrong)).rejects.toMatchObject({ code: '28P01' })
  }
  expect(await modeOf('password')).toBe('600')
  expect(await modeOf('.')).toBe('700')
  expect(await modeOf('.s.PGSQL.5432')).toBe('700')
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    expect(await valuesOf(url, `SHOW ${setting}`)).toEqual(['on'])
  }
})

describe('without a socket, the server listens on this machine alone', () => {
  test('because the path of the data folder is too long for one', async () => {
    dataDir = join(dataDir, 'x'.repeat(100))
    await mkdir(dataDir)
    await copyPrepared()

    await listensOnLoopback()
  })

  test('because none can be made in the folder', async () => {
    await copyPrepared()
    await mkdir(join(dataDir, 'postgres', '.s.PGSQL.5432'))

    await listensOnLoopback()
  })

  async function listensOnLoopback(): Promise<void> {
    const first = await start()
    expect(await valuesOf(first.url, 'SHOW listen_addresses')).toEqual(['127.0.0.1'])
    const administrator = await administratorUrl(dataDir, first.url)
    expect(await valuesOf(administrator, 'SHOW unix_socket_directories')).toEqual([''])
    process.kill(await postmasterPid(), 'SIGKILL')
    await vi.waitFor(async () => expect(await valuesOf(first.url, 'SELECT 1')).toEqual([1]), { timeout: 20_000 })
  }
})

describe("the server's role", () => {
  beforeEach(copyPrepared)

  test('is no superuser, and has a new password at each start', async () => {
    const first = await start()
    await migrate(first.url)
    expect(
      await valuesOf(
        first.url,
        'SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls FROM pg_roles WHERE rolname = current_user',
      ),
    ).toEqual([false])
    expect(
      await valuesOf(first.url, 'SELECT count(*)::int FROM pg_auth_members WHERE member = current_user::regrole'),
    ).toEqual([0])
    for (const sql of [
      `SELECT pg_read_file('/etc/passwd')`,
      `COPY (SELECT 1) TO PROGRAM 'cat'`,
      'CREATE ROLE "other"',
    ]) {
      await expect(valuesOf(first.url, sql)).rejects.toMatchObject({ code: '42501' })
    }
    await first.stop()

    const second = await start()

    expect(new URL(second.url).password).not.toBe(new URL(first.url).password)
    await expect(openClient(first.url)).rejects.toMatchObject({ code: '28P01' })
  })

  test('gets what the superuser owns: what the first version made, or an operator restored', async () => {
    await (await asSuperuserMade()).stop()

    const { url } = await start()

    await expectHandedOver(url)
    expect(
      await valuesOf(url, 'SELECT datdba::regrole::text FROM pg_database WHERE datname = current_database()'),
    ).toEqual(['store_server'])
    await valuesOf(url, 'ALTER TABLE "Developer" ADD COLUMN "later" int')
    expect(await migrate(url)).toEqual([])
  })

  test('gets all of it or nothing where process and server are killed meanwhile', async () => {
    const { administrator, abandon } = await asSuperuserMade()
    await abandon()
    const blocker = await openClient(administrator)
    await blocker.query('BEGIN; LOCK TABLE "Store"')
    const holder = spawn(process.execPath, [holdFile, dataDir], { stdio: ['pipe', 'ignore', 'inherit'] })
    const waiting = `SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
    await vi.waitFor(async () => expect(await valuesOf(administrator, waiting)).toEqual([1]), { timeout: 20_000 })
    await killed(holder)
    process.kill(await postmasterPid(), 'SIGKILL')

    const { url } = await start()

    await expectHandedOver(url)
  })

  /** A database as the first version left it. `abandon` kills the process that holds it, and not the server. */
  async function asSuperuserMade() {
    const { url, process: holder } = await hold()
    const postgres = await administratorUrl(dataDir, url)
    const administrator = Object.assign(new URL(postgres), { pathname: new URL(url).pathname }).href
    for (const sql of ['DROP DATABASE store_platform', 'DROP ROLE store_server', 'CREATE DATABASE store_platform']) {
      await valuesOf(postgres, sql)
    }
    await migrate(administrator)
    await valuesOf(
      administrator,
      `INSERT INTO "Identity" ("email", "passwordHash", "createdAt") VALUES ('kept', '', now())`,
    )
    return { administrator, stop: () => ended(holder), abandon: () => killed(holder) }
  }

  async function expectHandedOver(url: string): Promise<void> {
    const owners = `
      SELECT DISTINCT relowner::regrole::text FROM pg_class WHERE relnamespace = 'public'::regnamespace
      UNION SELECT proowner::regrole::text FROM pg_proc p WHERE pronamespace = 'public'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')`
    expect(await valuesOf(url, owners)).toEqual(['store_server'])
    expect(await valuesOf(url, 'SELECT "email" FROM "Identity"')).toEqual(['kept'])
  }
})

describe('after kill -9', () => {
  beforeEach(copyPrepared)

  test('of the process, the next start uses the server that lives on, with every committed record', async () => {
    const { url, process: holder } = await hold()
    await remember(url, 'committed')
    await killed(holder)
    const pid = await postmasterPid()

    const next = await start()

    expect(await remembered(next.url)).toEqual(['committed'])
    expect(await postmasterPid()).toBe(pid)
  })

  test('of process and server, the next start recovers every committed record', async () => {
    const { url, process: holder } = await hold()
    await remember(url, 'committed')
    await killed(holder)
    process.kill(await postmasterPid(), 'SIGKILL')

    const next = await start()

    expect(await remembered(next.url)).toEqual(['committed'])
  })

  test('of the server, it comes back under the same address, still held by the same process', async () => {
    const { url, stop } = await start()
    await remember(url, 'committed')

    process.kill(await postmasterPid(), 'SIGKILL')

    await vi.waitFor(async () => expect(await remembered(url)).toEqual(['committed']), { timeout: 20_000 })
    const locks = `SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory'`
    await vi.waitFor(async () => expect(await valuesOf(url, locks)).toEqual([1]), { timeout: 20_000 })
    expect((await hold()).line).toMatch('in use')
    await stop()
    expect(existsSync(pidFile())).toBe(false)
  })

  test('of the server, every statement until it is back is refused as one to repeat', async () => {
    const { url } = await start()
    const db = connect(url)
    const ask = () => answerOf(db)
    await Promise.all([ask(), ask(), ask()])
    process.kill(await postmasterPid(), 'SIGKILL')

    const answers: unknown[] = []
    while (answers.slice(-3).some((answer) => answer !== 'answered') || !answers.includes('unavailable')) {
      answers.push(...(await Promise.all([ask(), ask(), ask()])))
    }

    expect([...new Set(answers)].sort()).toEqual(['answered', 'unavailable'])
    await db.$disconnect()
  })

  test('of the server, that it has made no new socket yet is such a refusal too', async () => {
    const db = connect(`postgresql://user:password@localhost/none?host=${encodeURIComponent(temporary)}`)

    expect(await answerOf(db)).toBe('unavailable')
  })

  function answerOf(db: Db): Promise<unknown> {
    return db.$queryRaw`SELECT 1`.then(
      () => 'answered',
      (error) => outageOf(error)?.code ?? error,
    )
  }

  test.each([
    // Not this process: PostgreSQL does not mind its own ancestors.
    { note: "another program's process id", first: () => String(process.ppid) },
    { note: 'a process id that nobody has', first: () => '4194304' },
  ])('of both, $note in the note that the server left does not keep it from starting', async ({ first }) => {
    const { url, process: holder } = await hold()
    await remember(url, 'committed')
    await killed(holder)
    process.kill(await postmasterPid(), 'SIGKILL')
    for (const file of [pidFile(), join(dataDir, 'postgres', '.s.PGSQL.5432.lock')]) {
      await writeFile(file, (await readFile(file, 'utf8')).replace(/^\d+/, first()))
    }

    const next = await start()

    expect(await remembered(next.url)).toEqual(['committed'])
  })

  test('of both, a child of the server that still works on the folder is waited for', async () => {
    const { url, process: holder } = await hold()
    const child = await openClient(url)
    const [pid] = (await child.query('SELECT pg_backend_pid() AS "pid"')).rows.map((row) => row.pid)
    const settled = vi.fn()
    child.query('SELECT count(*) FROM generate_series(1, 15000000)').then(settled, settled)
    await vi.waitFor(async () =>
      expect(await valuesOf(url, `SELECT state FROM pg_stat_activity WHERE pid = ${pid}`)).toEqual(['active']),
    )
    await killed(holder)
    process.kill(await postmasterPid(), 'SIGKILL')
    await writeFile(pidFile(), (await readFile(pidFile(), 'utf8')).replace(/^\d+/, String(process.ppid)))

    await start()

    expect(settled).toHaveBeenCalled()
  })
})

describe('one clear line says what to do', () => {
  test('when the data folder cannot be made', async () => {
    await writeFile(join(dataDir, 'file'), '')

    await refused(startEmbedded({ dataDir: join(dataDir, 'file', 'data') }), /cannot be written.*DATA_DIR/)
  })

  test('when something else lies where the database should', async () => {
    await mkdir(join(dataDir, 'postgres'))

    await refused(startEmbedded({ dataDir }), /is not a database folder that this server made.*DATA_DIR/)
  })

  test('when PostgreSQL does not start, with its reason', async () => {
    await copyPrepared()
    await writeFile(join(dataDir, 'postgres', 'data', 'PG_VERSION'), '9\n')

    await refused(startEmbedded({ dataDir }), /initialized by PostgreSQL version 9.*DATABASE_URL/)
  })

  test("when PostgreSQL's programs for this machine are not there", async () => {
    const arch = Object.getOwnPropertyDescriptor(process, 'arch') as PropertyDescriptor
    Object.defineProperty(process, 'arch', { ...arch, value: 'riscv64' })
    try {
      await refused(startEmbedded({ dataDir }), /-riscv64 .*not installed.*npm ci.*DATABASE_URL/)
    } finally {
      Object.defineProperty(process, 'arch', arch)
    }
  })
})

describe('users', () => {
  test('an ordinary user starts it below a folder that nobody else may enter', async ({ skip }) => {
    skip(process.getuid?.() !== 0, 'this run is an ordinary user, as all other tests show')
    skip(!canRun(nobody), 'the user nobody cannot reach this project')
    await chown(dataDir, nobody.uid, nobody.gid)

    const { url, line } = await hold(nobody)

    expect(line).toMatch('postgresql://')
    await remember(url, 'kept')
    await ended(holders.pop() as ChildProcess)
    expect(await stat(join(dataDir, 'postgres'))).toMatchObject(nobody)

    const asRoot = await start()

    expect(await remembered(asRoot.url)).toEqual(['kept'])
  })

  test('an ordinary user is told of a folder that is not theirs', async ({ skip }) => {
    skip(process.getuid?.() !== 0, 'only root can make a folder that belongs to another')
    skip(!canRun(nobody), 'the user nobody cannot reach this project')
    await mkdir(join(dataDir, 'postgres'))
    await chown(dataDir, nobody.uid, nobody.gid)

    const { line } = await hold(nobody)

    expect(line).toMatch(/belongs to another user.*DATA_DIR/)
  })
})

/** Half the time of a start is the making of the folder. */
async function copyPrepared(): Promise<void> {
  await promisify(execFile)('cp', ['-a', join(prepared, 'postgres'), dataDir])
}

/** Stopped after the test, whatever becomes of that. */
async function start(): Promise<Embedded> {
  const embedded = await startEmbedded({ dataDir })
  started.push(embedded)
  return embedded
}

interface Held {
  readonly process: ChildProcess
  readonly line: string
  /** Empty when it was refused. */
  readonly url: string
}

/** Another process on the same folder. */
async function hold(user: Partial<typeof nobody> = {}): Promise<Held> {
  const child = spawn(process.execPath, [holdFile, dataDir], { stdio: ['pipe', 'pipe', 'inherit'], ...user })
  holders.push(child)
  const [line = ''] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { process: child, line, url: line.startsWith('postgresql:') ? line : '' }
}

function canRun(user: typeof nobody): boolean {
  return spawnSync(process.execPath, ['--check', holdFile], { ...user, cwd: '/' }).status === 0
}

async function ended(holder: ChildProcess): Promise<void> {
  if (holder.exitCode !== null || holder.signalCode !== null) return
  holder.stdin?.end()
  await once(holder, 'exit')
}

async function killed(holder: ChildProcess): Promise<void> {
  holder.kill('SIGKILL')
  await once(holder, 'exit')
}

function pidFile(): string {
  return join(dataDir, 'postgres', 'data', 'postmaster.pid')
}

async function postmasterPid(): Promise<number> {
  const pid = Number.parseInt(await readFile(pidFile(), 'utf8'), 10)
  if (!(pid > 1)) throw new Error('No server runs')
  return pid
}

async function modeOf(name: string): Promise<string> {
  const { mode } = await stat(join(dataDir, 'postgres', name))
  return (mode & 0o777).toString(8)
}

async function refused(starting: Promise<unknown>, message: RegExp): Promise<void> {
  const error = await starting.then(
    () => expect.unreachable(),
    (reason: Error) => reason,
  )
  expect(error).toMatchObject({ name: 'StartupError', message: expect.stringMatching(message) })
  expect(error.message).not.toContain('\n')
}

async function remember(url: string, text: string): Promise<void> {
  await valuesOf(url, 'CREATE TABLE "memory" ("text" text)')
  await valuesOf(url, `INSERT INTO "memory" VALUES ('${text}')`)
}

function remembered(url: string): Promise<unknown[]> {
  return valuesOf(url, 'SELECT "text" FROM "memory"')
}

/** The first column. */
async function valuesOf(url: string, sql: string): Promise<unknown[]> {
  const client = await openClient(url)
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows.map(([value]) => value)
  } finally {
    await client.end()
  }
}
