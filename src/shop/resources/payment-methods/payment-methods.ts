import { defineResource } from '../../../engine/definition/define.ts'
import { boolean, integer, text } from '../../../engine/definition/fields.ts'
import type { Change } from '../../../engine/definition/resource.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'

/** Payment methods per store. */
export const METHODS_MAX = 100
export const NAME_LENGTH_MAX = 50

/**
 * The store's payment methods; orders name their id as BillingPaymentMethodID. No service serves them: export and
 * import carry them, and the administration edits them (update-methods.ts).
 */
export const paymentMethods = defineResource({
  service: 'PaymentMethods',
  typeName: 'PaymentMethod',
  description: 'A way to pay that the shop offers, by the number that orders have.',
  methods: [],
  maxRecords: METHODS_MAX,
  fields: {
    PaymentMethodID: integer({
      column: 'id',
      access: 'key',
      description: 'The number of the method. Orders name it as BillingPaymentMethodID.',
    }),
    Name: text(NAME_LENGTH_MAX, {
      column: 'name',
      required: true,
      description:
        'The name of the method as people read it. Orders that use the method show it as BillingPaymentMethod.',
    }),
    Visible: boolean({
      column: 'visible',
      default: true,
      description: 'False: the method is not offered for new orders. Orders that have it keep it.',
    }),
  },
  rules: { effects: refuseTooMany },
})

/** Throws a 400. Only imports change payment methods through the engine. */
async function refuseTooMany([change]: readonly Change[]): Promise<void> {
  if (!change) return
  const { db, store } = change.caller
  const count = await db.paymentMethod.count({ where: { storeId: store.id } })
  if (count > METHODS_MAX) throw tooManyMethods()
}

export function tooManyMethods(): StoreFailure {
  const message = `A store has at most ${METHODS_MAX} payment methods. Rename or hide one of them`
  return new StoreFailure('limit-reached', message, { status: 400 })
}
