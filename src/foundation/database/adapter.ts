import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type ColumnType,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlDriverAdapterFactory,
  type SqlQuery,
  type SqlResultSet,
  type Transaction,
} from '@prisma/driver-adapter-utils'
import pg from 'pg'
import { StatementError } from './outage.ts'
import type { OpenTransaction, Pool, Statement } from './pool.ts'

// What Prisma runs, on the connections of a pool.

const identity = { provider: 'postgres', adapterName: 'store-platform' } as const

/** Who lets Prisma begin a transaction runs inside, and is given the transaction: Prisma hands out only its own view of it. */
export const beginning = new AsyncLocalStorage<(transaction: OpenTransaction) => void>()

/** What is done inside runs on this pool, instead of that of the Prisma client. */
export const poolInstead = new AsyncLocalStorage<Pool | undefined>()

/** Lets a Prisma client run its statements on `pool`, which ends with the client. */
export function adapterOf(pool: Pool): SqlDriverAdapterFactory {
  const current = () => poolInstead.getStore() ?? pool
  const adapter: SqlDriverAdapter = {
    ...identity,
    ...statementsOn((statement) => current().run(statement)),
    startTransaction: async (isolationLevel) => {
      const transaction = await passing(current().begin())
      beginning.getStore()?.(transaction)
      // It leaves together with what follows it, and what follows fails where it does.
      if (isolationLevel) transaction.run({ text: `SET TRANSACTION ISOLATION LEVEL ${isolationLevel}` }).catch(() => {})
      return adapterOfTransaction(transaction)
    },
    executeScript: async (text) => {
      await passing(current().run({ text }))
    },
    getConnectionInfo: () => ({ supportsRelationJoins: true }),
    dispose: () => pool.end(),
  }
  return { ...identity, connect: async () => adapter }
}

/** Whose errors are known on the other side of Prisma. */
function passing<T>(result: Promise<T>): Promise<T> {
  return result.catch((error) => {
    throw new StatementError(error)
  })
}

function adapterOfTransaction(transaction: OpenTransaction): Transaction {
  return {
    ...identity,
    ...statementsOn((statement) => transaction.run(statement)),
    // Prisma leaves `COMMIT` and `ROLLBACK` to the two functions below.
    options: { usePhantomQuery: true },
    commit: () => passing(transaction.end('COMMIT')),
    rollback: () => passing(transaction.end('ROLLBACK')),
  }
}

function statementsOn(run: (statement: Statement) => Promise<pg.QueryResult>) {
  return {
    queryRaw: async (query: SqlQuery): Promise<SqlResultSet> => {
      const { fields, rows } = await passing(run({ ...statementOf(query), rowMode: 'array', types }))
      const kinds = fields.map(({ dataTypeID }) => columnTypes.get(dataTypeID) ?? ColumnTypeEnum.Text)
      return { columnNames: fields.map(({ name }) => name), columnTypes: kinds, rows }
    },
    executeRaw: async (query: SqlQuery): Promise<number> => (await passing(run(statementOf(query)))).rowCount ?? 0,
  }
}

/** Times are ISO texts with their zone, which PostgreSQL reads as they are. */
function statementOf({ sql: text, args, argTypes }: SqlQuery): Statement {
  const values = args.map((arg, index) =>
    typeof arg === 'string' && argTypes[index]?.scalarType === 'bytes' ? Buffer.from(arg, 'base64') : arg,
  )
  return { text, values }
}

const { builtins } = pg.types

/** By PostgreSQL's number of the type; all others are texts. */
const columnTypes = new Map<number, ColumnType>([
  [builtins.BOOL, ColumnTypeEnum.Boolean],
  // PostgreSQL's catalog has it.
  [builtins.CHAR, ColumnTypeEnum.Character],
  [builtins.INT2, ColumnTypeEnum.Int32],
  [builtins.INT4, ColumnTypeEnum.Int32],
  [builtins.INT8, ColumnTypeEnum.Int64],
  [builtins.OID, ColumnTypeEnum.Int64],
  [builtins.FLOAT4, ColumnTypeEnum.Float],
  [builtins.FLOAT8, ColumnTypeEnum.Double],
  [builtins.NUMERIC, ColumnTypeEnum.Numeric],
  [builtins.TIMESTAMPTZ, ColumnTypeEnum.DateTime],
  [builtins.DATE, ColumnTypeEnum.Date],
  [builtins.JSON, ColumnTypeEnum.Json],
  [builtins.JSONB, ColumnTypeEnum.Json],
  [builtins.UUID, ColumnTypeEnum.Uuid],
  [builtins.BYTEA, ColumnTypeEnum.Bytes],
  // Lists of these types have no names in pg.
  [1007, ColumnTypeEnum.Int32Array],
  [1009, ColumnTypeEnum.TextArray],
])

const asIs = (text: string) => text
const readTime = pg.types.getTypeParser(builtins.TIMESTAMPTZ)
const parsers = new Map<number, (text: string) => unknown>([
  [builtins.TIMESTAMPTZ, (text) => (readTime(text) as Date).toISOString()],
  [builtins.DATE, asIs],
  [builtins.JSON, asIs],
  [builtins.JSONB, asIs],
])

/** Values as Prisma takes them where pg would make objects of them. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    (format === 'binary' ? undefined : parsers.get(id)) ?? pg.types.getTypeParser(id, format as 'text'),
}
