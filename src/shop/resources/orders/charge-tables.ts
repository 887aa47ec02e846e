import { z } from 'zod'
import type { Actor } from '../../../access/audit/audit.ts'
import { changeStore } from '../../../access/stores/change-store.ts'
import type { Caller } from '../../../engine/caller.ts'
import { insertRows } from '../../../engine/changing/write.ts'
import { execute, inStoreTransaction, rowsInTurn, type StoreReader } from '../../../foundation/database/client.ts'
import { identifier, sql, storeId } from '../../../foundation/database/sql.ts'
import { countryCodes } from '../../../foundation/texts/countries.ts'
import { namedObject, text } from '../../../foundation/values/input.ts'
import { ORDER_AMOUNT_MAX, toNumber } from './amounts.ts'

// What a store says orders are charged beside their goods: taxes by where they go, and ways of shipping; and who carries them.

/** Rows of a table. */
export const ROWS_MAX = 200

/** How names of states and methods are compared. */
export const folded = (name: string) => name.trim().toLowerCase()

const country = z.string().refine((code) => countryCodes.includes(code), 'must be chosen')

function number(max: number, min = 0) {
  const allowed = `must be a number from ${min} to ${max}`
  return z.number(allowed).min(min, allowed).max(max, allowed)
}

/** Rows of which each is refused that `isRefused` finds among those before it. */
function table<S extends z.ZodType>(
  row: S,
  name: string,
  isRefused: (row: z.output<S>, other: z.output<S>) => boolean,
) {
  const rows = z.array(row).max(ROWS_MAX, `must be at most ${ROWS_MAX} rows`)
  return rows.superRefine((all, context) => {
    for (const [at, row] of all.entries()) {
      const isSecond = all.slice(0, at).some((other) => isRefused(row, other))
      if (isSecond)
        context.addIssue({ code: 'custom', path: [at, name], message: 'does not fit another row of the same' })
    }
  })
}

const optional = <S extends z.ZodType>(schema: S) => z.literal('').or(schema)
const amount = number(toNumber(ORDER_AMOUNT_MAX))

const taxRule = namedObject({ country, state: optional(text(100)), rate: number(100), isIncluded: z.boolean() })
const shippingRate = namedObject({
  method: text(150),
  country: optional(country),
  basis: z.enum(['weight', 'amount'], 'must be chosen'),
  from: amount,
  price: amount,
})

const trackingUrl = 'must be an https address with {code} once, such as https://carrier.example/track?id={code}'

/** Only the path or the query depends on the tracking number, so that none leads to another host. Empty: there is no address. */
const placed = /^(https:\/\/[^\s/?#@\\{}]+[/?][^\s#\\{}]*\{code\}[^\s#\\{}]*(#[^\s\\{}]*)?)?$/i

/** `trackingUrl`: an https address with `{code}` where the tracking number stands; empty: the carrier has none. */
const carrier = namedObject({
  name: text(100),
  trackingUrl: z
    .string()
    .max(500, trackingUrl)
    .refine((given) => placed.test(given) && (given === '' || URL.canParse(given)), trackingUrl),
})

export type TaxRule = z.output<typeof taxRule>
export type ShippingRate = z.output<typeof shippingRate>

/** The tables, by the names of their pages. */
export const chargeTables = {
  taxes: {
    table: 'TaxRule',
    order: sql`t."country", t."state"`,
    action: 'tax-rules.changed',
    rows: table(taxRule, 'country', (one, other) => {
      return one.country === other.country && folded(one.state) === folded(other.state)
    }),
  },
  shipping: {
    table: 'ShippingRate',
    order: sql`lower(t."method"), t."country", t."from"`,
    action: 'shipping-rates.changed',
    rows: table(shippingRate, 'from', (one, other) => {
      const isSameWay = folded(one.method) === folded(other.method) && one.country === other.country
      return isSameWay && (one.from === other.from || one.basis !== other.basis)
    }),
  },
  carriers: {
    table: 'Carrier',
    order: sql`t."name"`,
    action: 'carriers.changed',
    rows: table(carrier, 'name', (one, other) => folded(one.name) === folded(other.name)),
  },
} as const

export type ChargeTable = keyof typeof chargeTables
export const chargeTableNames = Object.keys(chargeTables) as ChargeTable[]
type Row<Name extends ChargeTable> = z.output<(typeof chargeTables)[Name]['rows']>[number]

/** The rows of a table: rules by country and state, prices by method, country and from the least on, carriers by name. */
export async function readTable<Name extends ChargeTable>(caller: StoreReader, name: Name): Promise<Row<Name>[]> {
  const { table, order } = chargeTables[name]
  const found = await rowsInTurn<{ row: string }>(caller)`
    SELECT (to_jsonb(t) - 'storeId' - 'id')::text AS "row" FROM ${identifier(table)} t
    WHERE t."storeId" = ${storeId(caller.store)} ORDER BY ${order} LIMIT ${ROWS_MAX}::int`
  return found.map(({ row }) => JSON.parse(row))
}

/** Replaces a table, to which nothing refers: orders keep what they were charged. `precondition` may refuse the rows as they are under the lock. */
export async function replaceTable(
  caller: Caller,
  name: ChargeTable,
  rows: readonly Row<ChargeTable>[],
  { actor, precondition }: { readonly actor: Actor; readonly precondition: (stored: readonly object[]) => void },
): Promise<void> {
  const { table, action } = chargeTables[name]
  await inStoreTransaction(caller, (db) => {
    const work = async () => {
      const tx = { ...caller, db }
      precondition(await readTable(tx, name))
      await execute(db)`DELETE FROM ${identifier(table)} WHERE "storeId" = ${caller.store.id}::int`
      const owned = rows.map((row) => ({ storeId: caller.store.id, ...row }))
      await insertRows(tx, table, owned)
      return { rows: rows.length }
    }
    return changeStore(db, caller, { actor, action, work })
  })
}

/** Shipments that are looked at, the newest. */
const SHIPMENTS_READ = 100
const METHODS_MAX = 10

/** The names of the shipping methods of the newest shipments, those of most of them first. */
export async function listUsedMethods(caller: Caller): Promise<string[]> {
  const rows = await rowsInTurn<{ name: string }>(caller)`
    SELECT n."name" FROM (
      SELECT s."details" ->> 'ShipmentMethodName' AS "name" FROM "OrderShipment" s
      WHERE s."storeId" = ${storeId(caller.store)} ORDER BY s."id" DESC LIMIT ${SHIPMENTS_READ}::int) n
    WHERE n."name" <> '' GROUP BY n."name" ORDER BY count(*) DESC, n."name" LIMIT ${METHODS_MAX}::int`
  return rows.map(({ name }) => name)
}
