import { expect, test } from 'vitest'
import { english } from '../../../../src/foundation/texts/language.ts'
import { actionsOf, nextStep, type OrderState } from '../../../../src/http/pages/shop/orders/order-page.ts'

const settled: OrderState = { isLive: true, owed: 0, net: 50, open: 0, toShip: [], hasLeftInPart: true }

test.each<[string, Partial<OrderState>, string | null]>([
  ['is not paid', { owed: 50, net: 0, open: 50, toShip: [7] }, 'payment'],
  ['is paid in part', { owed: 20, net: 30, open: 20, toShip: [7] }, 'payment'],
  ['has left and is not paid', { owed: 50, net: 0, open: 50 }, 'payment'],
  ['is paid', { toShip: [7] }, 'shipping'],
  ['was paid online, of which nothing is known', { net: 0, open: 50, toShip: [7] }, 'shipping'],
  ['is paid twice and has not left', { net: 100, open: -50, toShip: [7] }, 'shipping'],
  ['is paid twice and has left', { net: 100, open: -50 }, 'refund'],
  ['is paid and has left', {}, null],
  ['is cancelled and was paid', { isLive: false, toShip: [7] }, 'refund'],
  ['is cancelled and was not', { isLive: false, owed: 50, net: 0, open: 50, toShip: [7] }, null],
])('the next step of an order that %s', (_case, changes, expected) => {
  expect(nextStep({ ...settled, ...changes })).toBe(expected)
})

test.each<[Partial<OrderState>, string[]]>([
  [{ owed: 50, net: 0, open: 50, toShip: [7, 9], hasLeftInPart: false }, ['Record a payment!', 'Ship the goods']],
  [{ toShip: [7], hasLeftInPart: false }, ['Ship the goods!', 'Record a payment', 'Refund']],
  [{ toShip: [7] }, ['Ship the rest!', 'Record a payment', 'Refund']],
  [{}, ['Record a payment', 'Refund']],
  [{ isLive: false, toShip: [7] }, ['Refund!', 'Record a payment']],
])('the actions of an order begin with its next step: %j', (changes, expected) => {
  const actions = actionsOf({ ...settled, ...changes })
  expect(actions.map(({ text, isNext }) => (isNext ? `${english(text)}!` : english(text)))).toEqual([
    ...expected,
    'Packing slip',
    'Invoice',
    'Return goods',
    'Change goods',
    'Write to the customer',
  ])
  expect(actions.filter(({ route }) => route === 'shipments/:shipmentId').map(({ part }) => part)).toEqual(
    expected.some((text) => text.startsWith('Ship')) ? ['shipments/7'] : [],
  )
})
