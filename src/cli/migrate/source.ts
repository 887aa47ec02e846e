import type { Resource } from '../../engine/definition/resource.ts'
import { StartupError } from '../../foundation/process/startup-error.ts'
import { writeDate } from '../../foundation/values/dates.ts'
import { parseExactly } from '../../foundation/values/long-number.ts'
import { childElements, isNil, localName, readXmlDocument, textOf, type XmlElement } from '../../foundation/xml/read.ts'
import { beginningOf } from '../printable.ts'
import { type Answer, Asking } from './ask.ts'

/** The path of the interface, and the one of the platform that it comes from. */
const PREFIXES = ['/StoreWebAPI', '/3dCartWebAPI']

/** What REST does not show of a store, a line each. */
export const leftOut = [
  'passwords of customers: they ask for a new one at their next sign-in',
  'card and bank numbers',
  'webhooks and tokens of other applications: these make them here',
  'coupons and promotions, beside what orders have used of them',
  'gift certificates',
  'newsletter subscriptions, beside the customers’ MailList',
  'redirects of old addresses',
  'taxes, and rates of shipping',
  'the names of payment methods, beside those that orders show',
]

export interface SourceKeys {
  /** With scheme, as given. */
  readonly address: string
  readonly privateKey: string | null
  readonly token: string | null
  readonly secureUrl: string | null
}

/** The source lacks the service, or the keys give no access to it. */
export class Unavailable {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

/** Whether the records of a service are settings, such as order statuses: every store has some, and no program makes them. */
export function isSetting({ methods }: Resource): boolean {
  return methods.length === 1
}

function headersOf({ privateKey, token, secureUrl }: SourceKeys): Record<string, string> {
  const accept = { accept: 'application/json, application/xml;q=0.5' }
  if (privateKey === null) return { ...accept, authorization: `Bearer ${token}` }
  return { ...accept, privatekey: privateKey, token: token ?? '', secureurl: secureUrl ?? '' }
}

/** The store to copy, read through REST. */
export class Source {
  readonly #asking: Asking
  readonly #options: { version: string; timeZone: string }
  #prefix = ''

  private constructor(asking: Asking, options: { version: string; timeZone: string }) {
    this.#asking = asking
    this.#options = options
  }

  /**
   * Opens a store with the three headers, or with a bearer token if there is no private key. Throws StartupError if the address has no
   * such interface, or if it refuses the keys.
   */
  static async open(keys: SourceKeys, options: { version: string; timeZone: string; say: (line: string) => void }) {
    const source = new Source(new Asking(keys.address, headersOf(keys), options.say), options)
    await source.#findPrefix()
    return source
  }

  async #findPrefix(): Promise<void> {
    const given = /\/[^/]*WebAPI$/i.test(this.#asking.address)
    for (const prefix of given ? [''] : PREFIXES) {
      this.#prefix = prefix
      const found = await this.#get('Products', 'countonly=1', (answer) => answer)
      if (found.status === 401) {
        throw new StartupError(
          `The source refuses the keys (401${reasonOf(found)}). Give MIGRATE_PRIVATE_KEY, MIGRATE_TOKEN and MIGRATE_SECURE_URL of an application that may read everything there`,
        )
      }
      if (found.status === 200 || (found.status === 404 && found.body.trim() === '')) return
    }
    throw new StartupError(
      `${this.#asking.address} does not speak this interface at ${PREFIXES.join(' or ')}. Give --from the address up to these`,
    )
  }

  /** Whether `since` works for the service. */
  knowsChanges({ filters }: Resource): boolean {
    return filters.lastupdatestart !== undefined
  }

  /** The time of the source's clock. */
  now(): Date {
    return this.#asking.now()
  }

  /** Counts the records of a service, or those changed since a time. */
  async count(resource: Resource, since?: Date): Promise<number | Unavailable> {
    return this.#get(resource.service, `countonly=1${this.#changedSince(since)}`, (answer) => {
      if (isRefused(answer)) return unavailable(answer)
      if (answer.status !== 200) return 0
      const [counted] = recordsOf(contentOf(answer))
      const total = Object.entries(counted ?? {}).find(([name]) => name.toLowerCase() === 'totalcount')?.[1]
      if (!/^\d{1,12}$/.test(String(total))) throw new Error('a count that is no number')
      return Number(total)
    })
  }

  /**
   * Reads a page that skips `before` records, plus or minus one, because servers count offsets from 0 or from 1. Returns `[]` past the
   * end.
   */
  async page(resource: Resource, { before, since }: { before: number; since?: Date }) {
    const offset = before === 0 ? '' : `&offset=${before}`
    const query = `limit=${resource.maxRecords}${offset}${this.#changedSince(since)}`
    return this.#get(resource.service, query, (answer) => {
      // Past the end, v1 answers 400 and v2 an empty 404.
      if (before > 0 && (answer.status === 400 || answer.status === 404)) return []
      if (isRefused(answer)) return unavailable(answer)
      return answer.status === 404 ? [] : recordsOf(contentOf(answer))
    })
  }

  /** Reads a record by id. Null: there is none. */
  async find(resource: Resource, id: number): Promise<unknown | null | Unavailable> {
    return this.#get(`${resource.service}/${id}`, '', (answer) => {
      if (answer.status === 404) return null
      if (isRefused(answer)) return unavailable(answer)
      return recordsOf(contentOf(answer))[0] ?? null
    })
  }

  close(): Promise<void> {
    return this.#asking.close()
  }

  #get<T>(path: string, query: string, read: (answer: Answer) => T): Promise<T> {
    const { version } = this.#options
    const address = `${this.#prefix}/${version}/${path}${query === '' ? '' : `?${query}`}`
    return this.#asking.ask(address, read)
  }

  /** The filter in the documented date form, in the store's time zone. */
  #changedSince(since: Date | undefined): string {
    return since === undefined ? '' : `&lastupdatestart=${encodeURIComponent(queryDate(since, this.#options.timeZone))}`
  }
}

/** `07/10/2026 14:44:08` */
function queryDate(instant: Date, timeZone: string): string {
  const [date = '', time = ''] = writeDate(instant, timeZone).split('T')
  const [year, month, day] = date.split('-')
  return `${month}/${day}/${year} ${time}`
}

/** Includes 400, which some servers answer for an unknown service. */
function isRefused({ status, body }: Answer): boolean {
  return status !== 200 && !(status === 404 && body.trim() === '')
}

function unavailable(answer: Answer): Unavailable {
  return new Unavailable(`status ${answer.status}${reasonOf(answer)}`)
}

/** The shortened message of a refusal, after a colon. */
function reasonOf(answer: Answer): string {
  try {
    const message = recordsOf(contentOf(answer))[0]?.Message
    return typeof message === 'string' && message !== '' ? `: ${beginningOf(message, 200)}` : ''
  } catch {
    return ''
  }
}

/** Parses JSON, or XML from a source that answers nothing else. Throws for anything else, and repeats nothing of it. */
function contentOf({ body }: Answer): unknown {
  if (body.trim() === '') return []
  try {
    return body.trimStart().startsWith('<') ? plainOf(readXmlDocument(body)) : parseExactly(body)
  } catch {
    throw new Error('neither JSON nor XML')
  }
}

/** Converts an element to what JSON would have: a text, null for `xsi:nil`, or an object, with lists for repeated names. */
function plainOf(element: XmlElement): unknown {
  if (isNil(element)) return null
  const children = childElements(element)
  if (children.length === 0) return textOf(element, localName(element.name))
  const members: Record<string, unknown> = Object.create(null)
  for (const child of children) {
    const name = localName(child.name)
    const value = plainOf(child)
    const earlier = members[name]
    if (earlier === undefined) members[name] = value
    else if (Array.isArray(earlier)) earlier.push(value)
    else members[name] = [earlier, value]
  }
  return members
}

/** Takes a list, a single record, or either as the only member of an object, as in XML. */
function recordsOf(content: unknown): readonly Record<string, unknown>[] {
  if (Array.isArray(content)) return content.filter((each) => typeof each === 'object' && each !== null)
  if (typeof content !== 'object' || content === null) return []
  const members = Object.values(content)
  const [only] = members
  if (members.length === 1 && typeof only === 'object' && only !== null) return recordsOf(only)
  return [content as Record<string, unknown>]
}
