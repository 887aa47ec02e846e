import { z } from 'zod'
import { type Actor, recordAudit } from '../../../access/audit/audit.ts'
import type { Caller } from '../../../engine/caller.ts'
import { type Db, inStoreTransaction, readInTurn, type Transaction } from '../../../foundation/database/client.ts'
import type { PaymentMethod as MethodRow } from '../../../foundation/database/generated/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, text } from '../../../foundation/values/input.ts'
import { lowestFree } from '../lowest-free.ts'
import { METHODS_MAX, NAME_LENGTH_MAX, tooManyMethods } from './payment-methods.ts'

/** `visible`: whether it is offered for new orders. */
export type PaymentMethod = Pick<MethodRow, 'id' | 'name' | 'visible'>

const ID_MAX = 999_999_999
const list = `must be a list of 1 to ${METHODS_MAX} payment methods`
const id = `must be a whole number from 1 to ${ID_MAX}`

/** The body of `PUT /admin/stores/{id}/payment-methods`: changes of existing methods, and new ones. */
export const changedMethods = z
  .array(
    namedObject({
      PaymentMethodID: z
        .int(id)
        .min(1, id)
        .max(ID_MAX, id)
        .optional()
        .describe('The number of the method to change or to add. Left out: the lowest free one is added.'),
      Name: text(NAME_LENGTH_MAX)
        .optional()
        .describe('The name of the method as people read it. Required for a new one.'),
      Visible: z
        .boolean('must be true or false')
        .optional()
        .describe('Whether the method is offered for new orders. Left out of a new one: it is.'),
    }),
    list,
  )
  .min(1, list)
  .max(METHODS_MAX, list)

type ChangedMethods = z.output<typeof changedMethods>

/** Returns the payment methods of a store by ascending id, including hidden ones. */
export function listPaymentMethods(db: Db | Transaction, storeId: number): Promise<PaymentMethod[]> {
  return readInTurn({ db, store: { id: storeId } }, () =>
    db.paymentMethod.findMany({
      where: { storeId },
      select: { id: true, name: true, visible: true },
      orderBy: { id: 'asc' },
      take: METHODS_MAX,
    }),
  )
}

/**
 * Changes names and visibility of payment methods and adds new ones, all or none. A method without an id or with an
 * unknown one is new; without an id it gets the lowest free one. Methods are never removed, because orders name them.
 * Refuses a new method without a name and more than 100 methods (400), and two equal names, ignoring case (409).
 */
export async function updatePaymentMethods(caller: Caller, changes: ChangedMethods, actor: Actor): Promise<void> {
  await inStoreTransaction(caller, async (tx) => {
    const storeId = caller.store.id
    // Concurrent changes run one after the other.
    await tx.$queryRaw`SELECT 1 FROM "Store" WHERE "id" = ${storeId} FOR NO KEY UPDATE`
    const methods = new Map((await listPaymentMethods(tx, storeId)).map((method) => [method.id, method]))
    const ids = changes.map((change, index) => apply(methods, change, index))
    if (methods.size > METHODS_MAX) throw tooManyMethods()
    refuseEqualNames([...methods.values()])
    for (const changed of new Set(ids)) {
      const { name, visible } = methods.get(changed) as PaymentMethod
      await tx.paymentMethod.upsert({
        where: { storeId_id: { storeId, id: changed } },
        create: { storeId, id: changed, name, visible },
        update: { name, visible },
      })
    }
    await recordAudit(tx, caller.now, {
      actor,
      action: 'payment-methods.changed',
      target: caller.store.name,
      storeId,
      details: { methods: ids },
    })
  })
}

/** Returns the id of the method. */
function apply(
  methods: Map<number, PaymentMethod>,
  { PaymentMethodID, Name, Visible }: ChangedMethods[number],
  index: number,
) {
  const changed = PaymentMethodID ?? lowestFree((id) => methods.has(id))
  const { name = Name, visible = true } = methods.get(changed) ?? {}
  if (name === undefined) {
    const field = `${index}.Name`
    throw new StoreFailure('missing-field', `${field} is missing: a new payment method needs a name`, { field })
  }
  methods.set(changed, { id: changed, name: Name ?? name, visible: Visible ?? visible })
  return changed
}

function refuseEqualNames(methods: readonly PaymentMethod[]): void {
  const names = methods.map(({ name }) => name.toLowerCase())
  const twice = methods.find((_, index) => names.indexOf(names[index] as string) < index)
  if (!twice) return
  const problem = `Two payment methods would have the name ${twice.name}; each needs one of its own`
  throw new StoreFailure('not-unique', problem, { field: 'Name' })
}
