import { AsyncLocalStorage } from 'node:async_hooks'
import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import type { DatabaseHealth } from './health.ts'
import { cutConnection } from './limits.ts'
import { Outage } from './outage.ts'
import type { Sql } from './sql.ts'

// Prisma's adapter for pg, with what this application adds: statements that take turns and end with the database, statements
// past Prisma, and clients that share one data model.

export type Guard = Pick<DatabaseHealth, 'guard' | 'watch' | 'onRecovery'>

/** Runs a statement past Prisma, whose way around a statement costs more than most statements. */
export type RunStatement = (statement: Sql) => Promise<pg.QueryResult>

/** Runs a statement outside of transactions. */
export type RunSingle = <T>(statement: () => Promise<T>) => Promise<T>

/** The adapter of a client beside another, for what it runs. Absent: that of the other. */
export const adapters = new AsyncLocalStorage<Adapter | undefined>()

/** The transaction that is being started, until it has its connection, and then how it runs a statement. */
export const starting = new AsyncLocalStorage<{ run?: RunStatement }>()

export type Prepare = (statement: Sql) => { name: string; text: string; values: unknown[] }

interface Guards {
  readonly health: Guard
  readonly single: RunSingle
  readonly prepare: Prepare
}

/** An adapter whose statements take turns, and end at once while the database does not answer. */
export class GuardedPg extends PrismaPg {
  readonly #guards: Guards

  constructor(guards: Guards, ...args: ConstructorParameters<typeof PrismaPg>) {
    super(...args)
    this.#guards = guards
  }

  override async connect() {
    const { health, single, prepare } = this.#guards
    const adapter = await super.connect()
    const start = adapter.startTransaction.bind(adapter)
    adapter.startTransaction = async (level) => {
      let started: ReturnType<typeof start> | undefined
      const begin = () => {
        started = start(level)
        return started
      }
      const transaction = await health.guard(begin).catch((error) => {
        // Nobody would give back the connection of a late one.
        started?.then((late) => late.executeRaw(rollback).finally(() => late.rollback())).catch(() => {})
        throw error
      })
      const { watch, run } = watching(health, transaction, prepare)
      const opened = starting.getStore()
      // Only its own: the work of a transaction may begin another.
      if (opened) opened.run ??= run
      return guarded(transaction, watch)
    }
    return routed(guarded(adapter, single))
  }
}

/** Leaves to the adapter of a client beside this one what that client runs. */
function routed(adapter: Adapter): Adapter {
  const own = {
    queryRaw: adapter.queryRaw.bind(adapter),
    executeRaw: adapter.executeRaw.bind(adapter),
    startTransaction: adapter.startTransaction.bind(adapter),
  }
  const current = () => {
    const other = adapters.getStore()
    return other === undefined || other === adapter ? own : other
  }
  adapter.queryRaw = (statement) => current().queryRaw(statement)
  adapter.executeRaw = (statement) => current().executeRaw(statement)
  adapter.startTransaction = (level) => current().startTransaction(level)
  return adapter
}

/** Cuts the connection of a transaction when a statement of it is given up: it may end later, under another user of the pool. */
function watching(health: Guard, transaction: Awaited<ReturnType<Adapter['startTransaction']>>, prepare: Prepare) {
  const { client } = transaction as unknown as { client: pg.ClientBase }
  const release = transaction.rollback.bind(transaction)
  let isGivenUp = false
  let isOver = false
  const releaseOrCut = async () => {
    isOver = true
    if (isGivenUp) cutConnection(client)
    await release()
  }
  const executeRaw = transaction.executeRaw.bind(transaction)
  const ending: typeof executeRaw = (statement) => {
    isOver ||= statement.sql === 'COMMIT' || statement.sql === 'ROLLBACK'
    return executeRaw(statement)
  }
  Object.assign(transaction, { executeRaw: ending, commit: releaseOrCut, rollback: releaseOrCut })
  const watch = <T>(statement: () => Promise<T>) =>
    health.watch(statement).catch((error) => {
      isGivenUp ||= error instanceof Outage
      throw error
    })
  const run: RunStatement = async (statement) => {
    // Prisma has ended it for its time. Somebody else may have the connection.
    if (isOver) throw new Outage('The transaction took longer than its time limit')
    return watch(() => client.query(prepare(statement)))
  }
  return { watch, run }
}

const rollback = { sql: 'ROLLBACK', args: [], argTypes: [] }

export type Adapter = Awaited<ReturnType<PrismaPg['connect']>>
type Statements = Pick<Adapter, 'queryRaw' | 'executeRaw'>

function guarded<S extends Statements>(statements: S, guard: DatabaseHealth['guard']): S {
  const query = statements.queryRaw.bind(statements)
  const execute = statements.executeRaw.bind(statements)
  statements.queryRaw = (statement) => guard(() => query(statement))
  statements.executeRaw = (statement) => guard(() => execute(statement))
  return statements
}
