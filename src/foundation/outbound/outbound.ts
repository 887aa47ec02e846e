import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { addressRule, hostFault, hostnameOf, type IsAllowed, knownAddresses, urlFault } from './addresses.ts'
import { addressesInDns } from './names.ts'
import { lookupFailure, OutboundFailure, reasonOf, stopping } from './reasons.ts'

/** A request, with its limits of time and answer size. */
export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Limit for DNS, connect and TLS handshake; at most 5 s. */
  readonly connectMs: number
  /** Limit for the whole exchange, to the last byte of the answer. */
  readonly totalMs: number
  /** Bytes of the answer's body to keep; the rest is not read. */
  readonly answerBytesMax: number
}

export type OutboundAnswer =
  | {
      readonly ok: true
      /** Any status, also a redirect's: none is followed. */
      readonly status: number
      /** By lower-case name; repeated headers are joined by a comma and a blank. At most 16 kB in all. */
      readonly headers: ReadonlyMap<string, string>
      /** The body, never decompressed. `textOf` decodes it. */
      readonly bytes: Buffer
      /** Whether the body exceeded `answerBytesMax`. */
      readonly isCut: boolean
      /** Whole milliseconds. */
      readonly durationMs: number
    }
  | {
      readonly ok: false
      /** A public message without its full stop, such as `shop.example refused the connection`. */
      readonly reason: string
      readonly durationMs: number
    }

/** The body as UTF-8, invalid bytes replaced, without the part of a character at its cut end. */
export function textOf({ bytes, isCut }: Pick<Received, 'bytes' | 'isCut'>): string {
  return new TextDecoder().decode(bytes, { stream: isCut })
}

/** Sends requests to addresses that users chose: only public ones, checked on the address that is connected to. */
export interface Outbound {
  /** Never rejects because of the address or the receiver: a failure is an answer. At most 1,000 at a time. */
  send(request: OutboundRequest): Promise<OutboundAnswer>
  /**
   * Returns why `url` can never be called, as a sentence without its subject (`Fault.problem`), such as `must not hold
   * a user name or password`, or null. For an address that is being saved: only calls look up names.
   */
  addressFault(url: string): string | null
  /** Ends pending requests with a failure. Afterwards nothing can be sent. */
  close(): Promise<void>
}

export interface OutboundOptions {
  /** Addresses and CIDR blocks that are allowed although they are not public. */
  readonly allow: readonly string[]
  /** Returns all addresses of a host name, at least one. Default: DNS. */
  readonly lookup?: Lookup
  /** Logs names without a public address, with their addresses, which reasons omit. */
  readonly log?: { info(details: object, message: string): void }
}

type Lookup = (hostname: string) => Promise<readonly string[]>

/** The connect timeout of all requests. */
const CONNECT_MS_MAX = 5_000
/** Addresses tried per name, and the time for each but the last: a distant one needs more than Node's 250 ms. */
const ADDRESSES_TRIED_MAX = 16
const ADDRESS_TRIED_MS = 1_000
/** Shorter than receivers keep connections, so that no request uses one that is about to close. */
const KEEP_ALIVE_MS = 1_000
/** The maximum age of a connection, so that changes in DNS take effect. */
const CONNECTION_LIFE_MS = 60_000
const ANSWER_HEADERS_BYTES_MAX = 16_384
/** Interim answers (RFC 9110 §15.2) before the final one. */
const INTERIM_ANSWERS_MAX = 10
const UNDER_WAY_MAX = 1_000

export function createOutbound({ allow, lookup = addressesInDns, log }: OutboundOptions): Outbound {
  const isAllowed = addressRule(allow)
  let agent: Promise<Agent> | undefined
  let isClosed = false
  let underWay = 0

  async function answerTo(request: OutboundRequest): Promise<Received | Failed> {
    const fault = urlFault(request.url)
    if (fault !== null) return { ok: false, reason: `The address ${fault}` }
    if (underWay >= UNDER_WAY_MAX)
      return { ok: false, reason: 'Too many requests are under way; try again in a moment' }
    if (isClosed) return { ok: false, reason: stopping }
    underWay += 1
    const url = new URL(request.url)
    try {
      agent ??= openAgent({ isAllowed, lookup, log })
      return await exchange(await agent, url, request)
    } catch (error) {
      const reason = reasonOf(error, hostnameOf(url))
      if (reason === null) throw error
      return { ok: false, reason }
    } finally {
      underWay -= 1
    }
  }

  return {
    async send(request) {
      const startedAt = performance.now()
      const answer = await answerTo(request)
      return { ...answer, durationMs: Math.round(performance.now() - startedAt) }
    },
    addressFault: (url) => urlFault(url) ?? hostFault(hostnameOf(new URL(url)), isAllowed),
    async close() {
      isClosed = true
      await (await agent)?.destroy()
    },
  }
}

/** Loads undici now, because a process that calls nobody has 3 MB less without it. It takes 60 ms once. */
async function openAgent(guard: Guard): Promise<Agent> {
  const { Agent, buildConnector } = await import('undici')
  return new Agent({
    connect: guardedConnector(guard, buildConnector),
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    clientTtl: CONNECTION_LIFE_MS,
    maxHeaderSize: ANSWER_HEADERS_BYTES_MAX,
    // Each exchange has its own overall time limit.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

interface Guard {
  readonly isAllowed: IsAllowed
  readonly lookup: Lookup
  readonly log: OutboundOptions['log']
}

/**
 * Connects only to allowed addresses. The lookup returns checked addresses instead of a name, so that they cannot
 * change between check and connection.
 */
function guardedConnector(guard: Guard, build: typeof buildConnector): buildConnector.connector {
  const connect = build({
    lookup: guardedLookup(guard),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TRIED_MS,
    timeout: CONNECT_MS_MAX,
    allowH2: false,
    // Even if NODE_TLS_REJECT_UNAUTHORIZED is 0. No session is kept, because nothing of a connection outlives it.
    rejectUnauthorized: true,
    maxCachedSessions: 0,
  })
  return (options, callback) => {
    // A literal address needs no lookup.
    const fault = hostFault(options.hostname, guard.isAllowed)
    if (fault === null) connect(options, callback)
    else queueMicrotask(() => callback(new OutboundFailure(`The address ${fault}`), null))
  }
}

function guardedLookup(guard: Guard): LookupFunction {
  return (hostname, _options, callback) => {
    allowedAddresses(hostname, guard).then(
      (addresses) => callback(null, addresses),
      (error) => callback(error, []),
    )
  }
}

/** Returns at least one. */
async function allowedAddresses(hostname: string, { isAllowed, lookup, log }: Guard): Promise<LookupAddress[]> {
  const failed = (error: unknown) => Promise.reject(lookupFailure(error, hostname))
  const addresses = knownAddresses(hostname) ?? (await lookup(hostname).catch(failed))
  const allowed = addresses.filter(isAllowed).slice(0, ADDRESSES_TRIED_MAX)
  if (allowed.length === 0) {
    log?.info({ hostname, addresses: addresses.slice(0, ADDRESSES_TRIED_MAX) }, 'a name leads to no public address')
    throw new OutboundFailure(`${hostname} does not lead to a public address`)
  }
  return allowed.map((address) => ({ address, family: isIP(address) }))
}

type Received = Omit<Extract<OutboundAnswer, { ok: true }>, 'durationMs'>
type Failed = Omit<Extract<OutboundAnswer, { ok: false }>, 'durationMs'>

/** An answer as it arrives. */
class Answer {
  readonly #chunks: Buffer[] = []
  #interimAnswers = 0
  #head: Pick<Received, 'status' | 'headers'> = { status: 0, headers: new Map() }
  #bytesLeft: number

  constructor(bytesMax: number) {
    this.#bytesLeft = bytesMax
  }

  /** Returns false for one interim answer too many. */
  start(status: number, fields: Readonly<Record<string, string | string[] | undefined>>): boolean {
    const headers = Object.entries(fields).map(([name, value = '']) => [name, [value].flat().join(', ')] as const)
    this.#head = { status, headers: new Map(headers) }
    return status >= 200 || ++this.#interimAnswers <= INTERIM_ANSWERS_MAX
  }

  /** Returns the answer as far as it is kept once that is exceeded; until then null. */
  take(chunk: Buffer): Received | null {
    const isCut = chunk.length > this.#bytesLeft
    this.#chunks.push(chunk.subarray(0, this.#bytesLeft))
    this.#bytesLeft -= chunk.length
    return isCut ? this.end(isCut) : null
  }

  end(isCut = false): Received {
    return { ok: true, ...this.#head, bytes: Buffer.concat(this.#chunks), isCut }
  }
}

/** Rejects without a complete and valid answer in time. */
function exchange(agent: Agent, url: URL, request: OutboundRequest): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>()
  const { connectMs, totalMs } = request
  const connecting = setTimeout(giveUp, connectMs, `No connection to ${hostnameOf(url)} within ${seconds(connectMs)}`)
  const answering = setTimeout(giveUp, totalMs, `No complete answer within ${seconds(totalMs)}`)
  const answer = new Answer(request.answerBytesMax)
  let controller: Dispatcher.DispatchController | undefined
  let isGivenUp = false

  function giveUp(reason: string): void {
    isGivenUp = true
    const failure = new OutboundFailure(reason)
    reject(failure)
    controller?.abort(failure)
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      clearTimeout(connecting)
      controller = started
      // Without a connection, `giveUp` had nothing to abort.
      if (isGivenUp) controller.abort(new OutboundFailure('Given up before it was sent'))
    },
    onResponseStart(_, status, headers) {
      if (!answer.start(status, headers)) giveUp('The answer is not valid HTTP')
    },
    onResponseData(_, chunk) {
      const cut = answer.take(chunk)
      if (cut === null) return
      resolve(cut)
      controller?.abort(new OutboundFailure('The rest of the answer is not read'))
    },
    onResponseEnd: () => resolve(answer.end()),
    onResponseError: (_, error) => reject(error),
  }

  const { origin, pathname, search } = url
  const sent = { method: request.method, body: request.body ?? null }
  const wanted = { 'accept-encoding': 'identity', ...request.headers }
  agent.dispatch({ origin, path: pathname + search, headers: wanted, ...sent }, handler)
  return promise.finally(() => {
    clearTimeout(connecting)
    clearTimeout(answering)
  })
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`
}
