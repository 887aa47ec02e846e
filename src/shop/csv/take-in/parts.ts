import type { Caller } from '../../../engine/caller.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { queryRows } from '../../../foundation/database/client.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { columnsOf } from '../lines/columns.ts'
import type { Row } from '../lines/rows.ts'

// The rows of a file whose headings a person assigns to columns. They are kept until its changes are made, so that the file is sent once.

/** Rows as they are kept. */
type Kept = readonly (readonly [line: number, length: number, separator: string, cells: readonly string[]])[]

/** Keeps a batch of rows, without the cells at places of passwords. Those of a service with values that nobody is shown are sealed. */
export async function keepPart(
  { db, store, secrets }: Caller,
  { resource, id }: { resource: Resource; id: number },
  { part, rows, secretPlaces }: { part: number; rows: readonly Row[]; secretPlaces: ReadonlySet<number> },
): Promise<void> {
  const kept = rows.map(({ line, length, separator, cells: all }): Kept[number] => {
    const cells = all.map((cell, place) => (secretPlaces.has(place) ? '' : cell))
    return [line, length, separator, cells]
  })
  const text = JSON.stringify(kept)
  const isSealed = columnsOf(resource).some(({ field }) => field.access === 'wo')
  const content = isSealed ? { rows: null, sealed: secrets.seal(text) } : { rows: text, sealed: null }
  await db.csvImportPart.create({ data: { storeId: store.id, importId: id, part, ...content } })
}

/** Returns the kept rows of a file, in order, a batch at a time. */
export async function* keptParts({ db, store }: Caller, id: number, secrets: Secrets): AsyncGenerator<Row[]> {
  for (let after = 0; ; after++) {
    const [found] = await queryRows<{ rows: string | null; sealed: string | null }>(db)`
      SELECT "rows", "sealed" FROM "CsvImportPart"
      WHERE "storeId" = ${store.id}::int AND "importId" = ${id}::int AND "part" = ${after + 1}::int`
    if (found === undefined) return
    const kept = JSON.parse(found.rows ?? secrets.open(found.sealed ?? '')) as Kept
    yield kept.map(([line, length, separator, cells]) => ({ line, length, separator, cells }))
  }
}

/** Whether rows of the file are kept. */
export async function hasParts({ db, store }: Caller, importId: number): Promise<boolean> {
  return (await db.csvImportPart.count({ where: { storeId: store.id, importId }, take: 1 })) > 0
}

/** Deletes what is kept of a file. */
export async function forgetParts({ db, store }: Pick<Caller, 'db' | 'store'>, importId: number): Promise<void> {
  await db.csvImportPart.deleteMany({ where: { storeId: store.id, importId } })
}
