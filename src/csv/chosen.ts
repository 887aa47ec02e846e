import type { Caller } from '../engine/caller.ts'
import type { Resource } from '../engine/definition/define.ts'
import { findJson } from '../engine/reading/read.ts'
import { resourceNamed } from '../registry.ts'
import type { Secrets } from '../values/secrets.ts'
import type { Line } from './compare.ts'
import { formerOf, tagOf } from './former.ts'
import { addImport, addLines, deleteImport, endReading, type Import, readAgain } from './imports.ts'
import { BATCH_LINES_MAX } from './limits.ts'
import type { Difference, Problem } from './records.ts'

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
export async function keepChosen(caller: Caller, resource: Resource, ids: readonly number[]): Promise<number> {
  const file = { fileName: '', ignored: [], headings: [], mapping: null }
  const reading = await addImport(caller, resource, { ...file, source: 'bulk' })
  try {
    const { db, store } = caller
    await db.csvImportPart.create({
      data: { storeId: store.id, importId: reading.id, part: 1, rows: JSON.stringify(ids) },
    })
    await endReading(caller, reading, { state: 'mapping' })
    return reading.id
  } catch (error) {
    await deleteImport(caller, reading.id).catch(() => {})
    throw error
  }
}

/** The ids of the records that were chosen; none once the changes are made. */
export async function keptIds({ db, store }: Caller, importId: number): Promise<readonly number[]> {
  const key = { storeId: store.id, importId, part: 1 }
  const found = await db.csvImportPart.findUnique({ where: { storeId_importId_part: key } })
  return found?.rows ? JSON.parse(found.rows) : []
}

/**
 * Works out what `change` does with each of the chosen records, which changes nothing yet. False: the changes are being made, or were,
 * or it was cancelled. What fails leaves it to be done again.
 */
export async function compareChosen(
  caller: Caller,
  { id, service }: Pick<Import, 'id' | 'service'>,
  change: object,
  { intend, secrets }: { intend: (record: Json) => Intended; secrets: Secrets },
): Promise<boolean> {
  const resource = resourceNamed(service)
  const ids = await keptIds(caller, id)
  const reading = await readAgain(caller, id, { change })
  if (reading === null) return false
  try {
    for (let from = 0; from < ids.length; from += BATCH_LINES_MAX) {
      const some = ids.slice(from, from + BATCH_LINES_MAX)
      const texts = await findJson(caller, resource, some)
      const lines = some.map((recordId, at) => {
        const text = texts.get(recordId)
        const line = from + at + 1
        return text === undefined
          ? goneLine(line, recordId)
          : lineOf(resource, { line, recordId }, String(text), intend)
      })
      await addLines(caller, { secrets, reading, lines })
    }
    await endReading(caller, reading, { state: 'ready' })
    return true
  } catch (error) {
    await endReading(caller, reading, { state: 'mapping' }).catch(() => {})
    throw error
  }
}

type Place = Pick<Line, 'line' | 'recordId'>

function lineOf(resource: Resource, place: Place, text: string, intend: (record: Json) => Intended): Line {
  const record = JSON.parse(text) as Json
  return lineFor(resource, place, { record, text }, intend(record))
}

/** The line of what is intended with a record. */
export function lineFor(
  resource: Resource,
  place: Place,
  { record, text }: { record: Json; text: string },
  { name, body, changes, problems = [], isOfWhole = false }: Intended,
): Line {
  const own = { ...place, name, secret: null, made: [] }
  if (problems.length > 0) return { ...own, outcome: 'refused', body: {}, changes: [], marked: false, problems }
  if (Object.keys(body).length === 0) {
    return { ...own, outcome: 'same', body, changes: [], marked: false, problems }
  }
  return {
    ...own,
    outcome: 'change',
    body,
    before: formerOf(resource, body, record),
    ...(isOfWhole && { etag: tagOf(text) }),
    changes,
    marked: changes.some(([, , , mark]) => mark !== undefined),
    problems,
  }
}

/** The line of a record that there is no more. */
export function goneLine(line: number, recordId: number, name = String(recordId)): Line {
  const nothing = { body: {}, secret: null, made: [], changes: [], marked: false }
  return { line, recordId, name, ...nothing, outcome: 'refused', problems: [['', '', 'has been deleted']] }
}
