// The pages below /docs. routes.ts loads this at the first request, because a start does not need it.

import { readFileSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import type { HtmlPage } from '../html/page.ts'
import { type Guide, readGuides, samplesHtml } from './guides.ts'
import { type Rendered, renderInline, renderMarkdown } from './markdown.ts'
import { type ApiDocument, type DescribedOperation, type Service, servicesOf } from './operations.ts'
import type { Row } from './schema-rows.ts'
import { createSearch, type Entry, QUERY_LENGTH_MAX } from './search.ts'

export interface Documentation {
  /** Returns a page as HTML, which is kept; undefined for an address that has none. */
  htmlOf(address: string, render: (page: HtmlPage) => string): string | undefined
  /** Returns the page of what was found. */
  search(query: string): HtmlPage
}

/** Characters of pages that are kept; all of them have twice as many. */
const KEPT_MAX = 4_000_000

const assets = ['docs.css', 'docs.js']
/** Templates print these without escaping: both escape. */
const html = { renderInline, samplesHtml }

export function makeDocumentation(document: ApiDocument, { publicUrl }: { readonly publicUrl: string }): Documentation {
  const [first] = document.servers
  const base = (first?.url ?? '').replace('{version}', 'v1')
  const local = (text: string) =>
    text.replaceAll('http://localhost:3000/StoreWebAPI/v1', base).replaceAll('http://localhost:3000', publicUrl)
  const guides = readGuides(local)
  const services = servicesOf(document, publicUrl)
  const conventions = renderMarkdown(document.info.description, { level: 2 })
  const changelog = renderMarkdown(readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8'))
  const pages = pagesOf({ guides, services, conventions, changelog, base })
  const find = createSearch(entriesOf({ guides, services, conventions, changelog }))
  const kept = new LRUCache<string, string>({ maxSize: KEPT_MAX, sizeCalculation: (text) => text.length })
  return {
    htmlOf: (address, render) => {
      const page = pages.get(address)
      if (page === undefined) return undefined
      const known = kept.get(address)
      if (known !== undefined) return known
      const { data, ...rest } = page()
      // The address of the request may be written in another way.
      const text = render({ ...rest, assets, data: { path: address, area: 'docs', query: '', ...html, ...data } })
      kept.set(address, text)
      return text
    },
    search: (sent) => {
      const query = sent.trim().slice(0, QUERY_LENGTH_MAX).toWellFormed()
      const title = query === '' ? 'Search' : `Search: ${query}`
      const data = { path: '/docs/search', area: 'docs', query, found: find(query), ...html }
      return { template: '/reference/templates/search', title, assets, data }
    },
  }
}

interface Sources {
  readonly guides: readonly Guide[]
  readonly services: readonly Service[]
  readonly conventions: Rendered
  readonly changelog: Rendered
}

/** Every page, by its address. */
function pagesOf({ guides, services, conventions, changelog, base }: Sources & { base: string }) {
  const template = (name: string) => `/reference/templates/${name}`
  const pages = new Map<string, () => HtmlPage>([
    ['/docs', () => ({ template: template('start'), title: 'Documentation', data: { guides, services, base } })],
    ['/docs/guides', () => ({ template: template('guides'), title: 'Guides', data: { guides } })],
    ['/docs/reference', () => ({ template: template('services'), title: 'Reference', data: { services, base } })],
    [CONVENTIONS, () => textPage('Conventions', conventions, { services, guides: null })],
    ['/docs/changelog', () => textPage('Changelog', changelog, { services: null, guides: null })],
  ])
  const textPage = (title: string, { html: body, sections }: Rendered, side: object): HtmlPage => {
    return { template: template('text'), title, data: { body, sections, address: '', ...side } }
  }
  for (const guide of guides) {
    const side = { guides, services: null, address: guide.address }
    pages.set(guide.address, () => textPage(guide.title, guide, side))
  }
  for (const service of services) {
    const data = { services, service, operation: null }
    pages.set(decodeURIComponent(service.address), () => ({
      template: template('service'),
      title: service.name,
      data,
    }))
    for (const operation of service.operations) {
      pages.set(decodeURIComponent(operation.address), () => ({
        template: template('operation'),
        title: operation.summary,
        data: { ...data, operation },
      }))
    }
  }
  return pages
}

const CONVENTIONS = '/docs/reference/conventions'

function entriesOf({ guides, services, conventions, changelog }: Sources): Entry[] {
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
  return [
    ...guides.flatMap((guide) => ofText('guide', guide, guide)),
    ...ofText('conventions', { title: 'Conventions', address: CONVENTIONS }, conventions),
    ...services.flatMap(entriesOfService),
    ...ofText('changelog', { title: 'Changelog', address: '/docs/changelog' }, changelog),
  ]
}

/** A field that several operations take or give is found once, where it is read. */
function entriesOfService({ name, operations }: Service): Entry[] {
  const fields = new Map<string, Entry>()
  const parameters = new Map<string, Entry>()
  const add = (of: DescribedOperation, part: string, rows: readonly Row[]) => {
    for (const { path, type, description } of rows) {
      const key = `${recordOf(of)} ${path}`
      if (fields.has(key)) continue
      const text = plain(`${type}. ${description}`)
      fields.set(key, {
        kind: 'field',
        title: path,
        context: `${name}: ${of.summary}`,
        text,
        address: `${of.address}#${part}.${path}`,
      })
    }
  }
  const readers = operations.filter(
    ({ method, answers }) => method === 'GET' && answers.some(({ rows }) => rows.length > 0),
  )
  // One record is shown by an operation that takes its identifier.
  const isOfOne = ({ path }: DescribedOperation) => path.endsWith('}')
  for (const of of [...readers.filter(isOfOne), ...readers.filter((each) => !isOfOne(each))]) {
    add(
      of,
      'answer',
      of.answers.flatMap(({ rows }) => rows),
    )
  }
  for (const of of operations) add(of, 'body', of.body?.rows ?? [])
  for (const of of operations) {
    for (const { name: parameter, type, description } of of.parameters) {
      if (parameters.has(parameter)) continue
      const text = plain(`${type}. ${description}`)
      const context = `${name}: ${of.summary}`
      parameters.set(parameter, {
        kind: 'parameter',
        title: parameter,
        context,
        text,
        address: `${of.address}#parameter.${parameter}`,
      })
    }
  }
  const own = operations.map(({ id, summary, method, path, description, address }): Entry => {
    const kind = path === '' ? 'event' : 'operation'
    return {
      kind,
      title: summary,
      context: `${name}: ${id}`,
      text: plain(`${method} ${path}. ${description}`),
      address,
    }
  })
  return [...own, ...fields.values(), ...parameters.values()]
}

/** Operations of one record have one page for its fields; those of lists within it have others. */
function recordOf({ path }: DescribedOperation): string {
  return path.replace(/\/\{[^}]*\}/g, '')
}

function plain(markdown: string): string {
  return markdown.replace(/`/g, '').replace(/\s+/g, ' ').trim()
}
