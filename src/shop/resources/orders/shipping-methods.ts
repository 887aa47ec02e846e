import type { Caller } from '../../../engine/caller.ts'
import { rowsInTurn } from '../../../foundation/database/client.ts'
import { storeId } from '../../../foundation/database/sql.ts'

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
