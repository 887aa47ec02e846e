import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import { Connection, queryWithin, reasonOf } from './connection.ts'
import { knownMigrations } from './migration.ts'
import { moveFault } from './moved.ts'
import { databaseError, isOfMove, Outage, READ_ONLY } from './outage.ts'
import type { Query } from './query.ts'

/** Without any answer for this long, while some statement waits, the database is asked whether it lives. */
const QUIET_MS = 200
/** How long it has to answer: so many turns of the event loop, so that a process that was busy itself blames no one. */
const TURNS = 6
const TURN_MS = 100
/** Between two attempts to reach a database that does not answer. */
const RETRY_MS = 200
/** A change is written to disk, and perhaps to a second server, before it is answered. */
const CHANGE_MS_MAX = 2_000
/** How long an answer of the database about itself holds. */
const FRESH_MS = 250
/** A change that failed for want of disk tells of the next ones for this long. */
const EVIDENCE_MS = 1_000
/** Between two lines of the log that stand for all changes refused because the store is moved. */
const REFUSAL_EVERY_MS = 60_000
/** Shows settings that apply only to new connections. */
const CONNECTION_LIFE_S = 5

const silent = 'the database does not answer'

interface HealthLog {
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** Any error that PostgreSQL itself sends is an answer; these say that it cannot work yet, or any more. */
const notServing = /^(08|57P0[1235])/

/** What a process knows of its database, from a connection of its own. Reasons are without internals. */
export class DatabaseHealth {
  /** One connection answers for reads. A second one is for changes, which may hang where reads do not. */
  readonly #pool: pg.Pool
  readonly #log: HealthLog
  readonly #waiting = new Set<{ readonly sinceMs: number; readonly giveUp: () => void }>()
  readonly #recovered: (() => void)[] = []
  readonly #wanted = knownMigrations()
  readonly #known = { reads: memoized(() => this.#readFault()), changes: memoized(() => this.#changeFault()) }
  readonly #database: Query = { query: (text, values) => this.#query(text, values) }
  #answeredAtMs = 0
  #evidence = { reason: '', atMs: Number.NEGATIVE_INFINITY }
  #refusalLoggedAtMs = Number.NEGATIVE_INFINITY
  #watching: NodeJS.Timeout | undefined
  /** Resolves with whether the database answers. Undefined: nobody has asked, or it has answered since. */
  #asked: Promise<boolean> | undefined
  /** The circuit is open. */
  #isSilent = false
  #openings = 0
  #isStopped = false

  constructor(url: string, log: HealthLog) {
    this.#log = log
    this.#pool = new pg.Pool({
      Client: Connection,
      connectionString: url,
      max: 2,
      connectionTimeoutMillis: CHANGE_MS_MAX,
      maxLifetimeSeconds: CONNECTION_LIFE_S,
      allowExitOnIdle: true,
    })
    this.#pool.on('error', () => {})
  }

  /**
   * Runs a statement. Throws an `Outage` instead of running it while the database does not answer, and as soon as it
   * has not answered anything for about a second, so that no request waits longer for a database that hangs.
   */
  guard<T>(statement: () => Promise<T>): Promise<T> {
    return this.#isSilent ? Promise.reject(unanswered()) : this.watch(statement)
  }

  /** As `guard`, but always sends the statement: in a transaction the next user of the connection relies on it. */
  watch<T>(statement: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const waiting = { sinceMs: performance.now(), giveUp: () => reject(unanswered()) }
    const end = (error?: unknown) => {
      this.#waiting.delete(waiting)
      if (isAnswer(error)) this.#answeredAtMs = performance.now()
      else this.#ask()
      if (error !== undefined) this.#note(error)
    }
    this.#waiting.add(waiting)
    const answer = statement()
    answer.then(() => end(), end)
    answer.then(resolve, reject)
    // The circuit is open: stop waiting for the result.
    if (this.#isSilent) waiting.giveUp()
    this.#watching ??= setInterval(() => this.#lookAtWaiting(), QUIET_MS / 2).unref()
    return promise
  }

  /** Calls `listener` whenever the database answers again. What was connected to it before may lead nowhere. */
  onRecovery(listener: () => void): void {
    this.#recovered.push(listener)
  }

  /** Whether the database answers now. Asks it, unless it is known not to, so that an answer takes a moment. */
  async answers(): Promise<boolean> {
    return this.#isStopped || this.#ask()
  }

  /** Why reads, or changes, cannot be served now; null: they can. Asks the database at most four times a second. */
  async fault(of: 'reads' | 'changes'): Promise<string | null> {
    const fault = await this.#known.reads()
    if (fault !== null || of === 'reads') return fault
    if (performance.now() - this.#evidence.atMs < EVIDENCE_MS) return this.#evidence.reason
    return this.#known.changes()
  }

  /** Whether statements are refused now, because the database does not answer, and how often that began. */
  breaker(): { isOpen: boolean; openings: number } {
    return { isOpen: this.#isSilent, openings: this.#openings }
  }

  /** Stops asking, and closes the connection. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#watching)
    await this.#pool.end()
  }

  #lookAtWaiting(): void {
    const [oldest] = this.#waiting
    if (oldest === undefined) {
      clearInterval(this.#watching)
      this.#watching = undefined
    } else if (performance.now() - Math.max(oldest.sinceMs, this.#answeredAtMs) >= QUIET_MS) this.#ask()
  }

  /** Opens the circuit unless the database answers in time, and closes it when it answers again. */
  #ask(): Promise<boolean> {
    this.#asked ??= this.#silence().then((error) => {
      if (error === null || this.#isStopped) this.#asked = undefined
      else this.#waitForAnswer(error)
      return error === null
    })
    return this.#asked
  }

  /** The two lines of an outage. Whatever else fails for it is logged only for debugging (outage-lines.ts). */
  async #waitForAnswer(error: Error): Promise<void> {
    const sinceMs = performance.now()
    this.#log.error({ reason: reasonOf(error) }, silent)
    this.#isSilent = true
    this.#openings++
    do {
      for (const { giveUp } of this.#waiting) giveUp()
      await delay(RETRY_MS, undefined, { ref: false })
    } while (!this.#isStopped && (await this.#silence()) !== null)
    if (this.#isStopped) return
    const seconds = Math.round((performance.now() - sinceMs) / 100) / 10
    this.#log.warn({ seconds }, 'the database answers again')
    for (const listener of this.#recovered) listener()
    this.#isSilent = false
    this.#asked = undefined
  }

  /** Null when the database answers this question, or any statement meanwhile; otherwise why not. */
  async #silence(): Promise<Error | null> {
    const askedAtMs = performance.now()
    const asked = this.#question().then(
      () => true,
      (error: Error) => error,
    )
    for (let turn = 0; turn < TURNS; turn++) {
      const answer = await Promise.race([asked, delay(TURN_MS, false, { ref: false })])
      // Lets what has arrived meanwhile be read.
      await nextTurn()
      if (answer === true) this.#answeredAtMs = performance.now()
      if (this.#answeredAtMs > askedAtMs) return null
      if (answer instanceof Error) return answer
    }
    return new Error(`No answer within ${TURNS * TURN_MS} ms`)
  }

  /** Any answer will do, an error too. Its connection may have been closed since the last question, so there is a second one. */
  async #question(): Promise<void> {
    const ask = () =>
      this.#query('SELECT 1').catch((error) => {
        if (!isAnswer(error)) throw error
      })
    await ask().catch(ask)
  }

  async #query<T extends object>(text: string, values: readonly (string | number)[] = []): Promise<T[]> {
    const client = await this.#pool.connect()
    try {
      const { rows } = await queryWithin(client, { text, values: [...values] }, CHANGE_MS_MAX)
      client.release()
      return rows
    } catch (error) {
      client.release(true)
      throw error
    }
  }

  async #readFault(): Promise<string | null> {
    if (this.#isSilent) return silent
    const query = `SELECT "migration_name" AS "name" FROM "_prisma_migrations"
      WHERE "finished_at" IS NOT NULL AND "rolled_back_at" IS NULL`
    try {
      const rows = await this.#query<{ name: string }>(query)
      const applied = new Set(rows.map(({ name }) => name))
      if (!this.#wanted.every((name) => applied.has(name))) return 'migrations are not applied'
      return await moveFault(this.#database, 'reads')
    } catch (error) {
      const { code = '', message } = error as { code?: string; message: string }
      // Others hold all connections; requests have theirs.
      if (code === TOO_MANY_CONNECTIONS) return null
      return error instanceof Outage || /timeout/.test(message) ? `${silent} in time` : silent
    }
  }

  async #changeFault(): Promise<string | null> {
    try {
      const text = `SELECT pg_is_in_recovery() AS "isStandby", current_setting('transaction_read_only')::boolean AS "isReadOnly"`
      const [row] = await this.#query<{ isStandby: boolean; isReadOnly: boolean }>(text)
      if (row?.isStandby) return 'the database is a standby, which only reads'
      if (row?.isReadOnly) return onlyReads
      const moving = await moveFault(this.#database, 'changes')
      if (moving !== null) return moving
      await this.#query(tryChange)
      return null
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (saysNothing.has(code)) return null
      return changeFaults[code] ?? 'the database stores no changes'
    }
  }

  /** Whether the database only reads, it says itself when it is asked. */
  #note(error: unknown): void {
    const atMs = performance.now()
    const { code, message: reason } = databaseError(error) ?? {}
    if (code === DISK_FULL) this.#evidence = { reason: diskFull, atMs }
    if (!isOfMove(error) || atMs - this.#refusalLoggedAtMs < REFUSAL_EVERY_MS) return
    this.#refusalLoggedAtMs = atMs
    this.#log.warn({ reason }, 'changes are refused until this server is started on the other database')
  }
}

/**
 * Commits an entry in PostgreSQL's log, and nothing else, and lets a sort use a file, so that neither a table grows nor a full disk
 * is overlooked.
 */
const tryChange = `
  BEGIN;
  SET LOCAL work_mem = '64kB';
  SELECT pg_logical_emit_message(true, 'store-platform', 'readiness');
  SELECT count(*) FROM (SELECT repeat(md5("n"::text), 128) AS "text" FROM generate_series(1, 64) AS "n" ORDER BY 1) AS "sorted";
  COMMIT`

const TOO_MANY_CONNECTIONS = '53300'

/** Errors of the attempt, not of changes: the role may not write the entry, or has no room for files. */
const saysNothing = new Set(['42501', '53400', TOO_MANY_CONNECTIONS])

const DISK_FULL = '53100'

const diskFull = 'the disk of the database is full'
const onlyReads = 'the database only reads'

const changeFaults: Readonly<Record<string, string>> = { [DISK_FULL]: diskFull, [READ_ONLY]: onlyReads }

function isAnswer(error: unknown): boolean {
  if (error === undefined) return true
  const state = databaseError(error)?.code
  return state !== undefined && !notServing.test(state)
}

function unanswered(): Outage {
  return new Outage('The database does not answer')
}

/** Runs `look` when the last result is older than 250 ms. Concurrent callers share one run. */
function memoized<T>(look: () => Promise<T>): () => Promise<T> {
  let last: { readonly result: Promise<T>; endedAtMs: number } | undefined
  return () => {
    if (last !== undefined && performance.now() - last.endedAtMs < FRESH_MS) return last.result
    const run = { result: look(), endedAtMs: Number.POSITIVE_INFINITY }
    last = run
    const end = () => {
      run.endedAtMs = performance.now()
    }
    run.result.then(end, end)
    return run.result
  }
}
