import type { FastifyInstance, FastifyReply } from 'fastify'
import { DateTime } from 'luxon'
import { shows } from '../../../../access/applications/privileges.ts'
import { wrongField } from '../../../../engine/definition/refused.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import {
  closeThrough,
  monthsToClose,
  readClosedMonths,
  reopen,
} from '../../../../shop/resources/orders/closed-months.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, type CallerServices, textIn } from '../../../html/request.ts'
import { type PageRequest, storePages } from '../../frame/pages.ts'
import { type CsvColumn, csvChoices, csvFormIn, sendCsv, spreadsheetForm } from '../../records/csv-form.ts'
import { daysOf, periodIn, presetOf, presets } from '../reports/period.ts'
import { type Asked, type Entry, readEntries, readSums } from './entries.ts'

const SHOWN = 50
/** Rows of a file that are read at a time. */
const BATCH = 1_000
const TEXT_MAX = 255

const directions = { '': t('All'), in: t('In'), out: t('Out') } as const

/** Adds the pages of a store's payments, as a list and as a file, and of closing a month of them. */
export function paymentPages(app: FastifyInstance, services: CallerServices): void {
  const { page, get } = storePages(adminPages(app, ['Orders', 'read']), services)
  page('/admin/payments', paymentsPage)
  get('/admin/payments.csv', sendPayments)
  const closing = storePages(adminPages(app, ['Orders', 'read'], ['Orders', 'write']), services)
  closing.pair('/admin/payments/closing', closingPage, async ({ caller, typed }, { request }) => {
    const isReopened = textIn(typed, 'Reopen') !== ''
    await (isReopened ? reopen : closeThrough)(caller, textIn(typed, 'Month'), actorOf(request))
    return `/admin/payments/closing?notice=month-${isReopened ? 'reopened' : 'closed'}`
  })
}

async function paymentsPage({ caller, query, writing }: PageRequest): Promise<HtmlPage> {
  const read = async () => {
    const asked = askedIn({ caller, query })
    const cursor = textIn(query, 'cursor')
    const [entries, sums] = await Promise.all([readEntries(caller, asked, cursor, SHOWN + 1), readSums(caller, asked)])
    const rows = entries.slice(0, SHOWN)
    const last = entries.length > rows.length ? rows.at(-1) : undefined
    const list = { rows, ...sums, next: last?.cursor ?? null, isFirst: cursor === '' }
    const { period, ...others } = asked
    const preset = presetOf(period, caller.now(), caller.store.timeZone)
    return { list, preset, values: { ...daysOf(period), ...others }, failure: undefined }
  }
  // What cannot be read is shown where it was typed.
  const { failure, values, ...shown } = await read().catch((error) => {
    if (!(error instanceof StoreFailure) || error.status !== 400) throw error
    return { list: null, preset: null, values: query as Record<string, string>, failure: error }
  })
  const { closings, isBooked } = await readClosedMonths(caller)
  const choices = { directions: Object.entries(directions), presets: Object.entries(presets), csvChoices }
  const data = { ...shown, ...choices, isBooked, closed: closings[0]?.month ?? null, csvForm: spreadsheetForm(writing) }
  const template = '/pages/shop/payments/payments'
  return { template, title: t('Payments'), values, data, ...(failure && { failure }) }
}

function askedIn({ caller, query }: Pick<PageRequest, 'caller' | 'query'>): Asked {
  const of = (name: string) => textIn(query, name).replaceAll('\0', '').slice(0, TEXT_MAX)
  const direction = of('direction')
  if (!Object.hasOwn(directions, direction)) throw wrongField('direction', 'must be in or out')
  const period = periodIn(query, caller.now(), caller.store.timeZone)
  return { period, method: of('method'), direction, find: of('find').trim() }
}

async function closingPage({ caller, typed }: PageRequest): Promise<HtmlPage> {
  const { closings, isBooked } = await readClosedMonths(caller)
  const months = monthsToClose(caller, closings[0]?.month)
  const values = { Month: textIn(typed, 'Month') || (closings.length > 0 ? months.at(-1) : months[0]) }
  const lastDay = (month: string) => DateTime.fromISO(month).endOf('month').toFormat('yyyy-MM-dd')
  const data = { closings, isBooked, months, lastDay }
  return { template: '/pages/shop/payments/closing', title: t('Close a month of payments'), values, data }
}

type Column = CsvColumn & { readonly needs?: 'Customers'; readonly cell: (entry: Entry) => string | number }

const columns: readonly Column[] = [
  { name: 'BookedOn', label: t('Counts on'), cell: ({ booked }) => booked },
  { name: 'OccurredOn', label: t('Day of the money'), cell: ({ occurred }) => occurred },
  { name: 'LateOf', label: t('Recorded late, of'), cell: (entry) => (entry.isLate ? entry.occurred.slice(0, 7) : '') },
  { name: 'InvoiceNumber', label: t('Invoice number'), cell: ({ invoice }) => invoice },
  { name: 'OrderID', label: t('Number in this system'), cell: ({ orderId }) => orderId },
  { name: 'BillingName', label: t('Customer'), needs: 'Customers', cell: ({ customer }) => customer },
  { name: 'TransactionMethod', label: t('Payment method'), cell: ({ method }) => method },
  { name: 'TransactionReference', label: t('Reference'), cell: ({ reference }) => reference },
  { name: 'CreditNoteNumber', label: t('Credit note'), cell: ({ creditNote }) => creditNote },
  { name: 'InAmount', label: t('In'), isMoney: true, cell: ({ amount }) => Math.max(amount, 0) },
  { name: 'OutAmount', label: t('Out'), isMoney: true, cell: ({ amount }) => Math.max(-amount, 0) },
  { name: 'RefundTaxAmount', label: t('Tax of refunds'), isMoney: true, cell: ({ tax }) => tax ?? '' },
]

async function sendPayments({ caller, query, writing }: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
  const form = csvFormIn(query, spreadsheetForm(writing))
  const asked = askedIn({ caller, query })
  const shown = columns.filter(({ needs }) => shows(caller.privileges, { needs }))
  async function* rows() {
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const entries: Entry[] = await readEntries(caller, asked, cursor, BATCH)
      yield entries.map((entry) => shown.map(({ cell }) => cell(entry)))
      cursor = entries[BATCH - 1]?.cursor
    }
  }
  const { from, to } = daysOf(asked.period)
  const file = { columns: shown, rows: rows(), currency: caller.store.currency }
  return sendCsv(reply, `payments-${from}-${to}.csv`, form, file)
}
