import { type EventKind, eventKinds } from '../../../engine/definition/event-kinds.ts'
import type { JsonSchema } from '../../../engine/definition/json-schema.ts'
import { MEMBERS_LENGTH_MAX, namesMembers } from '../../../shop/webhooks/members.ts'
import { bodyType, resourceOf } from '../../../shop/webhooks/notified.ts'
import { redactionMembers } from '../../../shop/webhooks/redactions.ts'
import { sampleOf } from '../../../shop/webhooks/samples.ts'
import {
  closedObject,
  type Operation,
  type Parameter,
  type PathItem,
  type Response,
  ref,
} from '../../server/json/openapi.ts'
import { type ExampleSources, exampleOf } from '../../server/json/openapi-examples.ts'
import { type RecordSources, recordsContent } from './answers.ts'

// The requests that the server makes: what webhooks are notified of, and the callbacks of applications.

const repeated = 'Is tried again, ten times in about 75 hours.'

/** Describes them, by the name of the event and by the action of the callback. Adds the lists that they bring to `schemas`. */
export function describeNotifications(sources: RecordSources): Readonly<Record<string, PathItem>> {
  sources.schemas.set('Callback', callbackSchema)
  sources.schemas.set('Redaction', redactionSchema)
  const events = eventKinds.map((kind) => [kind.name, { post: eventOperation(sources, kind) }])
  const callbacks = Object.entries(callbackTexts).map(([action, [summary, description]]) => {
    return [action, { post: callbackOperation(sources, action, summary, description) }]
  })
  return Object.fromEntries([...events, ...callbacks])
}

function eventOperation(sources: RecordSources, kind: EventKind): Operation {
  const { name, when } = kind
  const told =
    resourceOf(kind).events?.deleted === kind
      ? 'The record is as it was last.'
      : 'The record is as it was right after the change.'
  const says = namesMembers(kind) ? ' The header `webhook-changed` names the members that took other values.' : ''
  return {
    operationId: `receive${name.replaceAll(' ', '')}`,
    summary: `Notification: ${name}`,
    description: `${when}${says} Sent to each enabled webhook of the kind, in its Format, in a list of one. ${told} The conventions say how it is signed.`,
    tags: ['Webhooks'],
    security: [],
    parameters: [...signedHeaders('evt_0b6f0f3c2c1e4b0e9d0a6a3f1c9d7e55'), ...eventHeaders(kind)],
    requestBody: { required: true, content: recordsContent(sources, bodyType(kind), true) },
    responses: {
      '2XX': { description: 'Ends the delivery, if it comes within 15 seconds. The body is ignored.' },
      410: { description: 'Ends the delivery, and disables the webhook.' },
      default: { description: `${repeated} \`Retry-After\` (seconds or a date) makes a wait longer, up to 24 hours.` },
    },
  }
}

function header(name: string, description: string, schema: JsonSchema, example: unknown, required = true): Parameter {
  return { name, in: 'header', description, required, schema, example }
}

function signedHeaders(id: string): Parameter[] {
  return [
    header('webhook-id', 'The same in every retry, and different for every message.', { type: 'string' }, id),
    header('webhook-timestamp', 'The second of this try, in Unix time.', { type: 'integer' }, 1773140400),
    header(
      'webhook-signature',
      'One signature, or two after a rotation with a blank between them. The conventions say how to check it, under *Webhooks and the feed of events*.',
      { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$' },
      'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    ),
  ]
}

function eventHeaders(kind: EventKind): Parameter[] {
  const { name } = kind
  const { changed } = sampleOf(kind)
  const sequence = { type: 'integer', format: 'int64', minimum: 0 }
  const members = (example: string) =>
    header(
      'webhook-changed',
      'The members of the record that took other values, with commas between them: paths without keys of items. At most 100; `*` at the end says that there are more.',
      { type: 'string', maxLength: MEMBERS_LENGTH_MAX },
      example,
      false,
    )
  return [
    header('webhook-event', 'The `EventName`.', { const: name }, name),
    header('webhook-sequence', 'The `Sequence` of the event in the feed (`/Events`); 0 for a test.', sequence, 17),
    ...(changed === null ? [] : [members(changed)]),
  ]
}

const callbackMembers = {
  PublicKey: { type: 'string', description: 'The public key of the application.' },
  TimeStamp: {
    type: 'string',
    pattern: String.raw`^\d\d-\d\d-\d{4} \d\d:\d\d:\d\d$`,
    description: 'When it was sent: month, day, year and time in New York, whatever the store’s zone.',
  },
  TokenKey: { type: 'string', description: 'The token of the subscription, for the header Token of requests.' },
  Action: { type: 'string', enum: ['AUTHORIZE', 'REMOVE'], description: 'What is about to happen.' },
  SecureURL: { type: 'string', description: 'The secure address of the store, for the header SecureURL.' },
}

const callbackSchema = closedObject(callbackMembers, 'A store is about to use an application, or to end that.')

const action = { type: 'string', const: 'REDACT', description: 'What has happened.' }
const redaction = { ...callbackMembers, Action: action, ...redactionMembers }
const redactionSchema = closedObject(redaction, 'A person was erased in a store.')

const callbackTexts = {
  AUTHORIZE: [
    'A store begins to use the application',
    'Sent to the application’s CallBackURL before a store’s subscription is made, by OAuth or otherwise. Keep TokenKey and SecureURL: they are the store’s credentials.',
  ],
  REMOVE: [
    'A store ends its use of the application',
    'Sent to the application’s CallBackURL before a store’s subscription ends.',
  ],
  REDACT: [
    'A person was erased in a store',
    'Sent to the CallBackURL of an application that asks for it by `Erasures` and may read customers or orders. Delete what you have of the person. The store may have removed the application meanwhile.',
  ],
} as const

function callbackOperation(sources: ExampleSources, action: string, summary: string, description: string): Operation {
  const isRedaction = action === 'REDACT'
  const schema = ref('schemas', isRedaction ? 'Redaction' : 'Callback')
  const example = { ...(exampleOf(schema, sources) as object), TimeStamp: '07-11-2026 10:44:08', Action: action }
  return {
    operationId: `receive${action.charAt(0)}${action.slice(1).toLowerCase()}`,
    summary,
    description: `${description} Signed as webhooks are, with the application’s callback secret.`,
    tags: ['Developer'],
    security: [],
    parameters: signedHeaders('msg_0b6f0f3c-2c1e-4b0e-9d0a-6a3f1c9d7e55'),
    requestBody: { required: true, content: { 'application/json': { schema, example } } },
    responses: { 200: agreement, default: { description: isRedaction ? repeated : refuses } },
  }
}

const refuses = 'Any other status refuses: nothing changes.'

const agreement: Response = {
  description: 'Agrees, if it comes whole within 10 seconds and has at most 64 kB. The body may be empty.',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: {
          PostBackURL: {
            type: 'string',
            format: 'uri',
            maxLength: 2_000,
            description: 'A page of the application, by http or https, that opens for the merchant.',
          },
        },
      },
      example: { PostBackURL: 'https://app.example/welcome' },
    },
  },
}
