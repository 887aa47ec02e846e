import type { Identity } from '../../../foundation/database/generated/client.ts'
import { type Sql, sql } from '../../../foundation/database/sql.ts'

/** SQL: whether the row of "Identity" has a second factor in force at a time: an authenticator app or a passkey that no operator's removal has ended. */
export function hasFactor(at: Date): Sql {
  return sql`(("Identity"."totpSince" IS NOT NULL OR "Identity"."passkeySince" IS NOT NULL)
    AND ("Identity"."factorsEndAt" IS NULL OR "Identity"."factorsEndAt" > ${at}::timestamptz))`
}

/** What to select for `FactorColumns`. */
export const factorColumns = { totpSince: true, passkeySince: true, factorsEndAt: true } as const

/** What the row of an identity says of its second factors. */
export type FactorColumns = Pick<Identity, keyof typeof factorColumns>

/** The same as `hasFactor`, of a row. */
export function isFactorInForce({ totpSince, passkeySince, factorsEndAt }: FactorColumns, at: Date): boolean {
  return (totpSince !== null || passkeySince !== null) && (factorsEndAt === null || factorsEndAt > at)
}
