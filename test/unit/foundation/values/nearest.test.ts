import { expect, test } from 'vitest'
import { candidateOf, nearestName } from '../../../../src/foundation/values/nearest.ts'

const names = ['OrderID', 'InternalComments', 'IP', 'ShipmentList.ShipmentTrackingCode', 'OrderItemList.ItemQuantity']
const candidates = names.map((name) => candidateOf(name))

test.each([
  ['internal_comment', 'InternalComments'],
  ['InternComments', 'InternalComments'],
  // Without the beginning that the names of a record have in common.
  ['TrackingCode', 'ShipmentList.ShipmentTrackingCode'],
  ['Quantity', 'OrderItemList.ItemQuantity'],
  ['Id', 'OrderID'],
  ['ip', 'IP'],
  ['Weather', null],
  ['X', null],
  ['', null],
])('%j means %j', (given, meant) => {
  expect(nearestName(given, candidates)).toBe(meant)
})
