import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createPlainServer } from 'node:net'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What the server writes about its sandbox, in `sandbox.json`. */
export interface Sandbox {
  readonly store: {
    readonly id: number
    readonly secureUrl: string
    readonly email: string
    readonly password: string
    readonly userKey: string
  }
  readonly developer: { readonly email: string; readonly password: string }
  readonly application: { readonly publicKey: string; readonly privateKey: string; readonly token: string }
}

/** The server of a source tree, on a database of its own. */
export interface Server {
  readonly baseUrl: string
  readonly sandbox: Sandbox
  /** Ends the server and its database, by their ids, and removes their folder. */
  readonly stop: () => Promise<void>
}

/** A message that a webhook or a callback brought. */
export interface Message {
  readonly path: string
  readonly headers: readonly string[]
  readonly text: string
}

export const OPERATOR_KEY = 'operator-key-of-the-crawl'
/** The moment at which the server's clock starts: noon in the sandbox store, so that no crawl sees a day end. */
export const CLOCK_FROM = '2026-11-18T17:00:00Z'
const POSTGRES = '/usr/lib/postgresql/15/bin'
const NOBODY = { uid: 65_534, gid: 65_534 }
const READY_MS = 120_000

/** Starts the tree's server with the sandbox's sample store. Whatever it started has ended when it throws. */
export async function startServer(tree: string): Promise<Server> {
  const folder = await mkdtemp('/dev/shm/crawl-')
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  const endAll = async () => {
    for (const end of ends.reverse()) await end()
  }
  let ended: Promise<void> | undefined
  const stop = () => {
    ended ??= endAll()
    return ended
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop().finally(() => process.exit(1)))
  try {
    const databaseUrl = await startPostgres(folder, ends)
    const port = await freePort()
    const baseUrl = `http://127.0.0.1:${port}`
    const dataDir = join(folder, 'server')
    const child = runTree(resolve(tree), {
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      PORT: String(port),
      PUBLIC_URL: baseUrl,
    })
    ends.push(() => end(child))
    await untilReady(child, baseUrl)
    return { baseUrl, sandbox: JSON.parse(await readFile(join(dataDir, 'sandbox.json'), 'utf8')), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function runTree(tree: string, settings: Record<string, string>): ChildProcess {
  const clock = fileURLToPath(new URL('clock.js', import.meta.url))
  const env = {
    PATH: process.env.PATH,
    NODE_OPTIONS: `--import=${clock}`,
    CRAWL_CLOCK_FROM: String(Date.parse(CLOCK_FROM)),
    CRAWL_CLOCK_SINCE: String(Date.now()),
    SANDBOX: 'true',
    OPERATOR_KEY,
    SECRET_KEY: 'a secret key for this crawl alone, 32+',
    // Requests that are refused count per network; each session says that it comes from another.
    TRUST_PROXY: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
    ...settings,
  }
  return spawn(process.execPath, [join(tree, 'src/start.js')], {
    cwd: tree,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

async function untilReady(child: ChildProcess, baseUrl: string): Promise<void> {
  const until = Date.now() + READY_MS
  while (child.exitCode === null && Date.now() < until) {
    const answer = await fetch(`${baseUrl}/readyz`).catch(() => null)
    if (answer?.ok) return
    await new Promise((later) => setTimeout(later, 200))
  }
  throw new Error('The server did not become ready')
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), 40_000)
  await ended
  clearTimeout(late)
}

async function startPostgres(folder: string, ends: (() => Promise<unknown>)[]): Promise<string> {
  const user = process.getuid?.() === 0 ? NOBODY : {}
  const home = join(folder, 'postgres')
  await mkdir(home)
  await chmod(folder, 0o755)
  if (user === NOBODY) await chown(home, NOBODY.uid, NOBODY.gid)
  const data = join(home, 'data')
  const run = async (program: string, ...args: string[]) => {
    const child = spawn(join(POSTGRES, program), args, {
      cwd: home,
      stdio: 'ignore',
      env: { LC_ALL: 'C.UTF-8' },
      ...user,
    })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`${program} ended with ${code}`)
  }
  await run('initdb', '-D', data, '-U', 'store', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync')
  const port = await freePort()
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off`
  await run('pg_ctl', 'start', '-w', '-D', data, '-o', settings)
  ends.push(() => run('pg_ctl', 'stop', '-w', '-m', 'fast', '-D', data))
  return `postgresql://store@127.0.0.1:${port}/postgres`
}

async function freePort(): Promise<number> {
  const server = createPlainServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Takes whatever webhooks and callbacks bring, and answers 200. */
export async function openReceiver() {
  const messages: Message[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    messages.push({ path: request.url ?? '', headers: Object.keys(request.headers).sort(), text })
    response.writeHead(200).end('ok')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, messages, close }
}
