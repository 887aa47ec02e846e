import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest'
import { endpointOf } from '../../../support/gate.ts'
import { shared } from '../../../support/shared.ts'
import { watchConnections } from '../../../unit/foundation/outbound/receivers.ts'
import { openReceiver, type Receiver, status } from './dispatch-receiver.ts'
import { openStage } from './dispatch-stage.ts'

let receiver: Receiver

const stage = await shared(openStage())
const storeId = await stage.addStore()
beforeEach(async () => {
  receiver = await openReceiver()
})
afterEach(() => stage.clear())

const portOf = ({ url }: Receiver) => new URL(url).port

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['[::ffff:10.0.0.1]', '10.0.0.1'],
  ['0x7f000001', '127.0.0.1'],
  ['inside.example', null],
])('a webhook to %s is refused, with the reason in the log of its delivery', async (host, address) => {
  const lookup = vi.fn(async () => ['10.0.0.5'])
  const webhook = await stage.addWebhook(storeId, { url: `http://${host}:${portOf(receiver)}/hook` })
  await stage.addEvent(storeId)
  const process = stage.openProcess({ outbound: { allow: [], lookup } })
  const attempted = watchConnections()
  await process.dispatcher.settle()
  // Where the DNS of this server leads a name is not told.
  const reason = address
    ? `The address leads to ${address}, which is not a public address`
    : `${host} does not lead to a public address`
  expect(await stage.attemptsOf(webhook)).toMatchObject([{ number: 1, status: null, reason, answer: '' }])
  expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'pending', reason }])
  const ofDatabase = Object.values(endpointOf(inject('templateUrl')))
  expect((await attempted()).filter((each) => !ofDatabase.includes(each))).toEqual([])
  expect(receiver.arrivals).toEqual([])
})

test('a name that leads elsewhere at the next delivery is looked up again, and refused', async () => {
  const answers = [['127.0.0.1'], ['10.0.0.5']]
  const lookup = vi.fn(async () => answers.shift() ?? [])
  receiver.answer = status(200, { connection: 'close' })
  const webhook = await stage.addWebhook(storeId, { url: `http://rebound.example:${portOf(receiver)}/hook` })
  const { dispatcher } = stage.openProcess({ outbound: { allow: ['127.0.0.1'], lookup } })
  await stage.addEvent(storeId)
  await dispatcher.settle()
  await stage.addEvent(storeId)
  await dispatcher.settle()
  expect(lookup).toHaveBeenCalledTimes(2)
  expect(await stage.attemptsOf(webhook)).toMatchObject([
    { status: 200, reason: '' },
    { status: null, reason: 'rebound.example does not lead to a public address' },
  ])
  expect(receiver.arrivals).toHaveLength(1)
})
