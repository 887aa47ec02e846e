import type { Caller } from '../../../engine/caller.ts'
import { readTexts } from '../../../engine/reading/read.ts'
import { orders } from '../../../resources/orders/orders.ts'
import type { Service } from './services.ts'

/** Reads what these records are called, of those that have a name or a number that people know. */
export async function readTitles(
  caller: Caller,
  { resource, titles }: Service,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (resource === orders) {
    const invoices = await readTexts(caller, resource, ids, ['invoicePrefix', 'invoiceNumber'])
    return new Map([...invoices].map(([id, parts]) => [id, parts.join('')]))
  }
  const columns = titles.flatMap(({ field }) => field.column ?? [])
  const texts =
    columns.length === 0 ? new Map<number, readonly string[]>() : await readTexts(caller, resource, ids, columns)
  return new Map([...texts].map(([id, each]) => [id, each.filter((text) => text !== '').join(' · ')]))
}

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
