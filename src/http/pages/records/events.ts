import type { Caller } from '../../../engine/caller.ts'
import { type EventKind, eventKinds } from '../../../engine/definition/event-kinds.ts'
import { DELIVERIES_SHOWN, listRecordEvents } from '../../../shop/webhooks/record-events.ts'
import type { Service } from './services.ts'

const EVENTS_SHOWN = 10

/** The kinds of events that tell of a service's records. */
export function kindsOf({ resource }: Service): EventKind[] {
  return eventKinds.filter(({ service }) => service === resource.service)
}

/** A page of a record's events, for the template of the same name: those before one of them, or the newest. */
export async function readEvents(caller: Caller, service: Service, id: number, before: number | null) {
  const listed = await listRecordEvents(caller, kindsOf(service), id, { limit: EVENTS_SHOWN, before })
  return { ...listed, deliveriesShown: DELIVERIES_SHOWN }
}
