import { z } from 'zod'
import type { Caller } from '../../../engine/caller.ts'
import { type EventKind, eventKinds } from '../../../engine/definition/event-kinds.ts'
import { t } from '../../../foundation/texts/text.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { DELIVERIES_SHOWN, listRecordEvents } from '../../../shop/webhooks/record-events.ts'
import type { HtmlPage } from '../../html/page.ts'
import { wholeNumber } from '../../server/json/parameters.ts'
import type { RecordRequest } from '../frame/pages.ts'
import type { Service } from './services.ts'
import { titleOf } from './values.ts'

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

const asked = namedObject({
  before: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional(),
  notice: z.string().optional(),
})

/** The page of a record's events. */
export async function eventsPage({ caller, id, record, query }: RecordRequest, service: Service): Promise<HtmlPage> {
  const { before = null } = readInput(asked, query, 'The query')
  const events = await readEvents(caller, service, id, before)
  const title = titleOf(service, record)
  const data = { service, record: title, events, isNewest: before === null }
  return { template: '/pages/records/events-page', title: t('Events of {record}', { record: title }), data }
}
