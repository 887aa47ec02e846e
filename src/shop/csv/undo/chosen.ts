import type { Caller } from '../../../engine/caller.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { findJson } from '../../../engine/reading/read.ts'
import { resourceNamed } from '../../registry.ts'
import { formerOf, tagOf } from '../lines/former.ts'
import { addFilled, addLines, type Import, type OpenReading, readKept } from '../lines/imports.ts'
import { BATCH_LINES_MAX } from '../lines/limits.ts'
import type { Difference, Problem } from '../lines/records.ts'
import { lookedAt } from '../lines/worth-a-look.ts'
import { type Line, refused } from '../take-in/compare.ts'

// Records that somebody has chosen in a list, and what is done with all of them. The preview, the loop and the result are those of a file.

export type Json = Readonly<Record<string, unknown>>

/** What is to be done with a record. */
export interface Intended {
  /** What a person calls it. */
  readonly name: string
  /** What is changed, as the body of a request; the platform's own may add to a stock. Empty: nothing. */
  readonly body: object
  readonly changes: readonly Difference[]
  /** Why nothing is done with it. */
  readonly problems?: readonly Problem[]
  /** Whether all of the record has to be as it is shown now, and not what the change replaces alone. */
  readonly isOfWhole?: boolean
}

/** Keeps the ids of chosen records until a person has said what is to be done with them, and returns the import's id. */
export function keepChosen(caller: Caller, resource: Resource, ids: readonly number[]): Promise<number> {
  const { db, store } = caller
  return adding(caller, resource, { source: 'bulk', state: 'mapping' }, async ({ id: importId }) => {
    await db.csvImportPart.create({ data: { storeId: store.id, importId, part: 1, rows: JSON.stringify(ids) } })
  })
}

/** Adds an import that is no file, which `add` fills, and returns its id. Nothing stays of one that fails. */
export function adding(
  caller: Caller,
  resource: Resource,
  { state, ...own }: { source: 'bulk' | 'back'; state: 'mapping' | 'ready'; change?: object },
  add: (reading: OpenReading) => Promise<void>,
): Promise<number> {
  const file = { fileName: '', ignored: [], headings: [], mapping: null }
  return addFilled(caller, resource, { ...file, ...own }, (reading) => add(reading).then(() => ({ state })))
}

/** The ids of the records that were chosen; none once the changes are made. */
export async function keptIds({ db, store }: Caller, importId: number): Promise<readonly number[]> {
  const key = { storeId: store.id, importId, part: 1 }
  const found = await db.csvImportPart.findUnique({ where: { storeId_importId_part: key } })
  return found?.rows ? JSON.parse(found.rows) : []
}

/**
 * Works out what `change` does with each of the chosen records, which changes nothing yet; not where the changes are being made, or were,
 * or it was cancelled. What fails leaves it to be done again.
 */
export async function compareChosen(
  caller: Caller,
  { id, service }: Pick<Import, 'id' | 'service'>,
  change: object,
  intend: (record: Json) => Intended,
): Promise<void> {
  const resource = resourceNamed(service)
  const ids = await keptIds(caller, id)
  await readKept(caller, id, { change }, async (reading) => {
    for (let from = 0; from < ids.length; from += BATCH_LINES_MAX) {
      const some = ids.slice(from, from + BATCH_LINES_MAX)
      const texts = await findJson(caller, resource, some)
      const lines = some.map((recordId, at) => {
        const line = from + at + 1
        if (!texts.has(recordId)) return goneLine(line, recordId)
        const text = String(texts.get(recordId))
        const record = JSON.parse(text) as Json
        return lineFor(caller, resource, { line, recordId, record, text }, intend(record))
      })
      await addLines(caller, reading, lines)
    }
  })
}

/** The line of what is intended with a record. */
export function lineFor(
  caller: Caller,
  resource: Resource,
  { record, text, ...place }: Pick<Line, 'line' | 'recordId'> & { record: Json; text: string },
  { name, body, changes, problems = [], isOfWhole = false }: Intended,
): Line {
  if (problems.length > 0) return refused({ ...place, name }, problems)
  const own = { ...place, name, secret: null, made: [] }
  if (Object.keys(body).length === 0) return { ...own, outcome: 'same', body, changes: [], problems }
  return {
    ...own,
    outcome: 'change',
    body,
    before: formerOf(resource, body, record),
    ...(isOfWhole && { etag: tagOf(text) }),
    changes: lookedAt(caller, resource, changes, record),
    problems,
  }
}

/** The line of a record that there is no more. */
export function goneLine(line: number, recordId: number, name = String(recordId)): Line {
  return refused({ line, recordId, name }, [['', '', 'has been deleted']])
}
