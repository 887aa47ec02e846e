import type { Actor } from '../../../../access/audit/audit.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { readInput } from '../../../../foundation/values/input.ts'
import type { NumberKind } from '../../../../foundation/values/typed-number.ts'
import {
  type ChargeTable,
  chargeTables,
  ROWS_MAX,
  readTable,
  replaceTable,
} from '../../../../shop/resources/orders/charge-tables.ts'
import { numberIn } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { textIn } from '../../../html/request.ts'
import { ifUnchanged, type PageRequest, type Sent, tagOf } from '../../frame/pages.ts'
import { keysIn, NEW_ROWS, saveRows } from './saved-page.ts'

// The pages of taxes, shipping and carriers: a row of a form for each row of the table.

const titles = { taxes: t('Taxes'), shipping: t('Shipping'), carriers: t('Carriers') }
const members = {
  taxes: ['country', 'state', 'rate', 'isIncluded'],
  shipping: ['country', 'method', 'from', 'price', 'basis'],
  carriers: ['name', 'trackingUrl'],
}
const numbers: Readonly<Record<string, NumberKind>> = { rate: 'number', from: 'number', price: 'sum' }
/** They always have one of two values. */
const choices = ['isIncluded', 'basis']

export async function chargesPage(asked: PageRequest, name: ChargeTable): Promise<HtmlPage> {
  const { caller, writing } = asked
  const stored = await readTable(caller, name)
  const shown = (value: unknown) =>
    typeof value === 'number' ? writing.typed(value) : value === true ? 'yes' : value || ''
  const values = stored.flatMap((row, at) =>
    Object.entries(row).map(([member, value]) => [`${member}.${at + 1}`, shown(value)]),
  )
  const added = Math.min(NEW_ROWS, ROWS_MAX - stored.length)
  const data = { name, count: stored.length, added, etag: tagOf(JSON.stringify(stored), asked) }
  return { template: '/pages/shop/settings/charges', title: titles[name], values: Object.fromEntries(values), data }
}

/** Saves a table, unless somebody has changed it since the form was shown. Rows that are empty or ticked are left out. */
export async function saveCharges({ caller, typed, writing }: Sent<PageRequest>, actor: Actor, name: ChargeTable) {
  const unchanged = ifUnchanged(typed, 'table', 'The form shows the table as it is now. Make your changes again')
  const precondition = (rows: readonly object[]) => unchanged(JSON.stringify(rows))
  precondition(await readTable(caller, name))
  const rows = keysIn(typed, new RegExp(`^${members[name][0]}\\.(\\d{1,3})$`)).flatMap((key) => {
    const text = (member: string) => textIn(typed, `${member}.${key}`).trim()
    const isEmpty = members[name].every((member) => choices.includes(member) || text(member) === '')
    if (isEmpty || typed[`remove.${key}`] !== undefined) return []
    const row = members[name].map((member) => {
      if (member in numbers) return [member, numberIn(typed, `${member}.${key}`, writing, numbers[member])]
      return [member, member === 'isIncluded' ? text(member) === 'yes' : text(member)]
    })
    return [{ key, ...Object.fromEntries(row) }]
  })
  const { rows: schema } = chargeTables[name]
  await saveRows(rows, (sent) => replaceTable(caller, name, readInput(schema, sent), { actor, precondition }))
}
