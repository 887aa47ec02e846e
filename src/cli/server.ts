import { request } from 'undici'
import { readOperatorKey, readSandboxFile } from '../foundation/process/data-folder.ts'
import { readConfig } from '../foundation/process/settings.ts'
import { StartupError } from '../foundation/process/startup-error.ts'
import { isLoopbackHost } from '../foundation/values/loopback.ts'

/** The running server, as the operator's programs reach it, and the default store. */
export type Server = { readonly baseUrl: string; readonly operatorKey: string; readonly storeId: number }

/**
 * Finds the server by the settings that it runs under: address and key as set, else as in its data folder.
 * Throws StartupError for what is missing.
 */
export async function findServer(environment: NodeJS.ProcessEnv): Promise<Server> {
  const config = readConfig(environment)
  const sandbox = await readSandboxFile(config.dataDir)
  const isAddressSet = config.publicUrl !== readConfig({}).publicUrl
  const operatorKey = config.operatorKey ?? sandbox?.operatorKey ?? (await readOperatorKey(config.dataDir))
  if (operatorKey === null) {
    throw new StartupError(
      `There is no operator key: give OPERATOR_KEY, or the server's DATA_DIR (${config.dataDir} has none). Has the server been started?`,
    )
  }
  const baseUrl = isAddressSet ? config.publicUrl : (sandbox?.baseUrl ?? config.publicUrl)
  return { baseUrl, operatorKey, storeId: sandbox?.store.id ?? 1 }
}

const PROBE_MS_MAX = 10_000
const PROBE_BYTES_MAX = 64 * 1024

/**
 * Throws StartupError unless the address leads to a server of this kind. Asks without the key, which another server, or a host of
 * the domain before this one, must not get. Takes ten seconds at most to connect, and as long for the answer.
 */
export async function requireOwnServer({ baseUrl }: Server): Promise<void> {
  const limits = { headersTimeout: PROBE_MS_MAX, bodyTimeout: PROBE_MS_MAX }
  const found = await request(`${baseUrl}/admin/stores`, { ...limits, signal: AbortSignal.timeout(2 * PROBE_MS_MAX) })
    .then(async ({ statusCode, body }) => ({ statusCode, isOwn: readRefusal(await begin(body)).isOwn }))
    .catch((error: NodeJS.ErrnoException) => error)
  if (!(found instanceof Error)) {
    if (found.isOwn) return
    throw elsewhere(baseUrl, `something else answers there, with status ${found.statusCode}`)
  }
  const { code = '', message } = found
  // Whoever calls this machine by its own address has no DNS to look at.
  if (code === 'ECONNREFUSED' && isLoopbackHost(new URL(baseUrl).hostname)) throw notListening(baseUrl)
  if (code === 'ENOTFOUND') throw elsewhere(baseUrl, 'the DNS does not know its name')
  // OpenSSL's messages are places in its source.
  throw elsewhere(baseUrl, /^(EPROTO|ERR_SSL)/.test(code) ? `it does not speak TLS (${code})` : message || code)
}

function elsewhere(baseUrl: string, reason: string): StartupError {
  return new StartupError(
    `PUBLIC_URL (${baseUrl}) does not lead to this server yet: ${reason}. Start the server and its proxy, and see "Going live" in docs/operations.md for the name and its certificate`,
  )
}

async function begin(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    length += chunk.length
    if (length > PROBE_BYTES_MAX) break
  }
  return Buffer.concat(chunks).toString()
}

/** Reads the number of `--store 2`. Throws StartupError for anything else. */
export function readStoreId(given: string): number {
  if (/^[1-9]\d{0,9}$/.test(given)) return Number(given)
  throw new StartupError(`--store ${given} is not the number of a store; allowed: a whole number from 1`)
}

/** An answer other than 200 and 201. */
export class Refusal extends StartupError {
  /** The part of the request that it names; empty: none. */
  readonly field: string
  readonly status: number
  constructor(status: number, { message, field }: { message: string; field: string }) {
    super(`The server answered ${status}: ${message}`)
    this.status = status
    this.field = field
  }
}

/** No server answers at the address. */
export class NotListening extends StartupError {}

/** The request may have been carried out. */
export class LostAnswer extends StartupError {}

/**
 * Calls one of the operator's routes and returns the answer's body. Throws Refusal for every answer but 200 and 201,
 * LostAnswer when none arrives, and another StartupError when no server listens.
 */
export async function callServer(
  { baseUrl, operatorKey }: Server,
  path: string,
  options: Pick<NonNullable<Parameters<typeof request>[1]>, 'method' | 'headers' | 'body'> = {},
) {
  const headers = { authorization: `Bearer ${operatorKey}`, ...options.headers }
  // An import or export may take hours, and may be silent while it works.
  const answer = await request(`${baseUrl}${path}`, { ...options, headers, headersTimeout: 0, bodyTimeout: 0 }).catch(
    ({ code, message }: NodeJS.ErrnoException) => {
      if (code !== 'ECONNREFUSED' && code !== 'ENOTFOUND') {
        throw new LostAnswer(`The server at ${baseUrl} cannot be reached (${message})`)
      }
      throw notListening(baseUrl)
    },
  )
  const { statusCode } = answer
  if (statusCode === 200 || statusCode === 201) return answer.body
  throw new Refusal(statusCode, readRefusal(await answer.body.text()))
}

function notListening(baseUrl: string): StartupError {
  return new NotListening(`No server answers at ${baseUrl}. Start it: npm start`)
}

/** Message and field of an error body; any other body, which is not this server's own, shortened. */
function readRefusal(body: string): { message: string; field: string; isOwn: boolean } {
  try {
    const [item] = JSON.parse(body) as { Message?: string; Value?: string }[]
    if (typeof item?.Message === 'string') return { message: item.Message, field: item.Value ?? '', isOwn: true }
  } catch {}
  return { message: body.slice(0, 200), field: '', isOwn: false }
}
