import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { request } from 'undici'
import type { Server } from '../../src/cli/server.ts'
import { startEmbedded } from '../../src/foundation/embedded/embedded.ts'
import { administratorUrl } from '../../test/support/administrator.ts'
import { freePort, startCommand } from '../../test/support/run-server.ts'
import type { Stops } from './bench.ts'

export interface BenchServer extends Omit<Server, 'storeId'> {
  readonly pid: number
  readonly secretKey: string
  readonly databaseUrl: string
  /** The same server as its superuser. */
  readonly administratorUrl: string
  /** Where the inspector of a server that was started with one listens. */
  readonly inspectorUrl: string | null
  /** Of PostgreSQL's first process, whose children are all others. */
  readonly postgresPid: number
  /** Starts one more process on the same database, unless the settings say otherwise. */
  readonly startAnother: (settings?: Settings) => Promise<BenchProcess>
  /** One of the operator's routes. */
  readonly post: (path: string, body: object) => Promise<Record<string, string | number>>
}

export interface BenchProcess {
  readonly pid: number
  readonly baseUrl: string
  readonly end: () => Promise<void>
}

type Settings = Readonly<Record<string, string | undefined>>

const START_TIMEOUT_MS = 120_000

/**
 * The server as `npm start` runs it, in a process of its own, with a fresh database as durable as a user's and the
 * sandbox store in it. Its log goes to a file, as a service's would.
 */
export async function startBenchServer(
  stops: Stops,
  nodeOptions: readonly string[] = [],
  settings: Settings = {},
): Promise<BenchServer> {
  const folder = await temporaryFolder(stops)
  const { url: databaseUrl, stop } = await startEmbedded({ dataDir: folder })
  await stops.add(stop)
  const database = {
    databaseUrl,
    administratorUrl: await administratorUrl(folder, databaseUrl),
    postgresPid: Number.parseInt(readFileSync(join(folder, 'postgres/data/postmaster.pid'), 'utf8'), 10),
  }
  return startOn(database, { tree: ownTree, folder, nodeOptions, settings }, stops)
}

/** The same of another tree, in a database of its own beside that of `server`. */
export async function startBenchServerBeside(server: BenchServer, tree: URL, stops: Stops): Promise<BenchServer> {
  const { administratorUrl, postgresPid } = server
  const databaseUrl = Object.assign(new URL(server.databaseUrl), { pathname: '/beside' })
  const client = new pg.Client({ connectionString: administratorUrl })
  await client.connect()
  await client.query(`CREATE DATABASE "beside" OWNER "${databaseUrl.username}"`).finally(() => client.end())
  const database = { databaseUrl: databaseUrl.href, administratorUrl, postgresPid }
  return startOn(database, { tree, folder: await temporaryFolder(stops), nodeOptions: [], settings: {} }, stops)
}

async function temporaryFolder(stops: Stops): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'store-platform-bench-'))
  await stops.add(() => rm(folder, { recursive: true, force: true }))
  return folder
}

interface Program {
  readonly tree: URL
  /** For the data and the log. */
  readonly folder: string
  readonly nodeOptions: readonly string[]
  readonly settings: Settings
}

const ownTree = new URL('../../', import.meta.url)

async function startOn(
  database: Pick<BenchServer, 'databaseUrl' | 'administratorUrl' | 'postgresPid'>,
  { tree, folder, nodeOptions, settings }: Program,
  stops: Stops,
): Promise<BenchServer> {
  const operatorKey = 'operator-key-of-a-bench'
  const secretKey = 'secret key of a bench, 32 letters or more'
  const logFile = join(folder, 'server.log')
  const { args, environment } = startCommand(tree)
  const start = async (further: Settings = {}): Promise<BenchProcess> => {
    const port = await freePort()
    const baseUrl = `http://localhost:${port}`
    const child = spawn(process.execPath, [...nodeOptions, ...args], {
      cwd: fileURLToPath(tree),
      env: {
        PATH: process.env.PATH,
        ...environment,
        PORT: String(port),
        DATA_DIR: folder,
        DATABASE_URL: database.databaseUrl,
        SANDBOX: 'true',
        OPERATOR_KEY: operatorKey,
        SECRET_KEY: secretKey,
        ...settings,
        ...further,
      },
      stdio: ['ignore', 'pipe', openSync(logFile, 'w')],
    })
    const end = () => endOf(child)
    await stops.add(end)
    await untilReady(child, baseUrl, logFile)
    return { pid: child.pid ?? 0, baseUrl, end }
  }
  const { pid, baseUrl } = await start()

  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' }
    const answer = await request(`${baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}: ${await answer.body.text()}`)
    return (await answer.body.json()) as Record<string, string | number>
  }
  const [inspectorUrl = null] = /ws:\/\/\S+/.exec(readFileSync(logFile, 'utf8')) ?? []
  return { ...database, pid, baseUrl, operatorKey, secretKey, inspectorUrl, startAnother: start, post }
}

/** The server says its address when it listens. */
async function untilReady(child: ChildProcess, baseUrl: string, logFile: string): Promise<void> {
  let output = ''
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (output.includes(baseUrl)) resolve()
  })
  const fail = () => reject(new Error(`The server did not start:\n${output}${readFileSync(logFile, 'utf8')}`))
  child.once('exit', fail)
  const timer = setTimeout(fail, START_TIMEOUT_MS)
  await promise.finally(() => clearTimeout(timer))
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
