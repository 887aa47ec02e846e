// The pages below /docs. routes.ts loads this at the first request, because a start does not need it.

import { readFileSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import type { HtmlPage } from '../html/page.ts'
import { errorPages } from './errors.ts'
import { type Guide, readGuides, samplesHtml } from './guides.ts'
import { type Rendered, renderInline, renderMarkdown } from './markdown.ts'
import { type ApiDocument, type DescribedOperation, type Service, servicesOf } from './operations.ts'
import type { Row } from './schema-rows.ts'
import { createSearch, type Entry, FOUND_MAX, QUERY_LENGTH_MAX } from './search.ts'

export type Documentation = ReturnType<typeof makeDocumentation>

/** Characters of pages that are kept as they were shown last. */
const KEPT_MAX = 4_000_000

const assets = ['docs.css', 'docs.js']
/** Templates print these without escaping: both escape. */
const html = { renderInline, samplesHtml }

export function makeDocumentation(document: ApiDocument, { publicUrl }: { readonly publicUrl: string }) {
  const [first] = document.servers
  const base = (first?.url ?? '').replace('{version}', 'v1')
  const local = (text: string) =>
    text.replaceAll('http://localhost:3000/StoreWebAPI/v1', base).replaceAll('http://localhost:3000', publicUrl)
  const guides = readGuides(local)
  const { index, pages: codes } = errorPages()
  const errors = [index, ...codes]
  const services = servicesOf(document, publicUrl)
  const conventions = renderMarkdown(document.info.description, { level: 2 })
  const changelog = renderMarkdown(readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8'))
  const pages = pagesOf({ guides, errors, services, conventions, changelog, base })
  const find = createSearch(entriesOf({ guides, errors: codes, services, conventions, changelog }))
  const canonical = new Map([...pages.keys()].map((address) => [address.toLowerCase(), address]))
  const kept = new LRUCache<string, string>({ maxSize: KEPT_MAX, sizeCalculation: (text) => text.length })
  return {
    /** Returns a page as HTML, which is kept; undefined for an address that has none. */
    htmlOf: (address: string, render: (page: HtmlPage) => string): string | undefined => {
      const page = pages.get(address)
      if (page === undefined) return undefined
      const known = kept.get(address)
      if (known !== undefined) return known
      const { data, ...rest } = page
      // The address of the request may be written in another way.
      const text = render({ ...rest, assets, data: { path: address, area: 'docs', query: '', ...html, ...data } })
      kept.set(address, text)
      return text
    },
    /** Returns the address of a page that is written in another case; undefined: there is none. */
    canonicalOf: (address: string) => canonical.get(address.toLowerCase()),
    /** Returns the page of what was found, from a place on. */
    search: (sent: string, from: string): HtmlPage => {
      const query = sent.trim().slice(0, QUERY_LENGTH_MAX).toWellFormed()
      const title = query === '' ? 'Search' : `Search: ${query}`
      const data = {
        path: '/docs/search',
        area: 'docs',
        query,
        ...find(query, placeOf(from)),
        pageSize: FOUND_MAX,
        ...html,
      }
      return { template: '/reference/templates/search', title, assets, data }
    },
  }
}

/** Of what is no number, the beginning. */
function placeOf(from: string): number {
  return /^\d{1,6}$/.test(from) ? Number(from) : 0
}

interface Sources {
  readonly guides: readonly Guide[]
  readonly errors: readonly Guide[]
  readonly services: readonly Service[]
  readonly conventions: Rendered
  readonly changelog: Rendered
}

/** Every page, by its address. */
function pagesOf({ guides, errors, services, conventions, changelog, base }: Sources & { base: string }) {
  const template = (name: string) => `/reference/templates/${name}`
  const textPage = (title: string, { html: body, sections }: Rendered, side: object): HtmlPage => {
    return { template: template('text'), title, data: { body, sections, address: '', ...side } }
  }
  const pages = new Map<string, HtmlPage>([
    ['/docs', { template: template('start'), title: 'Documentation', data: { guides, services, base } }],
    ['/docs/guides', { template: template('guides'), title: 'Guides', data: { guides } }],
    ['/docs/reference', { template: template('services'), title: 'Reference', data: { services, base } }],
    [CONVENTIONS, textPage('Conventions', conventions, { services, guides: null })],
    ['/docs/changelog', textPage('Changelog', changelog, { services: null, guides: null })],
  ])
  for (const error of errors) pages.set(error.address, textPage(error.title, error, { services: null, guides: null }))
  for (const guide of guides) {
    const side = { guides, services: null, address: guide.address }
    pages.set(guide.address, textPage(guide.title, guide, side))
  }
  for (const service of services) {
    const data = { services, service, operation: null }
    pages.set(decodeURIComponent(service.address), { template: template('service'), title: service.name, data })
    for (const operation of service.operations) {
      const page = { template: template('operation'), title: operation.summary, data: { ...data, operation } }
      pages.set(decodeURIComponent(operation.address), page)
    }
  }
  return pages
}

const CONVENTIONS = '/docs/reference/conventions'

function entriesOf({ guides, errors, services, conventions, changelog }: Sources): Entry[] {
  const ofText = (kind: Entry['kind'], { title, address }: { title: string; address: string }, from: Rendered) =>
    from.sections
      .filter((section) => section.title !== '' || section.text !== '')
      .map((section) => ({
        kind,
        title: section.title || title,
        context: section.title === '' ? '' : title,
        text: section.text,
        address: section.id === '' ? address : `${address}#${section.id}`,
      }))
  const operations = services.flatMap((service) => service.operations)
  return [
    ...guides.flatMap((guide) => ofText('guide', guide, guide)),
    ...errors.flatMap((error) => ofText('error', error, error)),
    ...ofText('conventions', { title: 'Conventions', address: CONVENTIONS }, conventions),
    ...operations.map(entryOf),
    ...entriesOfMembers(operations),
    ...entriesOfParameters(operations),
    ...ofText('changelog', { title: 'Changelog', address: '/docs/changelog' }, changelog),
  ]
}

function entryOf({ id, tag, summary, method, path, description, address }: DescribedOperation): Entry {
  const context = `${tag}: ${id}`
  // What all notifications say behind their first sentence is no reason to find one.
  const [when = ''] = description.split(/(?<=\.)\s/)
  if (path === '') return { kind: 'event', title: summary, context, text: plain(when), address }
  const request = `${method} ${path}`
  return { kind: 'operation', title: summary, context, text: plain(`${request}. ${description}`), address, request }
}

/** A member that several operations or records have in the same words is found once, where its record is read by itself. */
function entriesOfMembers(operations: readonly DescribedOperation[]): Entry[] {
  const found = new Map<string, Entry>()
  const texts = new Set<string>()
  const ordered = operations.toSorted((one, other) => distance(one) - distance(other))
  const add = (of: DescribedOperation, part: string, { record, rows }: { record: string; rows: readonly Row[] }) => {
    for (const { path, type, description } of rows) {
      const key = `${record || of.address} ${path}`
      const text = plain(`${type}. ${description}`)
      const said = `${path} ${text}`
      if (found.has(key) || texts.has(said)) continue
      texts.add(said)
      const context = record || `${of.tag}: ${of.summary}`
      found.set(key, { kind: 'field', title: path, context, text, address: `${of.address}#${part}.${path}` })
    }
  }
  for (const of of ordered) {
    const [first] = of.answers
    if (first && of.method === 'GET') add(of, 'answer', first)
  }
  for (const of of ordered) if (of.body) add(of, 'body', of.body)
  return [...found.values()]
}

/** How far an operation is from that of one record of its own service: by its address. */
function distance({ path }: DescribedOperation): number {
  const names = path.split('/').filter((segment) => !segment.startsWith('{'))
  return 2 * names.length + (path.endsWith('}') ? 0 : 1)
}

/** What many operations take is found once. */
function entriesOfParameters(operations: readonly DescribedOperation[]): Entry[] {
  const found = new Map<string, Entry>()
  for (const { tag, summary, address, parameters } of operations) {
    for (const { name, type, description } of parameters) {
      const text = plain(`${type}. ${description}`)
      const key = `${name} ${description}`
      const entry = { title: name, context: `${tag}: ${summary}`, text, address: `${address}#parameter.${name}` }
      if (!found.has(key)) found.set(key, { kind: 'parameter', ...entry })
    }
  }
  return [...found.values()]
}

function plain(markdown: string): string {
  return markdown.replace(/`/g, '').replace(/\s+/g, ' ').trim()
}
