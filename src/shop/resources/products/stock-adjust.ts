import { DECIMAL_MAX, integer, type ValueField } from '../../../engine/definition/fields.ts'
import type { Patch } from '../../../engine/definition/input.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import type { Change } from '../../../engine/definition/resource.ts'
import type { Row } from '../../../engine/definition/stored-row.ts'

// What a change adds to a stock, beside the members that replace one.

const OWN = 'StockAdjust'
const OF_OPTION = 'AdvancedOptionStockAdjust'

/** The member that adds to what `stock` shows. */
export function stockAdjust(stock: string): ValueField {
  return integer({
    access: 'sent',
    description: `The whole number of pieces to add to ${stock}, below 0 to take off: 3 adds three to the stock as it is at that moment, whatever others do meanwhile. Send it instead of ${stock}, and with the header Idempotency-Key, so that a request that is sent again adds once.`,
  })
}

/**
 * Adds to the locked stocks what the change says; 0 is as if it were not sent. Refuses (400) without an `Idempotency-Key`, beside a stock that replaces the same
 * one, and where no stock can be stored.
 */
export function adjustStocks({ caller, patch, after }: Change): void {
  const add = ({ writeOnly, columns }: Patch, row: Row, name: string, path: string) => {
    const added = Number(writeOnly[name] ?? 0)
    if (added === 0) return
    if (!caller.isKeyed) {
      const problem = 'needs the header Idempotency-Key, so that a request that is sent again adds once'
      throw wrongField(path, problem, 'missing-field')
    }
    const replaced = name.replace(/Adjust$/, '')
    if (columns.stock !== undefined)
      throw wrongField(path, `adds to the stock that ${replaced} replaces: send one of them`)
    const stock = Number((Number(row.stock) + added).toFixed(4))
    if (Math.abs(stock) > DECIMAL_MAX) {
      const problem = `would make the stock ${stock}; it may be from ${-DECIMAL_MAX} to ${DECIMAL_MAX}`
      throw wrongField(path, problem, 'out-of-range')
    }
    row.stock = stock
  }
  add(patch, after.row, OWN, `SKUInfo.${OWN}`)
  const rows = new Map(after.lists.AdvancedOptionList?.map((row) => [row.code, row]))
  for (const [index, item] of (patch.lists.AdvancedOptionList ?? []).entries()) {
    const row = rows.get(String(item.key))
    // Of a code that is sent twice the first item applies.
    rows.delete(String(item.key))
    if (row) add(item, row, OF_OPTION, `AdvancedOptionList[${index}].${OF_OPTION}`)
  }
}

/** The codes of the advanced options whose stocks the change adds to; null: the product's own. To add 0 is to add nothing. */
export function adjustedStocks({ writeOnly, lists }: Patch): ReadonlySet<string | null> {
  const options = (lists.AdvancedOptionList ?? []).filter(({ writeOnly }) => writeOnly[OF_OPTION])
  return new Set([...(writeOnly[OWN] ? [null] : []), ...options.map(({ key }) => String(key))])
}
