import type { Caller } from '../../../engine/caller.ts'
import { rowsInTurn } from '../../../foundation/database/client.ts'
import { constant, type Sql, sql, storeId } from '../../../foundation/database/sql.ts'
import type { CustomerRecord } from './customers.ts'

/** What two customers have in common that few have who are not one. */
export interface Likeness {
  /** But for signs and accents: no two have the same. */
  readonly likeEmail: boolean
  readonly samePhone: boolean
  readonly sameNameAndPostcode: boolean
}

export interface Duplicate extends Likeness {
  readonly id: number
  readonly email: string | null
}

const SHOWN = 5
/** Of those that share a phone number, an address or a name, the newest are compared. */
const COMPARED_MAX = 100
/** Without the code of a country or town, which people write or leave out. */
const DIGITS_COMPARED = 8
/** Fewer are an extension. */
const DIGITS_MIN = 7

/**
 * Returns the customers who are likely the same person or company as this one, the newest first and at most 5: those with the same
 * e-mail address but for signs and accents, the same telephone number by its digits from the end, or the same name and postcode.
 */
export async function findDuplicates(caller: Caller, id: number, record: CustomerRecord): Promise<Duplicate[]> {
  const { store } = caller
  const email = record.Email ?? ''
  const name = `${record.BillingFirstName} ${record.BillingLastName}`.trim()
  const postcode = record.BillingZipCode.trim()
  const phones = [record.BillingPhoneNumber, record.ShippingPhoneNumber].flatMap((phone) => {
    const digits = phone.replace(/\D/g, '')
    // A number of one digit is what people write where they have to write something.
    return digits.length < DIGITS_MIN || /^(.)\1*$/.test(digits) ? [] : [digits.slice(-DIGITS_COMPARED)]
  })
  const asWords = (text: string) => sql`'% ' || btrim("folded"(${text})) || ' %'`
  const patterns = [
    ...(email === '' ? [] : [asWords(email)]),
    ...(name === '' || postcode === '' ? [] : [asWords(name)]),
    ...new Set(phones).values().map((digits) => sql`${`%${digits} %`}`),
  ]
  if (patterns.length === 0) return []
  // Words of records are found by an index (finders.ts), and then compared in full.
  const candidates = patterns.map(
    (pattern) => sql`(
      SELECT w."recordId" AS "id" FROM "SearchText" w WHERE w."storeId" = ${storeId(store)} AND w."service" = 'Customers'
        AND lower(w."words") LIKE ${pattern} ORDER BY 1 DESC LIMIT ${constant(COMPARED_MAX)})`,
  )
  const union = candidates.reduce((one, other) => sql`${one} UNION ${other}`)
  const hasDigits = (phone: Sql) =>
    phones.map((digits) => sql`"digitsOf"(${phone}) LIKE ${`%${digits}`}`).reduce(or, sql`false`)
  return rowsInTurn<Duplicate>(caller)`
    SELECT * FROM (
      SELECT c."id", c."email",
        ${email} <> '' AND coalesce("folded"(c."email") = "folded"(${email}), false) AS "likeEmail",
        coalesce(${hasDigits(sql`c."phone"`)}, false)
          OR coalesce(${hasDigits(sql`c."details" ->> 'ShippingPhoneNumber'`)}, false) AS "samePhone",
        ${name} <> '' AND ${postcode} <> ''
          AND btrim("folded"(c."firstName" || ' ' || c."lastName")) = btrim("folded"(${name}))
          AND replace("folded"(coalesce(c."details" ->> 'BillingZipCode', '')), ' ', '') = replace("folded"(${postcode}), ' ', '')
          AS "sameNameAndPostcode"
      FROM "Customer" c
      WHERE c."storeId" = ${storeId(store)} AND c."id" <> ${id}::int AND c."id" IN (SELECT "id" FROM (${union}) found)) each
    WHERE "likeEmail" OR "samePhone" OR "sameNameAndPostcode" ORDER BY "id" DESC LIMIT ${constant(SHOWN)}`
}

function or(one: Sql, other: Sql): Sql {
  return sql`(${one} OR ${other})`
}
