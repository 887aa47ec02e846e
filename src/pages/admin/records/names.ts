import type { Caller } from '../../../engine/caller.ts'
import { readTexts } from '../../../engine/reading/read.ts'
import type { Service } from './services.ts'

/** Reads what tells people which record each of these is: its titles, and all else that it is searched by. */
export async function readNames(
  caller: Caller,
  { resource, titles, searches }: Service,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const values = new Set([...titles, ...searches.map(({ value }) => value)])
  const columns = [...values].flatMap(({ field }) => field.column ?? [])
  const texts = await readTexts(caller, resource, ids, columns)
  return new Map([...texts].map(([id, each]) => [id, each.filter((text) => text !== '').join(' · ')]))
}
