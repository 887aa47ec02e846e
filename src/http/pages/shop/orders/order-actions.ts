import { type Text, t } from '../../../../foundation/texts/text.ts'

/** What says which step of an order comes next. */
export interface OrderState {
  /** Neither cancelled nor given up at the checkout. */
  readonly isLive: boolean
  /** What is open and worth a warning (`paymentsOf`). */
  readonly owed: number
  /** What the shop has of the order: paid less refunded. */
  readonly net: number
  /** What is open; below 0 where more was paid than the order comes to. */
  readonly open: number
  /** The shipments that have not left. */
  readonly toShip: readonly number[]
  /** Whether some of its parcels have left. */
  readonly hasLeftInPart: boolean
}

type NextStep = 'payment' | 'shipping' | 'refund'

/** Returns the step of an order that comes next: money, then goods, then money to give back. Null: nothing is pressing. */
export function nextStep({ isLive, owed, net, open, toShip }: OrderState): NextStep | null {
  if (!isLive) return net > 0 ? 'refund' : null
  if (owed > 0) return 'payment'
  if (toShip.length > 0) return 'shipping'
  return open < 0 ? 'refund' : null
}

interface OrderAction {
  /** The end of its address, and of the route that has to be open to somebody who is to see it. */
  readonly part: string
  readonly route: string
  readonly text: Text
  readonly isNext: boolean
}

const others: readonly OrderAction[] = [
  { part: 'packing-slip', route: 'packing-slip', text: t('Packing slip'), isNext: false },
  { part: 'invoice', route: 'invoice', text: t('Invoice'), isNext: false },
  { part: 'returns/new', route: 'returns/new', text: t('Return goods'), isNext: false },
  { part: 'lines', route: 'lines', text: t('Change goods'), isNext: false },
]

const payTexts = { payment: t('Record a payment'), refund: t('Record a refund') }

/** What can be done with an order: the next step first. */
export function actionsOf(state: OrderState): OrderAction[] {
  const next = nextStep(state)
  const pay = {
    part: next === 'refund' ? 'payments?type=Refund' : 'payments',
    route: 'payments',
    text: next === 'payment' || next === 'refund' ? payTexts[next] : t('Record a payment or refund'),
    isNext: next === 'payment' || next === 'refund',
  }
  const [first] = state.isLive ? state.toShip : []
  if (first === undefined) return [pay, ...others]
  const ship = {
    part: `shipments/${first}`,
    route: 'shipments/:shipmentId',
    text: state.hasLeftInPart ? t('Ship the rest') : t('Ship the goods'),
    isNext: next === 'shipping',
  }
  return [...(pay.isNext ? [pay, ship] : [ship, pay]), ...others]
}
