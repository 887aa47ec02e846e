import type { FastifyInstance } from 'fastify'
import type { Actor } from '../../../../access/audit/audit.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { readInput } from '../../../../foundation/values/input.ts'
import {
  CODES_MAX,
  type Code,
  NAME_LENGTH_MAX,
  NUMBER_MAX,
  type ReturnListName,
  readReturnList,
  readUsedNumbers,
  returnListNames,
} from '../../../../shop/resources/return-lists/return-lists.ts'
import { changedCodes, updateReturnList } from '../../../../shop/resources/return-lists/update-lists.ts'
import { numberIn, type Writing } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, type CallerServices, type Form, textIn } from '../../../html/request.ts'
import { storePages, tagOf } from '../../frame/pages.ts'
import type { PageRequest, Sent } from '../../frame/request.ts'
import { ifUnchanged } from '../../frame/unchanged.ts'

// The page of the lists that give the numbers of returns names: a form for each, so that two people can work at two of them.

const address = '/admin/settings/returns'

const NEW_ROWS = 3

const words = {
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

/** Adds the page of the names for returns, and a form for each list of them. */
export function returnListPages(app: FastifyInstance, services: CallerServices): void {
  storePages(adminPages(app, ['Settings', 'read']), services).page(address, (asked) => listsPage(asked, null))
  const { form } = storePages(adminPages(app, ['Settings', 'write']), services)
  for (const name of returnListNames) {
    form(
      `${address}/${name}`,
      async (asked, { request }) => {
        await save(asked, name, actorOf(request))
        return `${address}?notice=settings-saved#${name}`
      },
      (asked) => listsPage(asked, name),
    )
  }
}

/** `sent`: the list whose form comes back; null: none does. */
async function listsPage(asked: PageRequest, sent: ReturnListName | null): Promise<HtmlPage> {
  const { caller } = asked
  const lists = await Promise.all(
    returnListNames.map(async (name) => {
      const [codes, used] = await Promise.all([readReturnList(caller, name), readUsedNumbers(caller, name)])
      return listShown(name, codes, used, sent === name ? asked : neverSent)
    }),
  )
  const labels = lists.flatMap(({ rows, fields }) => rows.map(({ key, label }) => [fields(key).name, label] as const))
  return {
    template: '/pages/shop/settings/return-lists',
    title: t('Names for returns'),
    values: Object.assign({}, ...lists.map(({ values }) => values)),
    data: { lists, address, nameLengthMax: NAME_LENGTH_MAX, labels: Object.fromEntries(labels) },
  }
}

type FormSent = Pick<PageRequest, 'typed' | 'isOutdated'>
const neverSent: FormSent = { typed: null, isOutdated: false }

/** The rows of a list: its names, the numbers that returns have without one, and some for new ones. */
function listShown(name: ReturnListName, codes: readonly Code[], used: readonly number[], sent: FormSent) {
  const fields = fieldsOf(name)
  const { title, meaning, nameOf, isVisible } = words[name]
  const named = new Set(codes.map(({ id }) => id))
  const nameless = used.filter((id) => id > 0 && id <= NUMBER_MAX && !named.has(id))
  const free = CODES_MAX - codes.length
  const numbered = (key: string, id: number, isNamed: boolean) => {
    return { key, number: id, isNamed, label: nameOf(String(id)), visibleLabel: isVisible(String(id)) }
  }
  const rows = [
    ...codes.map(({ id }) => numbered(String(id), id, true)),
    ...nameless.slice(0, free).map((id) => numbered(`used${id}`, id, false)),
    ...Array.from({ length: Math.max(0, Math.min(NEW_ROWS, free - nameless.length)) }, (_, at) => ({
      key: `new${at + 1}`,
      number: null,
      isNamed: false,
      label: t('Name of new row {row}', { row: String(at + 1) }),
      visibleLabel: t('New row {row} is visible', { row: String(at + 1) }),
      numberLabel: t('Number of new row {row}', { row: String(at + 1) }),
    })),
  ]
  const stored = Object.fromEntries([
    ...codes.flatMap(({ id, name, visible }) => {
      const { name: ofName, visible: ofVisible } = fields(String(id))
      return [
        [ofName, name],
        [ofVisible, visible ? 'yes' : ''],
      ]
    }),
    ...rows.filter(({ isNamed }) => !isNamed).map(({ key }) => [fields(key).visible, 'yes']),
  ])
  return {
    name,
    title,
    meaning,
    rows,
    fields,
    values: sent.isOutdated ? stored : (sent.typed ?? stored),
    etag: tagOf(textOf(codes), sent),
  }
}

/** What a form is about. */
function textOf(codes: readonly Code[]): string {
  return JSON.stringify(codes)
}

/** The names of a row's fields, which no other list of the page has. */
function fieldsOf(list: ReturnListName) {
  return (key: string) => ({
    name: `Name.${list}-${key}`,
    number: `Number.${list}-${key}`,
    visible: `Visible.${list}-${key}`,
  })
}

const adviceForList = 'The form shows the list as it is now. Make your changes again'

/** Saves a list, unless somebody has changed it since the form was shown. */
async function save({ caller, typed, writing }: Sent<PageRequest>, name: ReturnListName, actor: Actor): Promise<void> {
  const unchanged = ifUnchanged(typed, 'list', adviceForList)
  const precondition = (codes: readonly Code[]) => unchanged(textOf(codes))
  precondition(await readReturnList(caller, name))
  const rows = rowsIn(typed, name, writing)
  if (rows.length === 0) return
  try {
    const given = rows.map(({ key, ...row }) => row)
    const changes = readInput(changedCodes, given)
    await updateReturnList(caller, name, changes, { actor, precondition })
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    // `3.Name` is the field of the fourth row.
    const inForm = (field: string) => field.replace(/^(\d+)\.(\w+)$/, (_, at, of) => `${of}.${name}-${rows[at]?.key}`)
    const faults = error.faults.map(({ field, problem }) => ({ field: inForm(field), problem }))
    throw new StoreFailure(error.code, error.message, { field: inForm(error.field), faults, status: error.status })
  }
}

/** The rows that a form holds. Those for new names that have none are left out. */
function rowsIn(form: Form, list: ReturnListName, writing: Writing) {
  const pattern = new RegExp(`^Name\\.${list}-((?:used)?\\d{1,10}|new\\d)$`)
  return Object.keys(form).flatMap((field) => {
    const key = pattern.exec(field)?.[1]
    if (key === undefined) return []
    const { name, number, visible } = fieldsOf(list)(key)
    const Name = textIn(form, name)
    if (!/^\d/.test(key) && Name.trim() === '') return []
    const given = key.startsWith('new') ? numberIn(form, number, writing) : Number(key.replace('used', ''))
    // Browsers send nothing for an unticked box.
    return [{ key, ...(given !== null && { Number: given }), Name, Visible: form[visible] !== undefined }]
  })
}
