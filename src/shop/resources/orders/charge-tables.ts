import { z } from 'zod'
import { type Actor, recordAudit } from '../../../access/audit/audit.ts'
import type { Caller } from '../../../engine/caller.ts'
import { inStoreTransaction, rowsInTurn } from '../../../foundation/database/client.ts'
import { storeId } from '../../../foundation/database/sql.ts'
import { countryCodes } from '../../../foundation/texts/countries.ts'
import { type ErrorCode, StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, text } from '../../../foundation/values/input.ts'
import { ORDER_AMOUNT_MAX, toNumber } from './amounts.ts'

// What a store says orders are charged beside their goods: taxes by where they go, and ways of shipping.

/** Rows of a table. */
export const ROWS_MAX = 200
export const STATE_LENGTH_MAX = 100
export const METHOD_LENGTH_MAX = 150

const country = z.string('must be chosen').refine((code) => countryCodes.includes(code), 'must be chosen')
const table = <S extends z.ZodType>(row: S) => z.array(row).max(ROWS_MAX, `must be at most ${ROWS_MAX} rows`)

function number(max: number, min = 0) {
  const allowed = `must be a number from ${min} to ${max}`
  return z.number(allowed).min(min, allowed).max(max, allowed)
}

const taxRules = table(
  namedObject({
    Country: country,
    State: z.literal('').or(text(STATE_LENGTH_MAX)),
    Rate: number(100),
    IsIncluded: z.boolean(),
  }),
)

const shippingRates = table(
  namedObject({
    Method: text(METHOD_LENGTH_MAX),
    Country: z.literal('').or(country),
    Basis: z.enum(['weight', 'amount'], 'must be chosen'),
    From: number(toNumber(ORDER_AMOUNT_MAX)),
    Price: number(toNumber(ORDER_AMOUNT_MAX)),
  }),
)

export type TaxRule = z.output<typeof taxRules>[number]
export type ShippingRate = z.output<typeof shippingRates>[number]
type Row = TaxRule | ShippingRate

/** As orders name it: a country by its code, a state or a method by its name, all of them without regard to case. */
export const folded = (name: string) => name.trim().toLowerCase()

/** By ascending country and state. */
export function readTaxRules(caller: Pick<Caller, 'db' | 'store'>): Promise<TaxRule[]> {
  return rowsInTurn<TaxRule>(caller)`
    SELECT "country" AS "Country", "state" AS "State", "rate"::float8 AS "Rate", "isIncluded" AS "IsIncluded"
    FROM "TaxRule" WHERE "storeId" = ${storeId(caller.store)} ORDER BY "country", "state" LIMIT ${ROWS_MAX}::int`
}

/** By method and country, from the least on. */
export function readShippingRates(caller: Pick<Caller, 'db' | 'store'>): Promise<ShippingRate[]> {
  return rowsInTurn<ShippingRate>(caller)`
    SELECT "method" AS "Method", "country" AS "Country", "basis" AS "Basis", "from"::float8 AS "From", "price"::float8 AS "Price"
    FROM "ShippingRate" WHERE "storeId" = ${storeId(caller.store)}
    ORDER BY lower("method"), "country", "from" LIMIT ${ROWS_MAX}::int`
}

/** The tables, by the names of their pages. */
export const chargeTables = {
  taxes: {
    rows: taxRules,
    read: readTaxRules as (caller: Caller) => Promise<Row[]>,
    action: 'tax-rules.changed',
    refuse: (rows: readonly Row[]) => {
      const rules = rows as readonly TaxRule[]
      refuseSecond(rules, ({ Country, State }) => `${Country} ${folded(State)}`, 'Country', 'has a row already')
    },
  },
  shipping: {
    rows: shippingRates,
    read: readShippingRates as (caller: Caller) => Promise<Row[]>,
    action: 'shipping-rates.changed',
    refuse: (rows: readonly Row[]) => {
      const rates = rows as readonly ShippingRate[]
      const wayOf = ({ Method, Country }: ShippingRate) => `${folded(Method)}\n${Country}`
      refuseSecond(rates, (rate) => `${wayOf(rate)}\n${rate.From}`, 'From', 'has a row already')
      const basisOf = new Map(rates.map((rate) => [wayOf(rate), rate.Basis]))
      const index = rates.findIndex((rate) => basisOf.get(wayOf(rate)) !== rate.Basis)
      if (index >= 0)
        throw refusedRow('invalid-value', `${index}.Basis`, 'is not that of the other rows of this method and country')
    },
  },
} as const

export type ChargeTable = keyof typeof chargeTables

/** Refuses (409) the second of two rows that are of the same. */
function refuseSecond<R>(rows: readonly R[], of: (row: R) => string, name: string, problem: string): void {
  const all = rows.map(of)
  const index = all.findLastIndex((one, at) => all.indexOf(one) < at)
  if (index >= 0) throw refusedRow('not-unique', `${index}.${name}`, problem)
}

function refusedRow(code: ErrorCode, field: string, problem: string): StoreFailure {
  return new StoreFailure(code, `${field} ${problem}`, { field, faults: [{ field, problem }] })
}

/**
 * Replaces a table, which nothing refers to: orders keep what they were charged. `precondition` may refuse the rows as they are under
 * the lock. Refuses two rows of the same (409), and what names no country.
 */
export async function replaceTable(
  caller: Caller,
  name: ChargeTable,
  rows: readonly Row[],
  { actor, precondition }: { readonly actor: Actor; readonly precondition: (stored: readonly Row[]) => void },
): Promise<void> {
  const { read, refuse, action } = chargeTables[name]
  refuse(rows)
  await inStoreTransaction(caller, async (tx) => {
    const { id } = caller.store
    // Concurrent changes run one after the other.
    await tx.$queryRaw`SELECT 1 FROM "Store" WHERE "id" = ${id} FOR NO KEY UPDATE`
    precondition(await read({ ...caller, db: tx }))
    const data = rows.map((row) => {
      const members = Object.entries(row).map(([member, value]) => [
        `${member[0]?.toLowerCase()}${member.slice(1)}`,
        value,
      ])
      return { storeId: id, ...Object.fromEntries(members) }
    })
    if (name === 'taxes') {
      await tx.taxRule.deleteMany({ where: { storeId: id } })
      await tx.taxRule.createMany({ data })
    } else {
      await tx.shippingRate.deleteMany({ where: { storeId: id } })
      await tx.shippingRate.createMany({ data })
    }
    await recordAudit(tx, caller.now, {
      actor,
      action,
      target: caller.store.name,
      storeId: id,
      details: { rows: rows.length },
    })
  })
}
