import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres15 } from '../../test/support/postgres-15.ts'
import { freePort, temporaryFolder } from '../../test/support/run-server.ts'

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
const READY_MS = 120_000

/** Starts the tree's server with the sandbox's sample store. Whatever it started has ended when it throws. */
export async function startServer(tree: string): Promise<Server> {
  const folder = temporaryFolder()
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
    const database = await startPostgres15()
    ends.push(database.stop)
    const port = await freePort()
    const baseUrl = `http://127.0.0.1:${port}`
    const child = runTree(resolve(tree), {
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      PORT: String(port),
      PUBLIC_URL: baseUrl,
    })
    ends.push(() => end(child))
    await untilReady(child, baseUrl)
    return { baseUrl, sandbox: JSON.parse(await readFile(join(folder, 'sandbox.json'), 'utf8')), stop }
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
