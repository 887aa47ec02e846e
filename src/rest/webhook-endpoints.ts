import { announce, deliveriesChannel } from '../engine/announce.ts'
import type { Caller } from '../engine/caller.ts'
import { changeOnce, created, updated } from '../engine/change-each.ts'
import {
  type Answer,
  type Call,
  type Endpoint,
  idOf,
  type Operation,
  type RecordsAnswer,
  type RecordType,
} from '../engine/endpoints.ts'
import type { Scalar } from '../engine/fields.ts'
import { identifier, invalid } from '../engine/filters.ts'
import { readInput } from '../engine/input.ts'
import { pageOf, type Query } from '../engine/read.ts'
import { shapeRecords } from '../engine/shape.ts'
import { resultItem } from '../values/result-item.ts'
import {
  type DeliveryState,
  deliveryStates,
  getDelivery,
  listDeliveries,
  redeliver,
  sendTest,
} from '../webhooks/deliveries.ts'
import { rotateWebhookSecret, webhookSecret } from '../webhooks/secret.ts'
import { resumeWebhook, webhookStatus } from '../webhooks/status.ts'
import { deliveryDetailText, deliveryText, secretText, statusText } from '../webhooks/texts.ts'
import { deliveryDetailType, deliveryType, resumeType, secretType, statusType } from '../webhooks/types.ts'
import { webhooks } from '../webhooks/webhooks.ts'
import { eventFeed, eventKindList } from './event-feed.ts'

/** What stands below Webhooks beside its records, and the feed of events, which the same privilege is for. */
export function webhookEndpoints(): Endpoint[] {
  const privileges = [webhooks.privilege]
  const params = idOf(webhooks)
  const below = { params, privileges }
  const ofDelivery = { params: { ...params, itemId: deliveryParameter }, privileges }
  return [
    { params: {}, privileges, path: '/Events', operations: { GET: eventKindList } },
    { ...below, path: '/:id/Secret', operations: { GET: showSecret, POST: rotateSecret } },
    { ...below, path: '/:id/Status', operations: { GET: showStatus } },
    { ...below, path: '/:id/Test', operations: { POST: test } },
    { ...below, path: '/:id/Resume', operations: { POST: resume } },
    { ...below, path: '/:id/Deliveries', operations: { GET: list } },
    { ...ofDelivery, path: '/:id/Deliveries/:itemId', operations: { GET: show } },
    { ...ofDelivery, path: '/:id/Deliveries/:itemId/Redeliver', operations: { POST: sendAgain } },
    { params: {}, privileges, root: 'Events', path: '', operations: { GET: eventFeed } },
  ]
}

const showSecret: Operation = {
  named: {
    id: 'getWebhookSecret',
    description:
      'What notifications are signed with (Standard Webhooks). For 24 hours after a rotation the former secret signs too.',
  },
  gives: { kind: 'own', type: secretType, parameters: [], size: 'one' },
  run: readSecret,
}

const rotateSecret: Operation = {
  named: {
    id: 'rotateWebhookSecret',
    description:
      'Gives the webhook a new secret, and answers it. The one until now signs beside it for 24 hours; one from before that no more. A repetition with the same Idempotency-Key rotates nothing, and answers what is stored.',
  },
  gives: { kind: 'own', type: secretType, parameters: [], size: 'one' },
  run: async (call) => {
    const { id } = call
    const rotate = async (tx: Caller) => {
      await rotateWebhookSecret(tx, call.secrets, id)
      return id
    }
    // Read anew, so that no secret is stored with the answer.
    const rotated = await changeOnce(call, rotate, updated(webhooks.resultKey))
    if (rotated.kind !== 'results' || rotated.status !== 200) return rotated
    return { ...(await readSecret(call)), replayed: rotated.replayed === true }
  },
}

async function readSecret({ caller, secrets, id, query }: Call): Promise<RecordsAnswer> {
  const secret = await webhookSecret(caller, secrets, id)
  return { ...ownAnswer([secretText(secret, caller.store.timeZone)], secretType, query), isSecret: true }
}

const showStatus: Operation = {
  named: {
    id: 'getWebhookStatus',
    description:
      'How a webhook does: whether it fails or was disabled, and why; how many deliveries wait and how many of the last 30 days failed; what a resume with `CatchUp` would send. Each is counted to 1,000.',
  },
  gives: { kind: 'own', type: statusType, parameters: [], size: 'one' },
  run: async ({ caller, id, query }) => {
    const status = await webhookStatus(caller, id)
    return ownAnswer([statusText(status, caller.store.timeZone)], statusType, query)
  },
}

const DELIVERY_KEY = 'DeliveryID'
const DELIVERIES_MAX = 500
const deliveryParameter = { name: 'deliveryid', min: 1, max: Number.MAX_SAFE_INTEGER }

const test: Operation = {
  named: {
    id: 'testWebhook',
    description:
      'Notifies the webhook of a made-up record of its kind (order 1, invoice AB-1000, of 2016), also while it is not enabled. It is tried once.',
  },
  gives: { kind: 'results', key: DELIVERY_KEY, change: 'created' },
  run: (call) => {
    const { id } = call
    return sendOnce(call, (tx) => sendTest(tx, id), created(DELIVERY_KEY))
  },
}

const resume: Operation = {
  named: {
    id: 'resumeWebhook',
    description:
      'Enables a webhook that was disabled, by whomever. With `CatchUp` it gets what it missed: the deliveries that failed since it began to fail, and the events since it was disabled. More than 200,000 are refused (409): read them from the feed.',
  },
  takes: { type: resumeType, mode: 'update', many: false, isOptional: true },
  gives: { kind: 'results', key: webhooks.resultKey, change: 'updated' },
  run: (call) => {
    const { id } = call
    const catchUp = isCatchUp(call)
    const done = (caughtUp: Scalar) => resultItem(webhooks.resultKey, String(id), 200, resumedMessage(caughtUp))
    return sendOnce(call, async (tx) => (await resumeWebhook(tx, id, { catchUp })).caughtUp, done)
  },
}

function isCatchUp({ caller, records: [record] }: Call): boolean {
  if (record === undefined) return false
  const rules = { mode: 'update', timeZone: caller.store.timeZone } as const
  return readInput(resumeType.fields, record, rules).details.CatchUp === true
}

function resumedMessage(caughtUp: Scalar): string {
  return caughtUp === 0 ? 'updated successfully' : `updated successfully; ${caughtUp} notifications are sent again`
}

const list: Operation = {
  named: {
    id: 'listWebhookDeliveries',
    description: 'The notifications of a webhook, the newest first. Those that are over are kept for 30 days.',
  },
  gives: {
    kind: 'own',
    type: deliveryType,
    size: 'paged',
    parameters: [
      {
        name: 'state',
        in: 'query',
        description: 'Those alone that wait for an attempt, arrived, or were given up.',
        schema: { type: 'string', enum: deliveryStates },
      },
      {
        name: 'limit',
        in: 'query',
        description: `The most records of the page. More than ${DELIVERIES_MAX} is cut to ${DELIVERIES_MAX}.`,
        schema: { type: 'integer', format: 'int32', default: 10 },
      },
      {
        name: 'cursor',
        in: 'query',
        description: 'Reads on behind a page, out of the address in its `Link`.',
        schema: { type: 'string', maxLength: 20 },
      },
    ],
  },
  run: async ({ caller, id, query }) => {
    const { limit } = pageOf(query, DELIVERIES_MAX)
    const cursor = query.get('cursor')
    const before = cursor === undefined ? null : identifier(cursor, 'cursor', 1, Number.MAX_SAFE_INTEGER)
    const { deliveries, next } = await listDeliveries(caller, id, { state: stateIn(query), limit, before })
    if (deliveries.length === 0 && before === null) return { kind: 'nothing' }
    const texts = deliveries.map((delivery) => deliveryText(delivery, caller.store.timeZone))
    return { ...ownAnswer(texts, deliveryType, query), next: next === null ? null : String(next) }
  },
}

function stateIn(query: Query): DeliveryState | null {
  const given = query.get('state')
  if (given === undefined) return null
  const state = deliveryStates.find((one) => one === given.trim().toLowerCase())
  if (state === undefined) throw invalid('state', given, `must be one of ${deliveryStates.join(', ')}`)
  return state
}

const show: Operation = {
  named: {
    id: 'getWebhookDelivery',
    description: 'One notification whole: the record that is sent, and its last attempts, the newest first.',
  },
  gives: { kind: 'own', type: deliveryDetailType, parameters: [], size: 'one' },
  run: async ({ caller, id, itemId, query }) => {
    const delivery = await getDelivery(caller, id, Number(itemId))
    return ownAnswer([deliveryDetailText(delivery, caller.store.timeZone)], deliveryDetailType, query)
  },
}

const sendAgain: Operation = {
  named: {
    id: 'redeliverWebhookDelivery',
    description:
      'Sends a notification again, whatever became of it, with the same body and the same `webhook-id`; its ten tries begin anew. 409 while the webhook is not enabled.',
  },
  gives: { kind: 'results', key: DELIVERY_KEY, change: 'updated' },
  run: (call) => {
    const { id } = call
    const delivery = Number(call.itemId)
    const change = async (tx: Caller) => {
      await redeliver(tx, id, delivery)
      return delivery
    }
    return sendOnce(call, change, updated(DELIVERY_KEY))
  },
}

/** With `$select` and `$orderby` applied. */
function ownAnswer(texts: readonly string[], type: RecordType, query: Query): RecordsAnswer {
  return { kind: 'records', type, records: shapeRecords(texts, type.fields, query) }
}

/** A change after which deliveries are due. */
async function sendOnce(...change: Parameters<typeof changeOnce>): Promise<Answer> {
  const answer = await changeOnce(...change)
  const [{ caller }] = change
  announce(caller.db, deliveriesChannel)
  return answer
}
