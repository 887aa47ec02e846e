import type { Caller } from '../../../engine/caller.ts'
import { readTexts } from '../../../engine/reading/read.ts'
import type { Service, Value } from './services.ts'
import { calledBy } from './values.ts'

/** Reads what these records are called, of those that have a name or a number that people know. */
export async function readTitles(
  caller: Caller,
  service: Service,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const { resource, titles, called, number } = service
  if (number.length > 0) {
    const numbers = await readTexts(caller, resource, ids, number.map(storedAs))
    return new Map([...numbers].map(([id, parts]) => [id, parts.join('')]))
  }
  if (titles.length === 0 && called.length === 0) return new Map()
  return readNames(caller, { ...service, titles: called.length === 0 ? titles : [], searches: [] }, ids)
}

/** Reads what tells people which record each of these is: what it is called or its titles, and all else that it is searched by. */
export async function readNames(
  caller: Caller,
  { resource, titles, called, searches }: Service,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const others = [...titles, ...searches.map(({ value }) => value)].filter(({ field }) => field.column !== undefined)
  const values = [...new Set([...called.flat(), ...others])]
  const records = await readTexts(caller, resource, ids, values.map(storedAs))
  const nameOf = (texts: readonly string[]) => {
    const textOf = (value: Value) => texts[values.indexOf(value)] ?? ''
    const used = calledBy(called, textOf)
    const rest = [...new Set(others)].filter((value) => !used.values.includes(value))
    return [used.name, ...rest.map(textOf)].filter((text) => text !== '').join(' · ')
  }
  return new Map([...records].map(([id, texts]) => [id, nameOf(texts)]))
}

function storedAs({ path, field }: Value) {
  return field.column ?? path
}
