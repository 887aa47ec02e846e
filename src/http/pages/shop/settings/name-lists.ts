import type { FastifyInstance } from 'fastify'
import type { Actor } from '../../../../access/audit/audit.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { readInput } from '../../../../foundation/values/input.ts'
import {
  CODES_MAX,
  type Code,
  NAME_LENGTH_MAX,
  type NameListName,
  NUMBER_MAX,
  nameLists,
  readNames,
  readUsedNumbers,
} from '../../../../shop/resources/name-lists/name-lists.ts'
import { changedNames, updateList } from '../../../../shop/resources/name-lists/update-list.ts'
import { numberIn } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, type CallerServices, textIn } from '../../../html/request.ts'
import { ifUnchanged, type PageRequest, type Sent, storePages, tagOf } from '../../frame/pages.ts'
import { keysIn, NEW_ROWS, saveRows } from './saved-page.ts'

// The pages of lists that give numbers names: a form for each list, so that two people can work at two of a page.

const pages = [
  { path: '/admin/settings/payment-methods', title: t('Payment methods'), lists: ['payment-methods'] },
  { path: '/admin/settings/returns', title: t('Names for returns'), lists: ['reasons', 'methods', 'statuses'] },
] as const

type NamesPage = (typeof pages)[number]

const words = {
  'payment-methods': {
    title: t('Payment methods'),
    meaning: null,
    nameOf: (number: string) => t('Name of payment method {number}', { number }),
    isVisible: (number: string) => t('Payment method {number} is visible', { number }),
  },
  reasons: {
    title: t('Reasons'),
    meaning: t('Why goods come back.'),
    nameOf: (number: string) => t('Name of reason {number}', { number }),
    isVisible: (number: string) => t('Reason {number} is visible', { number }),
  },
  methods: {
    title: t('Compensation'),
    meaning: t('What the customer gets for the goods.'),
    nameOf: (number: string) => t('Name of compensation {number}', { number }),
    isVisible: (number: string) => t('Compensation {number} is visible', { number }),
  },
  statuses: {
    title: t('Statuses'),
    meaning: t('How far a return has come. A new return begins with status 1.'),
    nameOf: (number: string) => t('Name of status {number}', { number }),
    isVisible: (number: string) => t('Status {number} is visible', { number }),
  },
}

/** Where the form of a list is sent: to its page, or to an address of its own where the page has several. */
function addressOf({ path, lists }: NamesPage, name: NameListName): string {
  return lists.length === 1 ? path : `${path}/${name}`
}

/** Adds the pages of names, and a form for each list of them. */
export function nameListPages(app: FastifyInstance, services: CallerServices): void {
  const { page } = storePages(adminPages(app, ['Settings', 'read']), services)
  const { form } = storePages(adminPages(app, ['Settings', 'write']), services)
  for (const of of pages) {
    page(of.path, (asked) => listsPage(asked, of, null))
    for (const name of of.lists) {
      const again = (asked: PageRequest) => listsPage(asked, of, name)
      form(addressOf(of, name), again, async (asked, { request }) => {
        await save(asked, name, actorOf(request))
        return `${of.path}?notice=settings-saved#${name}`
      })
    }
  }
}

/** `sent`: the list whose form comes back; null: none does. */
async function listsPage(asked: PageRequest, of: NamesPage, sent: NameListName | null): Promise<HtmlPage> {
  const { caller } = asked
  const lists = await Promise.all(
    of.lists.map(async (name) => {
      const [codes, used] = await Promise.all([readNames(caller, name), readUsedNumbers(caller, name)])
      return { ...listShown(name, codes, used, sent === name ? asked : neverSent), address: addressOf(of, name) }
    }),
  )
  const labels = lists.flatMap(({ rows }) => rows.map(({ key, label }) => [`Name.${key}`, label] as const))
  const values = Object.assign({}, ...lists.map(({ values }) => values))
  const data = { lists, nameLengthMax: NAME_LENGTH_MAX, labels: Object.fromEntries(labels) }
  return { template: '/pages/shop/settings/name-lists', title: of.title, values, data }
}

type FormSent = Pick<PageRequest, 'typed' | 'isOutdated'>
const neverSent: FormSent = { typed: null, isOutdated: false }

/** The rows of a list: its names, the numbers that returns have without one, and some for new ones. */
function listShown(name: NameListName, codes: readonly Code[], used: readonly number[], sent: FormSent) {
  const { nameOf, isVisible, ...shown } = words[name]
  const named = new Set(codes.map(({ id }) => id))
  const nameless = used.filter((id) => id > 0 && id <= NUMBER_MAX && !named.has(id))
  const free = CODES_MAX - codes.length
  const numbered = (key: string, id: number, isNamed: boolean) => {
    return { key: name + key, number: id, isNamed, label: nameOf(String(id)), visibleLabel: isVisible(String(id)) }
  }
  const rows = [
    ...codes.map(({ id }) => numbered(`-${id}`, id, true)),
    ...nameless.slice(0, free).map((id) => numbered(`-used${id}`, id, false)),
    ...Array.from({ length: Math.max(0, Math.min(NEW_ROWS, free - nameless.length)) }, (_, at) => ({
      key: `${name}-new${at + 1}`,
      number: null,
      isNamed: false,
      label: t('Name of new row {row}', { row: String(at + 1) }),
      visibleLabel: t('New row {row} is visible', { row: String(at + 1) }),
      numberLabel: t('Number of new row {row}', { row: String(at + 1) }),
    })),
  ]
  const stored = Object.fromEntries([
    ...rows.map(({ key }) => [`Visible.${key}`, 'yes']),
    ...codes.flatMap(({ id, name: called, visible }) => [
      [`Name.${name}-${id}`, called],
      [`Visible.${name}-${id}`, visible ? 'yes' : ''],
    ]),
  ])
  return {
    ...shown,
    name,
    numberField: nameLists[name].resultKey,
    rows,
    values: sent.isOutdated ? stored : (sent.typed ?? stored),
    etag: tagOf(JSON.stringify(codes), sent),
  }
}

/** Saves a list, unless somebody has changed it since the form was shown. */
async function save({ caller, typed, writing }: Sent<PageRequest>, name: NameListName, actor: Actor): Promise<void> {
  const unchanged = ifUnchanged(typed, 'list', 'The form shows the list as it is now. Make your changes again')
  const precondition = (codes: readonly Code[]) => unchanged(JSON.stringify(codes))
  precondition(await readNames(caller, name))
  const { resultKey } = nameLists[name]
  const rows = keysIn(typed, new RegExp(`^Name\\.(${name}-(?:(?:used)?\\d{1,10}|new\\d))$`)).flatMap((key) => {
    const [, kind, id] = /-(used|new|)(\d+)$/.exec(key) ?? []
    const Name = textIn(typed, `Name.${key}`)
    // New rows without a name are ignored.
    if (kind !== '' && Name.trim() === '') return []
    const number = kind === 'new' ? numberIn(typed, `${resultKey}.${key}`, writing) : Number(id)
    // Browsers send nothing for an unticked box.
    return [
      { key, ...(number !== null && { [resultKey]: number }), Name, Visible: typed[`Visible.${key}`] !== undefined },
    ]
  })
  if (rows.length === 0) return
  await saveRows(rows, (sent) => updateList(caller, name, readInput(changedNames(name), sent), { actor, precondition }))
}
