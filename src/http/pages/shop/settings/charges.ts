import type { FastifyInstance } from 'fastify'
import { type Phrase, type Text, t } from '../../../../foundation/texts/text.ts'
import { readInput } from '../../../../foundation/values/input.ts'
import {
  type ChargeTable,
  chargeTables,
  METHOD_LENGTH_MAX,
  ROWS_MAX,
  replaceTable,
  STATE_LENGTH_MAX,
} from '../../../../shop/resources/orders/charge-tables.ts'
import { numberIn } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, type CallerServices, textIn } from '../../../html/request.ts'
import { storePages, tagOf } from '../../frame/pages.ts'
import type { PageRequest, Sent } from '../../frame/request.ts'
import { ifUnchanged } from '../../frame/unchanged.ts'
import { keysIn, saveRows } from './saved-page.ts'

// The pages of taxes and of shipping: a row of a form for each row of the table.

const NEW_ROWS = 3

interface Column {
  readonly label: Text
  readonly of: (row: string) => Text
  readonly kind: 'text' | 'number' | 'sum' | 'select'
  readonly lengthMax?: number
  /** Of a select; `countries` are put behind them. The first is that of a new row. */
  readonly choices?: readonly (readonly [value: string, text: Phrase])[]
  readonly hasCountries?: boolean
}

const columns: Readonly<Record<ChargeTable, Readonly<Record<string, Column>>>> = {
  taxes: {
    Country: {
      label: t('Country'),
      of: (row) => t('Country of row {row}', { row }),
      kind: 'select',
      choices: [['', t('Not chosen')]],
      hasCountries: true,
    },
    State: {
      label: t('State'),
      of: (row) => t('State of row {row}', { row }),
      kind: 'text',
      lengthMax: STATE_LENGTH_MAX,
    },
    Rate: { label: t('Per cent'), of: (row) => t('Per cent of row {row}', { row }), kind: 'number' },
    IsIncluded: {
      label: t('Prices'),
      of: (row) => t('Prices of row {row}', { row }),
      kind: 'select',
      choices: [
        ['', t('The tax is added')],
        ['yes', t('The tax is included')],
      ],
    },
  },
  shipping: {
    Method: {
      label: t('Shipping method'),
      of: (row) => t('Shipping method of row {row}', { row }),
      kind: 'text',
      lengthMax: METHOD_LENGTH_MAX,
    },
    Country: {
      label: t('Country'),
      of: (row) => t('Country of row {row}', { row }),
      kind: 'select',
      choices: [['', t('Everywhere else')]],
      hasCountries: true,
    },
    Basis: {
      label: t('By'),
      of: (row) => t('Weight or amount of row {row}', { row }),
      kind: 'select',
      choices: [
        ['weight', t('Weight of the goods')],
        ['amount', t('Amount of the goods')],
      ],
    },
    From: { label: t('From how much'), of: (row) => t('From how much on, of row {row}', { row }), kind: 'number' },
    Price: { label: t('Price'), of: (row) => t('Price of row {row}', { row }), kind: 'sum' },
  },
}

const titles = { taxes: t('Taxes'), shipping: t('Shipping') }

/** Adds the pages of what orders are charged beside their goods. */
export function chargePages(app: FastifyInstance, services: CallerServices): void {
  const { page } = storePages(adminPages(app, ['Settings', 'read']), services)
  const { form } = storePages(adminPages(app, ['Settings', 'write']), services)
  for (const name of ['taxes', 'shipping'] as const) {
    const address = `/admin/settings/${name}`
    page(address, (asked) => tablePage(asked, name))
    form(
      address,
      async (asked, { request }) => {
        await save(asked, name, actorOf(request))
        return `${address}?notice=settings-saved`
      },
      (asked) => tablePage(asked, name),
    )
  }
}

async function tablePage(asked: PageRequest, name: ChargeTable): Promise<HtmlPage> {
  const { caller, typed, writing, isOutdated } = asked
  const stored = await chargeTables[name].read(caller)
  const shown = (value: unknown) =>
    typeof value === 'number' ? writing.typed(value) : typeof value === 'boolean' ? (value ? 'yes' : '') : value
  const values = Object.fromEntries(
    stored.flatMap((row, at) => Object.entries(row).map(([member, value]) => [`${member}.${at + 1}`, shown(value)])),
  )
  const added = Array.from({ length: Math.min(NEW_ROWS, ROWS_MAX - stored.length) }, (_, at) => stored.length + at + 1)
  return {
    template: '/pages/shop/settings/charges',
    title: titles[name],
    values: typed === null || isOutdated ? values : typed,
    data: {
      name,
      columns: Object.entries(columns[name]).map(([member, column]) => ({
        member,
        lengthMax: null,
        hasCountries: false,
        choices: [],
        ...column,
      })),
      rows: [...stored.keys()].map((at) => at + 1),
      added,
      etag: tagOf(JSON.stringify(stored), asked),
    },
  }
}

async function save(asked: Sent<PageRequest>, name: ChargeTable, actor: ReturnType<typeof actorOf>): Promise<void> {
  const { caller, typed, writing } = asked
  const unchanged = ifUnchanged(typed, 'table', 'The form shows the table as it is now. Make your changes again')
  const precondition = (rows: readonly object[]) => unchanged(JSON.stringify(rows))
  precondition(await chargeTables[name].read(caller))
  const members = Object.entries(columns[name])
  const [first] = members.map(([member]) => member)
  const rows = keysIn(typed, new RegExp(`^${first}\\.(\\d{1,3})$`)).flatMap((key) => {
    const isEmpty = members.every(([member, { choices }]) => {
      return textIn(typed, `${member}.${key}`).trim() === (choices?.[0]?.[0] ?? '')
    })
    if (isEmpty || typed[`Remove.${key}`] !== undefined) return []
    const row = members.map(([member, { kind }]) => {
      const field = `${member}.${key}`
      if (member === 'IsIncluded') return [member, textIn(typed, field) === 'yes']
      return [
        member,
        kind === 'number' || kind === 'sum' ? numberIn(typed, field, writing, kind) : textIn(typed, field).trim(),
      ]
    })
    return [{ key, ...Object.fromEntries(row) } as { key: string }]
  })
  await saveRows(rows, (sent) =>
    replaceTable(caller, name, readInput(chargeTables[name].rows, sent), { actor, precondition }),
  )
}
