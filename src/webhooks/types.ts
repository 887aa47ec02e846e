import {
  boolean,
  date,
  type Fields,
  fieldSet,
  integer,
  LONG_TEXT,
  list,
  long,
  type ObjectType,
  oneOf,
  text,
} from '../engine/fields.ts'
import { customers } from '../resources/customers/customers.ts'
import { orders } from '../resources/orders/orders.ts'
import { products } from '../resources/products/products.ts'
import { deliveryStates } from './deliveries.ts'

// What stands below Webhooks, and the feed of events. Nothing of it is ever sent but CatchUp.

function type(typeName: string, fields: Fields): ObjectType {
  return { typeName, fields: fieldSet(fields) }
}

const readOnly = { access: 'ro' } as const

/** A kind of event (contract §2). */
export const eventKindType = type('Event', {
  EventType: integer({ ...readOnly, min: 0, max: 255 }),
  EventName: text(100, readOnly),
})

export const secretType = type('WebhookSecret', {
  Secret: text(100, readOnly),
  FormerSecret: text(100, readOnly),
  FormerSecretUntil: date(readOnly),
  DateRotated: date(readOnly),
})

/** What happened: the same of an event in the feed and of its deliveries. */
const happened = {
  Sequence: long(readOnly),
  Id: text(36, readOnly),
  EventType: integer({ ...readOnly, min: 0, max: 255 }),
  EventName: text(100, readOnly),
  RecordID: integer(readOnly),
}

const delivery = {
  DeliveryID: long(readOnly),
  ...happened,
  IsTest: boolean(readOnly),
  State: text(Math.max(...deliveryStates.map(({ length }) => length)), readOnly),
  Attempts: integer(readOnly),
  Status: integer(readOnly),
  Reason: text(LONG_TEXT, readOnly),
  DateCreated: date(readOnly),
  DateDue: date(readOnly),
  DateEnded: date(readOnly),
}

export const deliveryType = type('Delivery', delivery)

const record = oneOf('EventRecord', {
  types: [orders, customers, products],
  of: (given) => ('OrderID' in given ? orders : 'SKUInfo' in given ? products : customers),
})

export const deliveryDetailType = type('DeliveryDetail', {
  ...delivery,
  Record: record,
  AttemptList: list(
    'Attempt',
    {
      Number: integer(readOnly),
      Date: date(readOnly),
      Status: integer(readOnly),
      Reason: text(LONG_TEXT, readOnly),
      DurationMs: integer(readOnly),
      Answer: text(LONG_TEXT, readOnly),
    },
    readOnly,
  ),
})

export const feedEventType = type('FeedEvent', { ...happened, DateCreated: date(readOnly), Record: record })

export const statusType = type('WebhookStatus', {
  Id: integer(readOnly),
  Enabled: boolean(readOnly),
  FailingSince: date(readOnly),
  DateDisabled: date(readOnly),
  PauseReason: text(LONG_TEXT, readOnly),
  Pending: integer(readOnly),
  Failed: integer(readOnly),
  Missed: integer(readOnly),
  DateLastDelivered: date(readOnly),
})

export const resumeType = type('Resume', { CatchUp: boolean() })
