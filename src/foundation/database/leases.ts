import { locks } from './advisory-locks.ts'
import type { Db } from './client.ts'
import { Prisma } from './generated/client.ts'
import { processNumber } from './process-lock.ts'
import { identifier, join, type Sql, sql } from './sql.ts'

/** The right of one process to work on a row until a time. From then on another one may take over: the holder was killed, or hangs. */
interface Lease {
  readonly table: Prisma.ModelName
  /** The column with the time. */
  readonly until: string
  readonly ms: number
  /** The column that names the claim. A holder writes on condition of its own, so that one past its lease changes nothing. */
  readonly claim?: string
  /** Whether the column `process` has the holder's number (process-lock.ts): if that process is gone, nobody waits for the time. */
  readonly hasProcess?: true
}

/** Every lease of this application. */
export const leases = {
  /** An attempt at a delivery. dispatch/claim.ts has its own statements, which divide slots among webhooks and read what is sent. */
  delivery: { table: 'Delivery', until: 'dueAt', claim: 'attempts', ms: 60_000 },
  /** An attempt at a REMOVE that the application did not accept, or at a REDACT. */
  removalNotice: { table: 'RemovalNotice', until: 'nextAttemptAt', claim: 'attempts', ms: 60_000 },
  /** An attempt to send a mail, which has a minute. */
  mail: { table: 'Mail', until: 'nextAttemptAt', claim: 'attempts', hasProcess: true, ms: 120_000 },
  /** An attempt to fetch a picture: 20 s, and as long as it waits to be decoded and stored. */
  pictureFetch: { table: 'PictureFetch', until: 'nextAt', claim: 'attempts', hasProcess: true, ms: 300_000 },
  /** A callback about a subscription, which has 10 s, and the change that follows it. Its first holder inserts the row. */
  handshake: { table: 'Handshake', until: 'claimedUntil', claim: 'claim', ms: 15_000 },
  /** Reading a CSV file. Renewed by the request that does; past it the import may be deleted, or its kept rows be read again. */
  csvReading: { table: 'CsvImport', until: 'leasedUntil', claim: 'claim', ms: 60_000 },
  /** Applying a CSV file. Renewed in each transaction. */
  csvApplying: { table: 'CsvImport', until: 'leasedUntil', claim: 'claim', hasProcess: true, ms: 60_000 },
  /** Filling or emptying a test store. Filling holds the row besides. */
  testStore: { table: 'TestStore', until: 'leasedUntil', claim: 'claim', hasProcess: true, ms: 60_000 },
  /** Erasing a person who waits for it, or searching the archive for one. A minute is less than the longest transaction. */
  erasure: { table: 'Erasure', until: 'leasedUntil', claim: 'claim', hasProcess: true, ms: 300_000 },
  /** A request with an Idempotency-Key. Its first holder inserts the row; renewed with each stored answer. */
  idempotencyKey: { table: 'IdempotencyKey', until: 'leasedUntil', claim: 'claim', hasProcess: true, ms: 60_000 },
  /** Being counted as a process. The column has the beginning, by the clock of PostgreSQL, so the statements are in shared-buckets.ts. */
  process: { table: 'ServerProcess', until: 'seenAt', ms: 3_000 },
} as const satisfies Record<string, Lease>

/** When a lease ends that begins, or is renewed, now. */
export function leaseEnd({ ms }: Lease, now: () => Date): Date {
  return new Date(now().getTime() + ms)
}

/** Whether nobody holds a row, as a condition; `row` is the name of its table in the statement. */
export function isFree({ table, until, hasProcess }: Lease, now: () => Date, row: string = table): Sql {
  const isOver = sql`${identifier(row)}.${identifier(until)} <= ${now()}`
  if (!hasProcess) return isOver
  // Null where there is no number; true where the process has ended or lost its connection.
  const hasEnded = sql`pg_try_advisory_xact_lock_shared(${locks.process}::int, ${identifier(row)}."process")`
  return sql`(coalesce(${isOver}, true) OR coalesce(${hasEnded}, false))`
}

/** What a claim sets beside its name, for the list of an UPDATE. */
export function leased(lease: Lease, now: () => Date): Sql {
  const end = sql`${identifier(lease.until)} = ${leaseEnd(lease, now)}`
  return lease.hasProcess ? sql`${end}, "process" = ${processNumber()}::int` : end
}

/** Claims the first `limit` free rows by `order`, and counts up their claims. Skips rows that another process is claiming. */
export function claimFree<Row>(
  db: Db,
  lease: Lease & { readonly claim: string },
  now: () => Date,
  { key, where, order, limit }: { key: readonly string[]; where: Sql; order: string; limit: number },
): Promise<Row[]> {
  const [table, claim, columns] = [identifier(lease.table), identifier(lease.claim), join(key.map(identifier))]
  const all = Object.values(Prisma[`${lease.table}ScalarFieldEnum`]).map(identifier)
  return db.$queryRaw<Row[]>(sql`
    WITH "free" AS MATERIALIZED (
      SELECT ${columns} FROM ${table} WHERE ${where} AND ${isFree(lease, now)}
      ORDER BY ${identifier(order)} LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
    UPDATE ${table} SET ${claim} = ${claim} + 1, ${leased(lease, now)}
    WHERE (${columns}) IN (SELECT ${columns} FROM "free") RETURNING ${join(all)}`)
}
