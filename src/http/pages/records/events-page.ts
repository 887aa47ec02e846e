import { z } from 'zod'
import { t } from '../../../foundation/texts/text.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import type { HtmlPage } from '../../html/page.ts'
import { wholeNumber } from '../../server/json/parameters.ts'
import type { RecordRequest } from '../frame/request.ts'
import { readEvents } from './events.ts'
import type { Service } from './services.ts'
import { titleOf } from './values.ts'

const asked = namedObject({
  before: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional(),
  notice: z.string().optional(),
})

/** The page of a record's events. */
export async function eventsPage({ caller, id, record, query }: RecordRequest, service: Service): Promise<HtmlPage> {
  const { before = null } = readInput(asked, query, 'The query')
  const events = await readEvents(caller, service, id, before)
  const title = titleOf(service, record)
  return {
    template: '/pages/records/events-page',
    title: t('Events of {record}', { record: title }),
    data: { service, record: title, events, isNewest: before === null },
  }
}
