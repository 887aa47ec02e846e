import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { getRecord } from '../../../engine/reading/read.ts'
import { t } from '../../../foundation/texts/text.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import type { HtmlPage } from '../../html/page.ts'
import { type CallerServices, merchantCaller } from '../../html/request.ts'
import { wholeNumber } from '../../server/json/parameters.ts'
import { readEvents } from './events.ts'
import { idIn } from './record-page.ts'
import type { Service } from './services.ts'
import { titleOf } from './values.ts'

const asked = namedObject({
  before: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional(),
  notice: z.string().optional(),
})

/** The page of a record's events. */
export async function eventsPage(
  request: FastifyRequest,
  services: CallerServices,
  service: Service,
): Promise<HtmlPage> {
  const id = idIn(request)
  const caller = merchantCaller(request, services)
  const { before = null } = readInput(asked, request.query, 'The query')
  const [text, events] = await Promise.all([
    getRecord(caller, service.resource, id),
    readEvents(caller, service, id, before),
  ])
  const title = titleOf(service, JSON.parse(text))
  return {
    template: '/pages/records/events-page',
    title: t('Events of {record}', { record: title }),
    data: { service, id, record: title, events, isNewest: before === null },
  }
}
