import type { EventKind } from '../engine/event-kinds.ts'
import { writeDate } from '../values/dates.ts'
import type { DeliveryDetails, DeliverySummary } from './deliveries.ts'
import type { FeedEvent } from './feed.ts'
import type { WebhookSecret } from './secret.ts'
import type { WebhookStatus } from './status.ts'

// JSON texts of the types in types.ts, with their members in the same order. Missing times are empty texts, and a
// status that there was not is 0, as in all records.

export function eventKindText({ type, name }: EventKind): string {
  return JSON.stringify({ EventType: type, EventName: name })
}

export function secretText({ secret, formerSecret, formerUntil, rotatedAt }: WebhookSecret, timeZone: string): string {
  return JSON.stringify({
    Secret: secret,
    FormerSecret: formerSecret ?? '',
    FormerSecretUntil: time(formerUntil, timeZone),
    DateRotated: time(rotatedAt, timeZone),
  })
}

export function statusText(status: WebhookStatus, timeZone: string): string {
  return JSON.stringify({
    Id: status.id,
    Enabled: status.enabled,
    FailingSince: time(status.failingSince, timeZone),
    DateDisabled: time(status.disabledAt, timeZone),
    PauseReason: status.pauseReason ?? '',
    Pending: status.pending,
    Failed: status.failed,
    Missed: status.missed,
    DateLastDelivered: time(status.lastDeliveredAt, timeZone),
  })
}

export function deliveryText(delivery: DeliverySummary, timeZone: string): string {
  return JSON.stringify({
    DeliveryID: delivery.id,
    ...happened(delivery),
    IsTest: delivery.isTest,
    State: delivery.state,
    Attempts: delivery.attempts,
    Status: delivery.status ?? 0,
    Reason: delivery.reason,
    DateCreated: time(delivery.createdAt, timeZone),
    DateDue: time(delivery.dueAt, timeZone),
    DateEnded: time(delivery.endedAt, timeZone),
  })
}

export function deliveryDetailText(delivery: DeliveryDetails, timeZone: string): string {
  const attempts = delivery.log.map(({ number, at, status, reason, durationMs, answer }) => ({
    Number: number,
    Date: time(at, timeZone),
    Status: status ?? 0,
    Reason: reason,
    DurationMs: durationMs,
    Answer: answer,
  }))
  return extended(deliveryText(delivery, timeZone), {
    Record: delivery.body,
    AttemptList: JSON.stringify(attempts),
  })
}

export function feedEventText(event: FeedEvent, timeZone: string): string {
  const members = { ...happened(event), DateCreated: time(event.createdAt, timeZone) }
  return extended(JSON.stringify(members), { Record: event.body })
}

function happened({
  messageId,
  sequence,
  eventType,
  eventName,
  recordId,
}: Pick<FeedEvent, 'messageId' | 'sequence' | 'eventType' | 'eventName' | 'recordId'>) {
  return { Sequence: sequence, Id: messageId, EventType: eventType, EventName: eventName, RecordID: recordId }
}

/** With members whose values are JSON texts already: a record is never taken apart to be shown. */
function extended(text: string, members: Readonly<Record<string, string>>): string {
  const added = Object.entries(members).map(([name, value]) => `"${name}":${value}`)
  return `${text.slice(0, -1)},${added.join(',')}}`
}

function time(at: Date | null, timeZone: string): string {
  return at === null ? '' : writeDate(at, timeZone)
}
