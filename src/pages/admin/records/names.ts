import type { Caller } from '../../../engine/caller.ts'
import { readTexts } from '../../../engine/reading/read.ts'
import type { Service, Value } from './services.ts'
import { calledBy } from './values.ts'

/** Reads what tells people which record each of these is: what it is called, and all else that it is searched by. */
export async function readNames(
  caller: Caller,
  { resource, titles, called, searches }: Service,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const others = [...titles, ...searches.map(({ value }) => value)].filter(({ field }) => field.column !== undefined)
  const values = [...new Set([...called.flat(), ...others])]
  const records = await readTexts(caller, resource, ids, values)
  const nameOf = (texts: readonly string[]) => {
    const textOf = (value: Value) => texts[values.indexOf(value)] ?? ''
    const used = calledBy(called, textOf)
    const rest = [...new Set(others)].filter((value) => !used.values.includes(value))
    return [used.name, ...rest.map(textOf)].filter((text) => text !== '').join(' · ')
  }
  return new Map([...records].map(([id, texts]) => [id, nameOf(texts)]))
}

/** Reads what each of these is called and no more, where its definition says so; or else what `readNames` does. */
export async function readTitles(
  caller: Caller,
  service: Service,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  return readNames(caller, service.called.length === 0 ? service : { ...service, titles: [], searches: [] }, ids)
}
