import type { Caller } from '../../engine/caller.ts'
import { type FieldSet, fieldSet } from '../../engine/fields.ts'
import { type Patch, readInput } from '../../engine/input.ts'
import { wrongField } from '../../engine/refused.ts'
import { StoreFailure } from '../../values/failure.ts'
import { orderItemList, promotionList, questionList, shipmentList, transactionList } from './lists.ts'
import { orders } from './orders.ts'
import { statusNotCompleted } from './statuses.ts'

/** Items of a new order. */
export const ITEMS_MAX = 500

/** The validated body of a new order; the patches of lists have their fields by column. */
export interface OrderBody {
  /** All fields except the lists that `placeOrder` stores as rows. */
  readonly patch: Patch
  readonly isNotCompleted: boolean
  readonly items: readonly Patch[]
  /** Null: omitted, so the order ships to the billing address. */
  readonly shipments: readonly Patch[] | null
  readonly transactions: readonly Patch[]
}

interface Refusals {
  readonly fields: FieldSet
  /** Computed when the order is placed; must not be sent. */
  readonly computed: readonly string[]
  readonly lists?: Readonly<Record<string, Refusals>>
}

const refusals: Refusals = {
  fields: orders.fields,
  computed: ['InvoiceNumberPrefix', 'InvoiceNumber', 'OrderID', 'LastUpdate', 'UserID', 'OrderDiscount', 'OrderAmount'],
  lists: {
    ShipmentList: {
      fields: shipmentList.fields,
      computed: ['ShipmentID', 'ShipmentLastUpdate', 'ShipmentOrderStatus', 'ShipmentUserID', 'ShipmentNumber'],
    },
    OrderItemList: {
      fields: orderItemList.fields,
      computed: [
        'ItemIndexID',
        'ItemDescription',
        'ItemUnitPrice',
        'ItemWeight',
        'ItemOptionPrice',
        'ItemAvailability',
        'ItemUnitCost',
        'ItemUnitStock',
        'ItemImage1',
        'ItemImage2',
        'ItemImage3',
        'ItemImage4',
        'ItemWarehouseLocation',
        'ItemWarehouseBin',
        'ItemWarehouseAisle',
        'ItemWarehouseCustom',
      ],
    },
    PromotionList: { fields: promotionList.fields, computed: ['PromotionID'] },
    TransactionList: { fields: transactionList.fields, computed: ['TransactionIndexID', 'OrderID'] },
    QuestionList: { fields: questionList.fields, computed: ['QuestionAnswerIndexID', 'OrderID'] },
  },
}

/** The fields that the body may have, for the API description. */
export const orderBodyType = { typeName: 'PlacedOrder', fields: takenFields(refusals) }

function takenFields({ fields, computed, lists = {} }: Refusals): FieldSet {
  const taken = fields.entries
    .filter(([name]) => !computed.includes(name))
    .map(([name, field]) => {
      const list = lists[name]
      if (field.kind === 'object') return [name, field]
      // Notes describe stored orders.
      if (field.kind !== 'list')
        return [name, { ...field, access: field.access === 'ro' ? 'rw' : field.access, note: '' }]
      return [name, { ...field, typeName: `Placed${field.typeName}`, fields: list ? takenFields(list) : field.fields }]
    })
  return fieldSet(Object.fromEntries(taken))
}

/** The columns of what counts toward the order's amount, by wire name. */
const orderAmounts = {
  OrderDiscountCoupon: 'discountCoupon',
  OrderDiscountPromotion: 'discountPromotion',
  SalesTax: 'salesTax',
  SalesTax2: 'salesTax2',
  SalesTax3: 'salesTax3',
}
const shipmentAmounts = { ShipmentCost: 'cost', ShipmentWeight: 'weight' }

/**
 * Reads the body of `POST /admin/stores/{id}/orders`, with the wire names of Order. Refuses (400, with the field's
 * path) computed and unknown fields, and values out of bounds. Accepts what only the checkout knows (ContinueURL,
 * BillingPaymentMethod, the questions' texts), although clients of the API cannot write it.
 */
export function readOrderBody(caller: Caller, body: unknown): OrderBody {
  refuseNames(refusals, body, '')
  const read = readInput(orders.fields, body, { mode: 'import', timeZone: caller.store.timeZone })
  const { OrderItemList: items = [], ShipmentList: shipments = null, TransactionList: transactions = [] } = read.lists
  refuseItems(items)
  refuseNegative(read, orderAmounts, '')
  shipments?.forEach((shipment, index) => {
    refuseNegative(shipment, shipmentAmounts, `ShipmentList[${index}].`)
  })
  return { patch: read, isNotCompleted: readStatus(read), items, shipments, transactions }
}

function refuseNames({ fields, computed, lists = {} }: Refusals, body: unknown, path: string): void {
  if (typeof body !== 'object' || body === null) return
  for (const [given, member] of Object.entries(body)) {
    if (member === null || member === undefined) continue
    const name = fields.byLowerName.get(given.toLowerCase())
    const field = `${path}${name ?? given.slice(0, 50)}`
    if (name === undefined) {
      const logMessage = `${path || 'The order: '}a field that cannot be sent`
      throw new StoreFailure('bad-request', `${field} is not a field that can be sent`, { field, logMessage })
    }
    if (computed.includes(name)) throw wrongField(field, 'is computed when the order is placed, and must not be sent')
    const list = lists[name]
    if (list && Array.isArray(member)) {
      member.forEach((item, index) => {
        refuseNames(list, item, `${field}[${index}].`)
      })
    }
  }
}

function refuseItems(items: readonly Patch[]): void {
  if (items.length === 0 || items.length > ITEMS_MAX) {
    throw wrongField('OrderItemList', `must have 1 to ${ITEMS_MAX} items; it has ${items.length}`)
  }
  items.forEach(({ columns }, index) => {
    const path = `OrderItemList[${index}]`
    if (!columns.productId && !columns.sku) throw wrongField(`${path}.CatalogID`, 'is required, or ItemID')
    if (columns.quantity === undefined) throw wrongField(`${path}.ItemQuantity`, 'is required')
    if (Number(columns.quantity) <= 0) throw wrongField(`${path}.ItemQuantity`, 'must be more than 0')
  })
}

function refuseNegative({ columns }: Patch, amounts: Readonly<Record<string, string>>, path: string): void {
  for (const [name, column] of Object.entries(amounts)) {
    if (Number(columns[column] ?? 0) < 0) throw wrongField(path + name, 'must not be negative')
  }
}

/** Whether the order stays Not Completed, the only status that can be requested. */
function readStatus({ columns }: Patch): boolean {
  if (columns.statusId === undefined) return false
  if (columns.statusId === statusNotCompleted) return true
  throw wrongField(
    'OrderStatusID',
    `may be ${statusNotCompleted} (Not Completed), or left out: New or Unpaid is set then`,
  )
}
