import type { FastifyInstance, FastifyReply } from 'fastify'
import { shows } from '../../../../access/applications/privileges.ts'
import type { Privileges } from '../../../../engine/caller.ts'
import { refused, wrongField } from '../../../../engine/definition/refused.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { readClosedMonths } from '../../../../shop/resources/orders/closed-months.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { type CallerServices, textIn } from '../../../html/request.ts'
import { type PageRequest, storePages } from '../../frame/pages.ts'
import { type CsvCell, csvChoices, csvFormIn, sendCsv, spreadsheetForm } from '../../records/csv-form.ts'
import { chartOf } from '../overview/sales-chart.ts'
import { readSums } from '../payments/entries.ts'
import { readThumbnails } from '../products/thumbnails.ts'
import { figures, isKind, type KindName, kinds } from './kinds.ts'
import { daysOf, periodIn, presetOf, presets } from './period.ts'
import { type Report, readReport } from './report.ts'

const ROWS_SHOWN = 1_000
const FILE_ROWS_MAX = 100_000
/** Rows that are written at a time. */
const BATCH = 500

/** Adds the reports of a store's orders: as a page with a plot and a table, and as a file. */
export function reportPages(app: FastifyInstance, services: CallerServices): void {
  const { page, get } = storePages(adminPages(app, ['Orders', 'read']), services)
  page('/admin/reports', reportPage)
  get('/admin/reports.csv', sendReport)
}

async function reportPage({ caller, query, writing }: PageRequest): Promise<HtmlPage> {
  const offered = (Object.keys(kinds) as KindName[]).filter((each) => isOffered(caller.privileges, each))
  const asked = textIn(query, 'by')
  const read = async () => {
    const name = kindIn(query, caller.privileges)
    const period = periodIn(query, caller.now(), caller.store.timeZone)
    const isQuick = textIn(query, 'figures') !== 'all'
    const [report, { total }, { isBooked }] = await Promise.all([
      readReport(caller, name, period, { rowsMax: ROWS_SHOWN, isQuick }),
      readSums(caller, { period, method: '', direction: '', find: '' }),
      readClosedMonths(caller),
    ])
    return { name, period, report, money: { ...total, isBooked }, failure: undefined }
  }
  // What cannot be read is shown where it was typed.
  const { name, period, report, money, failure } = await read().catch((error) => {
    if (!(error instanceof StoreFailure) || error.status !== 400) throw error
    return { name: isKind(asked) ? asked : 'day', period: null, report: null, money: null, failure: error } as const
  })
  const kind = kinds[name]
  const days = period === null ? { from: textIn(query, 'from'), to: textIn(query, 'to') } : daysOf(period)
  const goods = name === 'product' && report !== null ? report.rows.map(({ id }) => ({ productId: id })) : []
  return {
    template: '/pages/shop/reports/reports',
    title: t('Reports'),
    ...(failure && { failure }),
    values: { by: name, ...days },
    data: {
      name,
      kind,
      offered: offered.map((each) => [each, kinds[each].text]),
      presets: Object.entries(presets),
      preset: period && presetOf(period, caller.now(), caller.store.timeZone),
      period: period && daysOf(period),
      report,
      money,
      thumbnailOf: await readThumbnails(caller, goods),
      columns: report === null ? [] : shownFigures(report),
      chart: report === null || kind.unit === undefined ? null : chartOf(barsOf(report)),
      largest: report === null ? 0 : Math.max(...report.rows.map(({ figures: each }) => each[kind.by] ?? 0), 0),
      csvChoices,
      csvForm: spreadsheetForm(writing),
    },
  }
}

async function sendReport({ caller, query, writing }: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
  const form = csvFormIn(query, spreadsheetForm(writing))
  const name = kindIn(query, caller.privileges)
  const period = periodIn(query, caller.now(), caller.store.timeZone)
  const { rows, count } = await readReport(caller, name, period, { rowsMax: FILE_ROWS_MAX })
  if (count > FILE_ROWS_MAX) {
    throw wrongField('from', `asks for ${count} lines, and a file has at most ${FILE_ROWS_MAX}. Choose a shorter time`)
  }
  const { heads, figures: names } = kinds[name]
  async function* lines() {
    for (let at = 0; at < rows.length; at += BATCH) {
      yield rows
        .slice(at, at + BATCH)
        .map((row): CsvCell[] => [...row.heads, ...names.map((figure) => row.figures[figure] ?? 0)])
    }
  }
  const { from, to } = daysOf(period)
  return sendCsv(reply, `orders-by-${name}-${from}-${to}.csv`, form, {
    columns: [...heads, ...names.map((figure) => figures[figure])],
    rows: lines(),
    currency: caller.store.currency,
  })
}

function isOffered(privileges: Privileges, name: KindName): boolean {
  return shows(privileges, { needs: kinds[name].needs })
}

/** Throws a 400 for no kind of report, and `forbidden` for one that is not offered. */
function kindIn(query: unknown, privileges: Privileges): KindName {
  const by = textIn(query, 'by') || 'day'
  if (!isKind(by)) throw refused('by', `by must be ${Object.keys(kinds).join(', ')}`)
  if (isOffered(privileges, by)) return by
  throw new StoreFailure('forbidden', 'Your role in this store does not show customers. Choose another report', {
    field: 'by',
  })
}

/** The columns of a page: those in which a row or the sum has something. */
function shownFigures({ figures: names, rows, totals }: Report) {
  return names
    .filter((name) => [totals, ...rows.map((row) => row.figures)].some((each) => (each[name] ?? 0) !== 0))
    .map((key) => ({ key, ...figures[key] }))
}

function barsOf({ rows }: Report) {
  return rows.map(({ heads: [day = ''], figures: { total = 0, orders = 0 }, days }) => ({
    day: String(day),
    amount: total,
    count: orders,
    days,
  }))
}
