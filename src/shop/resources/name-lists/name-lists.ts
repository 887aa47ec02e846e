import { defineResource } from '../../../engine/definition/define.ts'
import { boolean, integer, text } from '../../../engine/definition/fields.ts'
import type { Change } from '../../../engine/definition/resource.ts'
import { rowsInTurn, type StoreReader } from '../../../foundation/database/client.ts'
import { identifier, storeId } from '../../../foundation/database/sql.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'

// What numbers of orders and returns mean: lists of names per store. No service serves them: export and import carry them, and the
// administration edits them (update-list.ts).

/** Names per list of a store. */
export const CODES_MAX = 100
export const NAME_LENGTH_MAX = 50
/** The highest number that people may give a name. */
export const NUMBER_MAX = 999_999_999

/** A number that records have, with its name. */
export interface Code {
  readonly id: number
  readonly name: string
  /** Whether it is offered for new records. */
  readonly visible: boolean
}

export const paymentMethods = listOf(
  'PaymentMethods',
  'PaymentMethod',
  'A way to pay that the shop offers, by the number that orders have.',
  'BillingPaymentMethodID',
)
export const returnReasons = listOf('ReturnReasons', 'ReturnReason', 'Why goods come back.', 'RMAReasonID')
export const returnMethods = listOf(
  'ReturnMethods',
  'ReturnMethod',
  'What the customer gets for goods that come back.',
  'RMAMethodID',
)
export const returnStatuses = listOf('ReturnStatuses', 'ReturnStatus', 'How far a return has come.', 'RMAStatusID')

/** By what they are called in addresses. */
export const nameLists = {
  'payment-methods': paymentMethods,
  reasons: returnReasons,
  methods: returnMethods,
  statuses: returnStatuses,
} as const
export type NameListName = keyof typeof nameLists

/** What the audit log calls the lists. */
export const auditMembers = {
  'payment-methods': 'methods',
  reasons: 'returnReasons',
  methods: 'returnMethods',
  statuses: 'returnStatuses',
} as const satisfies Readonly<Record<NameListName, string>>

function listOf(service: string, typeName: string, description: string, field: string) {
  return defineResource({
    service,
    typeName,
    description,
    methods: [],
    maxRecords: CODES_MAX,
    fields: {
      [`${typeName}ID`]: integer({
        column: 'id',
        access: 'key',
        description: `The number by which records name it as ${field}.`,
      }),
      Name: text(NAME_LENGTH_MAX, {
        column: 'name',
        required: true,
        description: 'The name that people read for the number.',
      }),
      Visible: boolean({
        column: 'visible',
        default: true,
        description: 'False: it is not offered for new records. Those that have it keep it.',
      }),
    },
    rules: { effects: (changes) => refuseTooMany(typeName, changes) },
  })
}

/** Throws a 400. Only imports change a list through the engine. */
async function refuseTooMany(table: string, [change]: readonly Change[]): Promise<void> {
  if (change && (await readTable(change.caller, table)).length > CODES_MAX) throw tooManyCodes()
}

export function tooManyCodes(): StoreFailure {
  const message = `A list has at most ${CODES_MAX} names. Rename or hide one of them`
  return new StoreFailure('limit-reached', message, { status: 400 })
}

/** Returns a list of a store by ascending number, hidden ones too. */
export function readNames(reader: StoreReader, name: NameListName): Promise<Code[]> {
  return readTable(reader, nameLists[name].table)
}

function readTable(reader: StoreReader, table: string): Promise<Code[]> {
  return rowsInTurn<Code>(reader)`
    SELECT "id", "name", "visible" FROM ${identifier(table)} WHERE "storeId" = ${storeId(reader.store)}
    ORDER BY "id" LIMIT ${CODES_MAX + 1}`
}

/** The columns by which returns name a list. */
const columnOf: Readonly<Partial<Record<NameListName, string>>> = {
  reasons: 'reasonId',
  methods: 'methodId',
  statuses: 'statusId',
}

/** Returns the numbers that the store's returns have, a hundred at most. Each is one look into the index of the column. */
export async function readUsedNumbers({ db, store }: StoreReader, name: NameListName): Promise<number[]> {
  const named = columnOf[name]
  if (named === undefined) return []
  const column = identifier(named)
  const rows = await rowsInTurn<{ id: number }>({ db, store })`
    WITH RECURSIVE "used" AS (
      (SELECT r.${column} AS "id" FROM "Rma" r WHERE r."storeId" = ${storeId(store)} ORDER BY r.${column} LIMIT 1)
      UNION ALL
      SELECT (
        SELECT r.${column} FROM "Rma" r WHERE r."storeId" = ${storeId(store)} AND r.${column} > u."id" ORDER BY r.${column} LIMIT 1)
      FROM "used" u WHERE u."id" IS NOT NULL)
    SELECT "id" FROM "used" WHERE "id" IS NOT NULL LIMIT ${CODES_MAX}`
  return rows.map(({ id }) => id)
}
