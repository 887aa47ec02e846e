import type { Caller } from '../../engine/caller.ts'
import { readWhole } from '../../engine/changing/ignored.ts'
import { changeOnce, created, updated } from '../../engine/changing/requests.ts'
import type {
  Answer,
  Call,
  Endpoint,
  Operation,
  Query,
  QueryParameter,
  RecordsAnswer,
} from '../../engine/definition/endpoints.ts'
import { type EventKind, eventKind, eventKinds, eventNames } from '../../engine/definition/event-kinds.ts'
import { boolean, constant, fieldSet, type Scalar, text } from '../../engine/definition/fields.ts'
import {
  anyOfValues,
  distinct,
  listedNumbers,
  readId,
  readWholeNumber,
  wrongParameter,
} from '../../engine/definition/filters.ts'
import { limitOf, onlyValue, pageOf, valuesIn } from '../../engine/reading/paging.ts'
import { listFixed } from '../../engine/reading/read.ts'
import { listingAnswer, listOptions, shapeRecords } from '../../engine/reading/shape.ts'
import { announce, deliveriesChannel } from '../../engine/recording/events.ts'
import { resultItem } from '../../foundation/values/failure.ts'
import { INT32_MAX } from '../../foundation/values/int32.ts'
import {
  type DeliveryState,
  deliveryDetailType,
  deliveryStates,
  deliveryType,
  getDelivery,
  listDeliveries,
  redeliver,
  sendTest,
} from './deliveries.ts'
import { feedEventType, readFeed } from './feed.ts'
import { rotateWebhookSecret, secretType, webhookSecret } from './secret.ts'
import { type ShownType, shownType } from './shown-type.ts'
import { resumeWebhook, statusType, webhookStatus } from './status.ts'

const WEBHOOK_KEY = 'Id'
const DELIVERY_KEY = 'DeliveryID'
const DELIVERIES_MAX = 500
const KINDS_MAX = 500
const EVENTS_DEFAULT = 100
const EVENTS_MAX = 500

/** The endpoints below Webhooks beside its records, and the feed of events, which needs the same privilege. */
export function webhookEndpoints(): Endpoint[] {
  const privileges = ['Webhooks']
  const id = { name: 'id', min: 1 }
  const itemId = { name: 'deliveryid', min: 1, max: Number.MAX_SAFE_INTEGER }
  const below = { params: { id }, privileges }
  const ofDelivery = { params: { id, itemId }, privileges }
  return [
    { params: {}, privileges, path: '/Events', operations: { GET: listEventKinds } },
    { ...below, path: '/:id/Secret', operations: { GET: getSecret, POST: rotateSecret } },
    { ...below, path: '/:id/Status', operations: { GET: getStatus } },
    { ...below, path: '/:id/Test', operations: { POST: sendTestEvent } },
    { ...below, path: '/:id/Resume', operations: { POST: resume } },
    { ...below, path: '/:id/Deliveries', operations: { GET: listOfDeliveries } },
    { ...ofDelivery, path: '/:id/Deliveries/:itemId', operations: { GET: getOneDelivery } },
    { ...ofDelivery, path: '/:id/Deliveries/:itemId/Redeliver', operations: { POST: sendAgain } },
    { params: {}, privileges, root: 'Events', path: '', operations: { GET: eventFeed } },
  ]
}

/** A kind of event (contract §2). */
const eventKindType = shownType<EventKind>('Event', 'A kind of event that webhooks may hear of.', {
  EventType: [
    constant('EventType', eventNames, {
      description: 'The number of the kind, which a webhook names as its EventType.',
    }),
    'type',
  ],
  EventName: [text(100, { column: 'name', description: 'The name of the kind.' }), 'name'],
})

/** Lists the kinds of event (contract §4.2). */
const listEventKinds: Operation = {
  named: {
    id: 'listWebhookEvents',
    description:
      'The kinds of event that a webhook can be notified of, by `EventType`. 404, without a body: none matches.',
  },
  gives: {
    kind: 'list',
    type: eventKindType,
    maxRecords: KINDS_MAX,
    limitDefault: KINDS_MAX,
    filters: { name: { kind: 'part', column: 'name' } },
    hasNoId: true,
  },
  run: async (call) => {
    const { query, caller } = call
    const wanted = onlyValue(query, 'name')?.toLowerCase() ?? ''
    const matching = eventKinds
      .filter(({ name }) => name.toLowerCase().includes(wanted))
      .map((kind) => ({ id: kind.type, text: eventKindType.text(kind, caller.store.timeZone) }))
    return listingAnswer(listFixed(matching, KINDS_MAX, query, listOptions(call)), eventKindType, query)
  },
}

/** Shapes records by `$select` and `$orderby`. */
export function shown<T>({ caller, query }: Call, type: ShownType<T>, records: readonly T[]): RecordsAnswer {
  const texts = records.map((one) => type.text(one, caller.store.timeZone))
  return { kind: 'records', type, records: shapeRecords(texts, type.fields, query) }
}

/** Reads records without query parameters of their own. */
function reading<T>(type: ShownType<T>, read: (call: Call) => Promise<readonly T[]>) {
  return {
    gives: { kind: 'own', type, parameters: [], size: 'one' },
    run: async (call: Call) => shown(call, type, await read(call)),
  } as const
}

const secretReading = reading(secretType, async ({ caller, secrets, id }) => [await webhookSecret(caller, secrets, id)])
const readSecret = {
  ...secretReading,
  run: async (call: Call) => ({ ...(await secretReading.run(call)), isSecret: true }),
}

const getSecret: Operation = {
  named: {
    id: 'getWebhookSecret',
    description:
      'What notifications are signed with (Standard Webhooks). For 24 hours after a rotation the former secret signs too.',
  },
  ...readSecret,
}

const rotateSecret: Operation = {
  named: {
    id: 'rotateWebhookSecret',
    description:
      'Gives the webhook a new secret and returns it. For 24 hours the former secret signs too; earlier ones stop. A retry with the same Idempotency-Key rotates nothing and returns the stored answer.',
  },
  gives: readSecret.gives,
  run: async (call) => {
    const { id, secrets } = call
    const rotate = (tx: Caller) => rotateWebhookSecret(tx, secrets, id).then(() => id)
    // Read separately, so that the stored answer has no secret.
    const rotated = await changeOnce(call, rotate, updated(WEBHOOK_KEY))
    if (rotated.kind !== 'results' || rotated.status !== 200) return rotated
    return { ...(await readSecret.run(call)), replayed: rotated.replayed === true }
  },
}

const getStatus: Operation = {
  named: {
    id: 'getWebhookStatus',
    description:
      'The webhook’s health: whether it fails or was disabled, and why; how many deliveries wait and how many of the last 30 days failed; what a resume with `CatchUp` would send. Each is counted to 1,000.',
  },
  ...reading(statusType, async ({ caller, id }) => [await webhookStatus(caller, id)]),
}

const sendTestEvent: Operation = {
  named: {
    id: 'testWebhook',
    description:
      'Notifies the webhook of a made-up record of its kind (order 1, invoice AB-1000, of 2016), also while it is not enabled. There are no retries.',
  },
  gives: { kind: 'results', key: DELIVERY_KEY, change: 'created' },
  run: (call) => sendOnce(call, (tx) => sendTest(tx, call.id), created(DELIVERY_KEY)),
}

/** The body of a resume. */
export const resumeType = {
  typeName: 'Resume',
  description: 'How a webhook goes on.',
  fields: fieldSet({
    CatchUp: boolean({
      description:
        'True: also send what was missed: the deliveries that failed since the webhook began to fail, and the events since it was disabled.',
    }),
  }),
}

const resume: Operation = {
  named: {
    id: 'resumeWebhook',
    description:
      'Enables a disabled webhook, whoever disabled it. With `CatchUp` it gets what it missed: the deliveries that failed since it began to fail, and the events since it was disabled. More than 200,000 are refused (409): read them from the feed.',
  },
  takes: { type: resumeType, mode: 'update', many: false, isOptional: true },
  gives: { kind: 'results', key: WEBHOOK_KEY, change: 'updated' },
  run: (call) => {
    const { id, caller, records, handling } = call
    const catchUp = records.some((record) => readWhole(resumeType, record, caller, handling).details.CatchUp === true)
    const message = (caughtUp: Scalar) => (caughtUp === 0 ? '' : `; ${caughtUp} notifications are sent again`)
    return sendOnce(
      call,
      async (tx) => (await resumeWebhook(tx, id, { catchUp })).caughtUp,
      (caughtUp) => resultItem(WEBHOOK_KEY, id, 200, `updated successfully${message(caughtUp)}`),
    )
  },
}

export function parameter(name: string, description: string, schema: QueryParameter['schema']): QueryParameter {
  return { name, in: 'query', description, schema }
}

export function limitParameter(records: string, max: number, defaultLimit: number): QueryParameter {
  const description = `The maximum number of ${records} on the page; of a lenient request more than ${max} counts as ${max}.`
  const bounds = { minimum: 1, maximum: max, default: defaultLimit }
  return parameter('limit', description, { type: 'integer', format: 'int32', ...bounds })
}

const listOfDeliveries: Operation = {
  named: {
    id: 'listWebhookDeliveries',
    description: 'The notifications of a webhook, the newest first. Finished ones are kept for 30 days.',
  },
  gives: {
    kind: 'own',
    type: deliveryType,
    size: 'paged',
    parameters: [
      parameter(
        'state',
        `Filter by state: pending, delivered or failed. ${anyOfValues.repeated}`,
        anyOfValues.schema({ type: 'string', enum: deliveryStates }),
      ),
      limitParameter('records', DELIVERIES_MAX, 10),
      parameter('cursor', 'Continues after a page, by the address in its `Link`.', { type: 'string', maxLength: 20 }),
    ],
  },
  run: async (call) => {
    const { caller, id, query } = call
    const { limit } = pageOf(query, DELIVERIES_MAX)
    const cursor = query.get('cursor')
    const before = cursor === undefined ? null : readId(cursor, 'cursor', 1, Number.MAX_SAFE_INTEGER)
    const { deliveries, next } = await listDeliveries(caller, id, { states: statesIn(query), limit, before })
    if (deliveries.length === 0 && before === null) return { kind: 'nothing' }
    return { ...shown(call, deliveryType, deliveries), next: next === null ? null : String(next) }
  },
}

function statesIn(query: Query): DeliveryState[] {
  return distinct(valuesIn(query, 'state'), 'state').map((given) => {
    const state = deliveryStates.find((one) => one === given.trim().toLowerCase())
    if (state === undefined) throw wrongParameter('state', given, `must be one of ${deliveryStates.join(', ')}`)
    return state
  })
}

const getOneDelivery: Operation = {
  named: {
    id: 'getWebhookDelivery',
    description: 'One notification whole: the record that is sent, and its last attempts, the newest first.',
  },
  ...reading(deliveryDetailType, async ({ caller, id, itemId }) => [await getDelivery(caller, id, Number(itemId))]),
}

const sendAgain: Operation = {
  named: {
    id: 'redeliverWebhookDelivery',
    description:
      'Sends a notification again, whatever its state, with the same body and the same `webhook-id`; its ten attempts start over. 409 while the webhook is not enabled.',
  },
  gives: { kind: 'results', key: DELIVERY_KEY, change: 'updated' },
  run: (call) => {
    const delivery = Number(call.itemId)
    return sendOnce(call, (tx) => redeliver(tx, call.id, delivery).then(() => delivery), updated(DELIVERY_KEY))
  },
}

const kindsInWords = eventKinds.map(({ type, name }) => `${type} (${name})`).join(', ')

/** The feed of a store's events: those that webhooks get, readable at any time. */
const eventFeed: Operation = {
  named: {
    id: 'readEvents',
    description:
      'What happened in the store, in the order of `Sequence`: of the kinds whose records the application may read, so that there may be gaps. Ask again with `after` being the last `Sequence` that was read: nothing is missed, and nothing comes twice. An empty list says that there is nothing newer. Events are kept for 30 days; where some after `after` were deleted, or the feed has never come so far (a reset store, a restored backup), the answer is 410. A page has at most 10 MB of records, and one event at least.',
  },
  gives: {
    kind: 'own',
    type: feedEventType,
    size: 'many',
    refusals: [410],
    parameters: [
      parameter(
        'after',
        'The page begins after this `Sequence`. Omitted or 0: it begins at the oldest event. `newest`: the newest event alone, to read on from its `Sequence`; an empty list where there is none, to read on from 0.',
        {
          oneOf: [
            { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
            { type: 'string', enum: ['newest'] },
          ],
          default: 0,
        },
      ),
      limitParameter('events', EVENTS_MAX, EVENTS_DEFAULT),
      parameter(
        'eventtype',
        `Only one kind of event, by its number from \`GET /Webhooks/Events\`. ${anyOfValues.listed}`,
        anyOfValues.schema({ type: 'integer', enum: eventKinds.map(({ type }) => type) }),
      ),
      parameter('record', 'Only events of records with this number (`RecordID`); with `eventtype`, of one record.', {
        type: 'integer',
        minimum: 1,
        maximum: INT32_MAX,
      }),
    ],
  },
  run: async (call) => {
    const { caller, query } = call
    const after = placeIn(onlyValue(query, 'after') ?? '0')
    const limit = limitOf(query, EVENTS_MAX, EVENTS_DEFAULT)
    const record = onlyValue(query, 'record')
    const recordId = record === undefined ? null : readId(record, 'record')
    const events = await readFeed(caller, { after, limit, eventTypes: eventTypesIn(query), recordId })
    return shown(call, feedEventType, events)
  },
}

function placeIn(given: string): number | 'newest' {
  if (given === 'newest') return 'newest'
  const place = /^\d{1,16}$/.test(given) ? Number(given) : -1
  if (Number.isSafeInteger(place) && place >= 0) return place
  throw wrongParameter('after', given, `must be newest or a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`)
}

function eventTypesIn(query: Query): number[] {
  return listedNumbers(valuesIn(query, 'eventtype'), 'eventtype').map((given) => {
    const kind = eventKind(readWholeNumber(given, 'eventtype'))
    if (kind === null) throw wrongParameter('eventtype', given, `must be one of ${kindsInWords}`)
    return kind.type
  })
}

/** Makes a change and announces due deliveries. */
async function sendOnce(...change: Parameters<typeof changeOnce>): Promise<Answer> {
  const answer = await changeOnce(...change)
  const [{ caller }] = change
  announce(caller.db, deliveriesChannel)
  return answer
}
