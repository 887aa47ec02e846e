import type { Caller } from '../../../engine/caller.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { valueIn } from '../../../foundation/values/json.ts'
import { hiddenColumns } from './columns.ts'
import type { Difference } from './records.ts'

/** A mark for those alone who are shown the cost. */
export const BELOW_COST = 'is below the cost'

/** The changes with marks at values that may be slips, by the definition. `stored`: the record; undefined: it is new. */
export function lookedAt(
  { privileges }: Pick<Caller, 'privileges'>,
  resource: Resource,
  changes: readonly Difference[],
  stored: unknown,
): Difference[] {
  if (resource.worthALook === undefined) return [...changes]
  const { prices = [], costs = [], stocks = [] } = resource.worthALook
  const [cost = ''] = costs
  const values = afterOf(changes)
  const numberOf = (column: string) => Number(values[column] ?? valueIn(stored, column.split('.')) ?? 0)
  const isCostShown = () => !hiddenColumns(privileges, resource).some(({ name }) => name === cost)
  const isBelow = (price: number, least: number) => price > 0 && price < least && isCostShown()
  function problemsIn([column, before, after]: Difference): string[] {
    const value = Number(after)
    const isPrice = prices.includes(column)
    const isSet = value > 0 || column === prices[0]
    return [
      ...(stocks.includes(column) && value < 0 ? ['is below 0'] : []),
      ...((isPrice || costs.includes(column)) && isSet ? jumpOf(Number(before), value) : []),
      ...(isPrice && isBelow(value, numberOf(cost)) ? [BELOW_COST] : []),
      ...(column === cost && prices.some((price) => isBelow(numberOf(price), value)) ? ['is above a price'] : []),
    ]
  }
  return changes.map((change): Difference => [...change, ...problemsIn(change)])
}

/** The new values by column. */
export function afterOf(changes: readonly Difference[]): Readonly<Record<string, string>> {
  return Object.fromEntries(changes.map(([column, , after]) => [column, after]))
}

/** Tells of a change by more than half, which may be that of a lost decimal point. */
function jumpOf(before: number, after: number): string[] {
  if (before <= 0 || Math.abs(after - before) * 2 <= before) return []
  const isMore = after > before
  const factor = Number((isMore ? after / before : before / after).toFixed(4))
  if (![10, 100, 1_000].includes(factor)) return [`differs from ${before} by more than half`]
  const times = `is ${factor} times ${before}: a lost decimal point?`
  return [isMore ? times : `is 1/${factor} of ${before}: a misplaced decimal point?`]
}
