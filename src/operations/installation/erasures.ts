import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Log } from '../../engine/definition/endpoints.ts'
import type { Erasure } from '../../foundation/database/generated/client.ts'
import { claimFree, leases } from '../../foundation/database/leases.ts'
import { sql } from '../../foundation/database/sql.ts'
import { writeWholeFile } from '../../foundation/process/whole-file.ts'
import { createWorker } from '../../foundation/process/worker.ts'
import { withoutPerson } from '../../shop/erasure/copies.ts'
import { columnsTo } from '../../shop/erasure/personal.ts'
import { eraseWaiting, type WaitingServices } from '../../shop/erasure/waiting.ts'
import { Words } from '../../shop/erasure/words.ts'
import { ifAlone } from './archive.ts'

interface ErasuresServices extends WaitingServices {
  /** Past a pooler. */
  readonly url: string
  readonly log: Log
}

const EVERY_MS = 10_000

/**
 * What is left of erasures in the background: persons who wait for theirs, one at a time, and the files of the archive. Any number of
 * processes may run this on one database; without ARCHIVE_DIR, a process leaves the files to others.
 */
export function createErasures(services: ErasuresServices) {
  const { db, now, log, config } = services
  const isLeft =
    config.archiveDir === null ? sql`"erasedAt" IS NULL` : sql`("erasedAt" IS NULL OR "wordsSealed" IS NOT NULL)`
  const wanted = { key: ['storeId', 'id'], where: isLeft, order: 'claim', limit: 1 }
  return createWorker<Erasure>({
    log,
    complaint: 'erasures could not be looked for',
    everyMs: EVERY_MS,
    claim: () => claimFree(db, leases.erasure, now, wanted),
    work: async (erasure) => {
      if (erasure.erasedAt === null) await eraseWaiting(services, erasure)
      else await eraseFiles(services, erasure)
    },
    release: ({ storeId, id, claim }) =>
      db.erasure.updateMany({ where: { storeId, id, claim }, data: { leasedUntil: null } }),
    failed: ({ storeId, id }) => [{ storeId, erasure: id }, 'an erasure could not be completed'],
  })
}

/** Takes a person out of the files of the archive, unless another process writes some: then the next turn does. */
async function eraseFiles({ url, db, secrets, config }: ErasuresServices, { storeId, id, wordsSealed }: Erasure) {
  const dir = config.archiveDir
  if (dir === null || wordsSealed === null) return
  const words = Words.from(JSON.parse(secrets.open(wordsSealed)))
  await ifAlone(url, async () => {
    for (const name of await readdir(dir)) {
      const [, table = ''] = /^(\w+)-\d{8}T\d{6}Z-\d+\.ndjson\.gz$/.exec(name) ?? []
      const columns = columnsTo('logged').get(table)
      if (columns !== undefined) await eraseFile(join(dir, name), { storeId, columns, words })
    }
    await db.erasure.update({ where: { storeId_id: { storeId, id } }, data: { wordsSealed: null } })
  })
}

interface Sought {
  readonly storeId: number
  readonly columns: readonly string[]
  readonly words: Words
}

/** Writes a file anew if it has something of the person. */
async function eraseFile(path: string, sought: Sought): Promise<void> {
  const lines = (source: AsyncIterable<Buffer>) => createInterface(Readable.from(source))
  let isFound = false
  await pipeline(createReadStream(path), createGunzip(), async (source: AsyncIterable<Buffer>) => {
    for await (const line of lines(source)) isFound ||= erasedLine(line, sought) !== line
  })
  if (!isFound) return
  const erased = async function* (source: AsyncIterable<Buffer>) {
    for await (const line of lines(source)) yield `${erasedLine(line, sought)}\n`
  }
  await writeWholeFile(path, (target) => pipeline(createReadStream(path), createGunzip(), erased, createGzip(), target))
}

function erasedLine(line: string, { storeId, columns, words }: Sought): string {
  if (!words.isIn(line, true)) return line
  const row = JSON.parse(line) as Record<string, unknown>
  if (row.storeId !== storeId) return line
  const own = Object.fromEntries(columns.map((column) => [column, row[column] ?? null]))
  return JSON.stringify({ ...row, ...withoutPerson(own, words, true) })
}
