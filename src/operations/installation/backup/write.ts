import { createHash } from 'node:crypto'
import { addAbortSignal, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import type { Snapshot } from '../../../foundation/database/snapshot.ts'
import type { Files } from '../../../foundation/files/files.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { type End, makeHeader } from './header.ts'
import { refuseOtherKey } from './key.ts'
import { filesOf } from './picture-files.ts'
import { copyLine, ROWS_END, RowCounter } from './rows.ts'
import { findSequences, findTables, type Table, target } from './tables.ts'

interface WriteOptions {
  readonly secrets: Secrets
  readonly createdAt: Date
  /** Where the pictures lie. */
  readonly files: Files
  /** Gets the number of rows written so far. */
  readonly onRows?: (rows: number) => void
  readonly signal?: AbortSignal
}

export interface Written {
  readonly tables: number
  readonly rows: number
}

/**
 * Writes all tables of the snapshot to `output` and ends it. Throws `StartupError` when `secrets` do not open the secrets of
 * the database, or a restore of it was broken off.
 */
export async function writeBackup(snapshot: Snapshot, output: Writable, options: WriteOptions): Promise<Written> {
  const { secrets, createdAt, files, onRows = () => {}, signal } = options
  await refuseOtherKey(snapshot, secrets)
  const tables = await findTables(snapshot)
  const header = makeHeader({ tables, sequences: await findSequences(snapshot) }, secrets, createdAt)
  const counter = new RowCounter(onRows)
  // A signal that also reports what fails after the rows, or else a table that waits for a lock would hold up the failure.
  const rows = async function* ({ signal }: { signal: AbortSignal }) {
    yield* rowsOf(snapshot, tables, counter, signal)
    // A database that no version with pictures has migrated has none.
    const hasPictures = tables.some(({ name }) => name === 'Picture')
    yield* filesOf(hasPictures ? snapshot : { query: async () => [] }, files)
  }
  const frame = framed(header, () => ({ rows: counter.counts }))
  await pipeline(rows as () => ReturnType<typeof rows>, createZstdCompress(), frame, output, { signal })
  return { tables: tables.length, rows: counter.total }
}

/** All rows of the tables: the content of the compressed part, which psql reads too. */
export async function* rowsOf(
  snapshot: Snapshot,
  tables: readonly Table[],
  counter = new RowCounter(() => {}),
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  for (const table of tables) {
    yield Buffer.from(`${copyLine(table)}\n`)
    const copied = snapshot.copy(`COPY ${target(table)} TO STDOUT`)
    if (signal !== undefined) addAbortSignal(signal, copied)
    yield* counter.passing(copied)
    yield Buffer.from(ROWS_END)
  }
}

/** Puts header, end and checksum around what is compressed. */
function framed(header: object, end: () => End) {
  return async function* (compressed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const hash = createHash('sha256')
    const hashed = (bytes: Buffer) => {
      hash.update(bytes)
      return bytes
    }
    yield hashed(Buffer.from(`${JSON.stringify(header)}\n`))
    for await (const chunk of compressed) yield hashed(chunk)
    yield hashed(Buffer.from(`\n${JSON.stringify(end())}\n`))
    yield Buffer.from(`${hash.digest('hex')}\n`)
  }
}
