import { lastDay, localDate } from './calendar.ts'
import { between, happens, oneOf, someOf } from './chance.ts'
import { lineName, lineSku, type OrderLine, variantOf } from './order-lines.ts'
import { type Order, status as orderStatus } from './orders.ts'

const returnCount = 20

/** order-statuses §3 */
const status = { new: 1, approved: 2, received: 3, completed: 4, denied: 5 } as const
const reasons = [
  { id: 1, isFaulty: true, comments: ['It arrived with a crack.', 'The box was crushed and so was what is in it.'] },
  { id: 2, isFaulty: false, comments: ['I ordered another one.', 'This is not the one in the picture.'] },
  { id: 3, isFaulty: false, comments: ['Changed my mind – sorry!', 'It was a present, and now there are two.', ''] },
  { id: 4, isFaulty: false, comments: ['It does not go with the sofa.', 'Too heavy for my mother.'] },
]
const moneyBack = 1
const methods = [moneyBack, moneyBack, moneyBack, 2, 3]

/** The oldest are done; the newest are on their way. */
const lastStatuses = [status.denied, status.received, status.received, status.approved, status.new, status.new]

export interface Return {
  readonly orderId: number
  readonly updatedAt: string
  readonly items: readonly ReturnedItem[]
  readonly record: Record<string, unknown>
  /** What the wire does not show. */
  readonly private: Record<string, unknown>
}

export interface ReturnedItem {
  readonly line: OrderLine
  readonly quantity: number
  readonly received: number
  /** Went back to the stock. */
  readonly restocked: number
}

/** Of as many shipped orders, in the order in which they were asked for. */
export function makeReturns(orders: readonly Order[]): Return[] {
  const returnable = orders.filter((order) => isLongShipped(order) && goodsOf(order).length > 0)
  return someOf(returnable, returnCount)
    .map((order) => ({ order, day: order.shippedDay + between(5, 25) }))
    .sort((one, other) => one.day - other.day || one.order.id - other.order.id)
    .map(({ order, day }, index) => {
      const statusId = lastStatuses[index - returnCount + lastStatuses.length] ?? status.completed
      return makeReturn(index + 1, order, day, statusId)
    })
}

/** Long enough for all that follows. */
function isLongShipped({ statusId, shippedDay }: Order): boolean {
  return statusId === orderStatus.shipped && shippedDay <= lastDay - 40
}

/** Gift certificates are not taken back. */
function goodsOf({ lines }: Order): OrderLine[] {
  return lines.filter(({ product }) => product.weight > 0)
}

function makeReturn(id: number, order: Order, day: number, statusId: number): Return {
  const reason = oneOf(reasons)
  const methodId = oneOf(methods)
  const isReceived = statusId === status.received || statusId === status.completed
  const items = someOf(goodsOf(order), happens(30) ? 2 : 1).map((line) => {
    const quantity = between(1, Math.min(line.quantity, 3))
    const isSoldAgain = statusId === status.completed && !reason.isFaulty
    return { line, quantity, received: isReceived ? quantity : 0, restocked: isSoldAgain ? between(1, quantity) : 0 }
  })
  const askedAt = localDate(day, between(480, 1_260), between(0, 59))
  const updatedAt = statusId === status.new ? askedAt : localDate(day + between(2, 10), between(480, 1_020))
  const codes = items.map(({ line }) => variantOf(line)?.code)
  return {
    orderId: order.id,
    updatedAt,
    items,
    record: {
      RMAID: id,
      RmaDate: askedAt,
      OrderID: order.id,
      RMAReasonID: reason.id,
      RMAMethodID: methodId,
      RMAStatusID: statusId,
      Comments: oneOf(reason.comments),
      InternalComments: isReceived ? oneOf(['Box opened at the desk.', 'Came back in its own box.', '']) : '',
      StaffComments: staffComment(statusId, methodId, items),
      RMAItemList: items.map(({ line, quantity, received, restocked }) => ({
        CatalogID: line.product.id,
        SKU: lineSku(line),
        ItemName: lineName(line),
        ReturnQuantity: quantity,
        ReceivedQuantity: received,
        RestockQuantity: restocked,
      })),
    },
    private: {
      LastUpdate: updatedAt,
      UserID: statusId === status.new ? '' : 'sandbox',
      // As an export writes them: a list without hidden columns is left out.
      ...(codes.some(Boolean)
        ? { Rows: { RMAItemList: codes.map((code) => (code ? { optionCode: code } : {})) } }
        : {}),
    },
  }
}

function staffComment(statusId: number, methodId: number, items: readonly ReturnedItem[]): string {
  if (statusId === status.denied) return 'It was used for a whole season: not taken back.'
  if (statusId !== status.completed) return ''
  if (methodId !== moneyBack) return 'The other one is on its way.'
  const cents = items.reduce((sum, { line, quantity }) => sum + quantity * (line.unitCents + line.optionCents), 0)
  return `Paid back: ${(cents / 100).toFixed(2)}.`
}
