import { allows } from '../../../../access/applications/privileges.ts'
import type { Caller } from '../../../../engine/caller.ts'
import type { Call, Endpoint, Operation, RecordsAnswer, RecordType } from '../../../../engine/definition/endpoints.ts'
import { fieldSet, integer, money, text } from '../../../../engine/definition/fields.ts'
import { resultItem, StoreFailure } from '../../../../foundation/values/failure.ts'
import { ORDER_ITEMS_MAX } from '../order-body.ts'
import { orderPageAddress } from '../order-page.ts'
import { type PlacedOrder, placeRead, wrongContact } from '../place-order.ts'
import { type CheckoutBody, checkoutType, readCheckout } from './body.ts'
import { boundIn, keyOf, orderWithKey, rememberKey } from './keys.ts'
import { quote, quoteType, wrongGoods } from './quote.ts'

const resultType: RecordType = {
  typeName: 'PlacedCheckout',
  description: 'A result item, with what people know of the order.',
  fields: fieldSet({
    Key: text(50, { description: '`OrderID`.' }),
    Value: text(50, { description: 'The number of the order in the store, by which addresses name it.' }),
    Status: text(3, { description: 'The HTTP status.' }),
    Message: text(undefined, { description: 'What was done.' }),
    InvoiceNumberPrefix: text(50, { description: 'The prefix of InvoiceNumber in the number that people see.' }),
    InvoiceNumber: integer({ description: 'The number of the order that people see, without its prefix.' }),
    OrderAmount: money({ description: 'The total of the order.' }),
    OrderPage: text(undefined, {
      isOptional: true,
      description:
        'The address of a page of this order alone, for its buyer: whoever has it sees the order. Left out where the server has no such pages.',
    }),
  }),
}

const taken = { type: checkoutType, mode: 'create', many: false } as const

/** Hidden products are sold by programs with prices of their own alone. */
function termsOf({ caller }: Call, { settle }: CheckoutBody) {
  return { isShopFront: !allows(caller.privileges, 'CheckoutPrices', 'write'), settle }
}

/** Throws everything that is wrong with the body, with the goods that it names, and `others`. */
async function refuseAll(call: Call, read: CheckoutBody, others: readonly StoreFailure[] = []): Promise<void> {
  const items = read.patch.lists.OrderItemList ?? []
  const isCounted = items.length <= ORDER_ITEMS_MAX && items.every(({ columns }) => Number(columns.quantity) > 0)
  const goods = isCounted ? await wrongGoods(call.caller, read.patch, termsOf(call, read)) : []
  read.refuse([...others, ...goods])
}

const place: Operation = {
  named: {
    id: 'createOrder',
    summary: 'Place an order',
    description:
      'Places an order, in one transaction with the payment that was taken elsewhere. Prices come from the products; shipping costs and taxes are the caller’s. A line is refused where its product is unknown, NotForSale or, without CheckoutPrices, Hide; where its quantity breaks MinimumQuantity, MaximumQuantity, AllowOnlyMultiples or AllowFractionalQuantity; where ItemOptions has an option of another product, two of a set that allows one, or none of a required set; where its price with options is below 0; and where its stock is less than what all lines of the same goods take, unless InventoryControl is 2. The `Idempotency-Key` stands for the order as long as that is there: the same key with the same bytes returns the same order, whatever happened in between; with other bytes it is a 422.',
  },
  needsKey: true,
  takes: taken,
  gives: { kind: 'own', type: resultType, parameters: [], size: 'one', isNew: true },
  run: async (call) => {
    const { caller } = call
    const key = keyOf(call)
    const earlier = await orderWithKey(caller, key)
    if (earlier !== null) return answer(call, earlier, true)
    const read = await readCheckout(call)
    const nobody = wrongContact(read.patch)
    if (read.isWrong || nobody.length > 0) await refuseAll(call, read, nobody)
    const close = (tx: Caller, { id }: PlacedOrder) => rememberKey(tx, id, key)
    try {
      return answer(call, await placeRead(caller, read.patch, { ...termsOf(call, read), close }), false)
    } catch (error) {
      // Another process may have placed it meanwhile, and taken the last piece.
      const placed = await orderWithKey(caller, key)
      if (placed !== null) return answer(call, placed, true)
      if (error instanceof StoreFailure && error.status < 500) await refuseAll(call, read)
      throw (await boundIn(error, caller)) ?? error
    }
  },
}

function answer(call: Call, placed: PlacedOrder, replayed: boolean): RecordsAnswer {
  const { id, invoicePrefix, invoiceNumber, orderAmount } = placed
  const page = orderPageAddress(call, call.caller.store.id, id)
  const record = {
    ...resultItem('OrderID', id, 201, 'Created successfully'),
    InvoiceNumberPrefix: invoicePrefix,
    InvoiceNumber: invoiceNumber,
    OrderAmount: orderAmount,
    ...(page !== null && { OrderPage: page }),
  }
  return { kind: 'records', status: 201, records: [JSON.stringify(record)], type: resultType, replayed, isSecret: true }
}

const workOut: Operation = {
  named: {
    id: 'quoteOrder',
    summary: 'Quote an order',
    description:
      'Works out what placing the same order would cost now, and stores and reserves nothing. Lines that are out of stock are named, and no refusal.',
  },
  access: 'read',
  takes: taken,
  gives: { kind: 'own', type: quoteType, parameters: [], size: 'one' },
  run: async (call) => {
    const read = await readCheckout(call)
    if (read.isWrong) await refuseAll(call, read)
    const quoted = await quote(call.caller, read.patch, termsOf(call, read))
    return { kind: 'records', records: [JSON.stringify(quoted)], type: quoteType }
  },
}

const shared = {
  root: 'Checkout',
  params: {},
  privileges: ['Checkout'],
  tag: {
    name: 'Checkout',
    description:
      'How applications place orders. Needs the privilege `Checkout`, which an application and each store have to name; prices, discounts, dates and statuses of the caller’s own need `CheckoutPrices` too. A store takes 1,000 orders an hour of an application, unless the merchant sets another number.',
  },
} as const

/** The addresses by which applications place orders. */
export const checkoutEndpoints: readonly Endpoint[] = [
  { ...shared, path: '', operations: { POST: place } },
  { ...shared, path: '/Quote', operations: { POST: workOut } },
]
