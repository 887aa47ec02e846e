import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, type Dispatcher, request } from 'undici'
import { StartupError } from '../../foundation/process/startup-error.ts'
import { isLoopbackHost } from '../../foundation/values/loopback.ts'
import { Pace, secondsToWait } from './pace.ts'

/** Time limit for the headers, and between two chunks of the body. */
const SILENCE_MS_MAX = 120_000
/** A page of full orders takes a tenth of it. */
const BODY_BYTES_MAX = 256 * 1024 * 1024

/** How long a failing request is retried. */
const FAILING_MS_MAX = 3_600_000

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** Sends requests to a source at the pace of its bucket, and retries failures. Does not follow redirects, which would receive the keys. */
export class Asking {
  readonly address: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #agent = new Agent({ headersTimeout: SILENCE_MS_MAX, bodyTimeout: SILENCE_MS_MAX, connections: 1 })
  readonly #pace = new Pace()
  readonly #say: (line: string) => void
  #clockAheadMs = 0
  #hasAnswered = false

  /** `headers` go with every request. Throws StartupError for an invalid address, and for plain http to another machine. */
  constructor(address: string, headers: Readonly<Record<string, string>>, say: (line: string) => void) {
    const url = URL.parse(address)
    if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.search + url.hash !== '') {
      throw new StartupError(
        `--from ${address} is not an address; allowed: https://HOST, with a path where the source has one`,
      )
    }
    if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
      throw new StartupError(`--from ${address} must begin with https://, because keys would be sent in the clear`)
    }
    this.address = url.href.replace(/\/+$/, '')
    this.#headers = headers
    this.#say = say
  }

  /** The time of the source's clock. */
  now(): Date {
    return new Date(Date.now() + this.#clockAheadMs)
  }

  /**
   * Returns what `read` makes of the answer. Retries after 429, statuses from 500 on, lost connections and errors thrown by `read`.
   * Throws StartupError after an hour of failures, and after two while nobody has answered at the address.
   */
  async ask<T>(path: string, read: (answer: Answer) => T): Promise<T> {
    const beganMs = performance.now()
    for (let failures = 1; ; failures++) {
      const isLast = performance.now() - beganMs > FAILING_MS_MAX
      await this.#pace.take()
      let { answer, problem } = await this.#try(path)
      if (answer !== null && answer.status !== 429 && answer.status < 500) {
        try {
          return read(answer)
        } catch (error) {
          if (error instanceof StartupError) throw error
          problem = `an answer that cannot be read: ${(error as Error).message.slice(0, 100)}`
          answer = null
        }
      }
      if (answer?.status === 429) this.#pace.full()
      if (answer !== null) problem = `status ${answer.status}`
      this.#giveUpIfHopeless(path, { failures, isLast, problem })
      const seconds = secondsToWait(failures, answer?.headers)
      // Reports repeated failures only.
      if (failures > 1) this.#say(`The source failed (${problem}); the next try is in ${Math.ceil(seconds)} s`)
      await sleep(seconds * 1_000)
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  #giveUpIfHopeless(
    path: string,
    { failures, isLast, problem }: { failures: number; isLast: boolean; problem: string },
  ) {
    if (isLast) {
      const where = path.split('?')[0]
      throw new StartupError(
        `The source goes on failing at ${where} (${problem}). Run this again: it goes on where it was`,
      )
    }
    if (!this.#hasAnswered && failures > 1) {
      throw new StartupError(
        `Nobody answers at ${this.address} (${problem}). Check --from, and whether this machine may reach it`,
      )
    }
  }

  async #try(path: string): Promise<{ answer: Answer | null; problem: string }> {
    try {
      const found = await request(`${this.address}${path}`, { headers: this.#headers, dispatcher: this.#agent })
      this.#hasAnswered = true
      const answer = { status: found.statusCode, headers: found.headers, body: await textOf(found) }
      this.#pace.learn(answer.headers)
      const clockMs = Date.parse(String(answer.headers.date ?? ''))
      if (Number.isFinite(clockMs)) this.#clockAheadMs = clockMs - Date.now()
      return { answer, problem: '' }
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException
      // A retry cannot help.
      if (/CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|^EPROTO|ERR_SSL/.test(code)) {
        throw new StartupError(`${this.address} has no certificate that can be trusted (${code})`)
      }
      if (code === 'ENOTFOUND') throw new StartupError(`The DNS does not know the host of ${this.address}`)
      return { answer: null, problem: code || message }
    }
  }
}

async function textOf({ headers, body }: Dispatcher.ResponseData): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > BODY_BYTES_MAX) throw new Error('an answer of more than 256 MiB')
    chunks.push(chunk)
  }
  const declared = Number(headers['content-length'] ?? length)
  if (declared !== length) throw new Error('an answer that was cut')
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
}
