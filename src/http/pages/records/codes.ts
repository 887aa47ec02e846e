import type { Caller } from '../../../engine/caller.ts'
import { type Phrase, t } from '../../../foundation/texts/text.ts'
import {
  type Code,
  type NameListName,
  readNames,
  readUsedNumbers,
} from '../../../shop/resources/name-lists/name-lists.ts'
import { listStatusNames } from './order-words.ts'
import type { Parts, Value } from './services.ts'

// Numbers of records that a list of the store gives names: a page shows the name, and a form and a filter offer them.

type Reader = Pick<Caller, 'db'> & { readonly store: Pick<Caller['store'], 'id'> }

/** A list of the store. */
interface Kind {
  readonly read: (reader: Reader) => Promise<readonly (Omit<Code, 'name'> & { readonly name: Phrase })[]>
  /** Reads the numbers that records have, of a list that need not name them. */
  readonly readUsed?: (reader: Reader) => Promise<readonly number[]>
  /** What a number is called that the list does not name. */
  readonly unnamed: (number: string) => Phrase
}

const statuses: Kind = {
  read: async ({ db, store }) =>
    (await listStatusNames(db, store.id)).map(({ id, text, visible }) => ({ id, name: text, visible })),
  unnamed: (number) => t('Status {number}', { number }),
}
function ofNames(list: NameListName, unnamed: Kind['unnamed']): Kind {
  return { read: (reader) => readNames(reader, list), readUsed: (reader) => readUsedNumbers(reader, list), unnamed }
}

/** By the wire names of the fields, in whatever record they are. */
const kindOf: Readonly<Record<string, Kind>> = {
  OrderStatusID: statuses,
  ShipmentOrderStatus: statuses,
  BillingPaymentMethodID: ofNames('payment-methods', (number) => t('Payment method {number}', { number })),
  RMAReasonID: ofNames('reasons', (number) => t('Reason {number}', { number })),
  RMAMethodID: ofNames('methods', (number) => t('Compensation {number}', { number })),
  RMAStatusID: ofNames('statuses', (number) => t('Status {number}', { number })),
}

type Choices = readonly (readonly [value: string, text: Phrase])[]

/** Whether a list of the store names the number at this path, or at this end of one. */
export function isCodedPath(path: string): boolean {
  return kindAt(path) !== null
}

/** Whether a list of the store names its numbers. */
export function isCoded({ path, field }: Pick<Value, 'path' | 'field'>): boolean {
  return field.access !== 'key' && isCodedPath(path.join('.'))
}

/** The paths of what lists of the store name in records of a service, or in a part of one. */
export function codedPaths({ values, lists }: Parts): string[] {
  return [...values.filter(isCoded).map(({ path }) => path.join('.')), ...lists.flatMap(codedPaths)]
}

export type Codes = Awaited<ReturnType<typeof readCodes>>

/** Of a form without such numbers. */
export const noCodes: Codes = { textAt: () => null, choicesFor: () => null, filterFor: () => null }

/** Reads the names of a store for the numbers that these paths have; `withUsed` reads also which numbers returns have without a name. */
export async function readCodes(
  reader: Reader,
  paths: Iterable<string>,
  { withUsed = false }: { withUsed?: boolean } = {},
) {
  const kinds = new Set([...paths].flatMap((path) => kindAt(path) ?? []))
  const read = [...kinds].map(async (kind) => [kind, await readList(reader, kind, withUsed)] as const)
  const lists = new Map(await Promise.all(read))
  const listAt = (path: string) => {
    const kind = kindAt(path)
    return kind === null ? undefined : lists.get(kind)
  }
  return {
    /** What a number at this path says; null: it is none of a list, or none is set. */
    textAt(path: string, value: unknown): Phrase | null {
      const number = String(value ?? '').trim()
      // A payment method is a text, which may be anything.
      return /^[1-9]\d{0,9}$/.test(number) ? (listAt(path)?.nameOf(number) ?? null) : null
    },
    /** What a form offers for a value that has `typed`: what is visible, and what it has. Null: no list names it. */
    choicesFor(value: Value, typed: string): Choices | null {
      const list = isCoded(value) ? listAt(value.path.join('.')) : undefined
      if (list === undefined) return null
      const none = value.field.kind === 'integer' ? '0' : ''
      const isNone = typed === '' || typed === '0'
      const offered = list.codes.filter(({ id, visible }) => visible || String(id) === typed)
      const others = isNone || list.isNamed(typed) ? [] : [[typed, list.nameOf(typed)] as const]
      // An order always has a status.
      const first = list.kind === statuses && !isNone ? [] : [[isNone ? typed : none, t('Not chosen')] as const]
      return [...first, ...offered.map(({ id, name }) => [String(id), name] as const), ...others]
    },
    /** What a filter offers, which looks for numbers that have been used as well. Null: no list names it. */
    filterFor(path: string, typed: string): Choices | null {
      const list = listAt(path)
      if (list === undefined) return null
      const others = new Set([...list.used.map(String), typed].filter((number) => /^\d{1,10}$/.test(number)))
      const nameless = [...others].filter((number) => !list.isNamed(number))
      return [
        ...list.codes.map(({ id, name }) => [String(id), name] as const),
        ...nameless.map((number) => [number, number === '0' ? t('Not chosen') : list.nameOf(number)] as const),
      ]
    },
  }
}

function kindAt(path: string): Kind | null {
  const name = path.split('.').at(-1) ?? ''
  return Object.hasOwn(kindOf, name) ? (kindOf[name] ?? null) : null
}

async function readList(reader: Reader, kind: Kind, withUsed: boolean) {
  const [codes, used = []] = await Promise.all([kind.read(reader), withUsed ? kind.readUsed?.(reader) : []])
  const names = new Map(codes.map(({ id, name }) => [String(id), name]))
  const isNamed = (number: string) => names.has(number)
  return { kind, codes, used, isNamed, nameOf: (number: string): Phrase => names.get(number) ?? kind.unnamed(number) }
}
