// The pages below /docs. routes.ts loads this at the first request, because a start does not need it.

import { readFileSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import { addressOf, deprecations } from '../../access/applications/deprecations.ts'
import { english } from '../../foundation/texts/language.ts'
import type { HtmlPage } from '../html/page.ts'
import { changelogFeed, type Release, readChangelog } from './changelog.ts'
import { errorPages } from './errors.ts'
import { type Guide, readGuide, readGuides, samplesHtml, withAddresses } from './guides.ts'
import { type Rendered, renderInline, renderMarkdown } from './markdown.ts'
import { type ApiDocument, type DescribedOperation, servicesOf } from './operations.ts'
import { createSearch, type Entry, FOUND_MAX, QUERY_LENGTH_MAX, shapeOf } from './search.ts'

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
  const sources = readSources(document, publicUrl, local)
  const pages = pagesOf(sources, base, (text) => sources.link(renderInline(withAddresses(text))))
  const files = filesOf(sources, publicUrl)
  const find = createSearch(entriesOf(sources))
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
    /** Returns what programs read at an address: a guide as Markdown, the feed, `/llms.txt`. Undefined: there is nothing. */
    fileOf: (address: string) => files.get(address),
    /** Returns the address of a page that is written in another case; undefined: there is none. */
    canonicalOf: (address: string) => canonical.get(address.toLowerCase()),
    /** Returns the page of what was found, from a place on. */
    search: (sent: string, from: string): HtmlPage => {
      const query = sent.trim().slice(0, QUERY_LENGTH_MAX).toWellFormed()
      const title = query === '' ? 'Search' : `Search: ${query}`
      const found = find(query, placeOf(from))
      const data = { path: '/docs/search', area: 'docs', query, ...found, pageSize: FOUND_MAX, ...html }
      return { template: '/reference/templates/search', title, assets, data }
    },
  }
}

type Sources = ReturnType<typeof readSources>

/** What the pages are made of. `local` puts the addresses of this server in place of the sandbox's. */
function readSources(document: ApiDocument, publicUrl: string, local: (text: string) => string) {
  const services = servicesOf(document, publicUrl)
  const link = operationLinks(services.flatMap(({ operations }) => operations))
  const linked = <T extends Rendered>(rendered: T): T => ({ ...rendered, html: link(rendered.html) })
  const { index, pages } = errorPages()
  const releases = readChangelog(textOf('../../../CHANGELOG.md'))
  return {
    link,
    guides: readGuides(local).map(linked),
    errorIndex: index,
    codes: pages.map(linked),
    services,
    policy: linked(policyOf(local)),
    conventions: linked(renderMarkdown(textOf('./introduction.md'), { level: 2 })),
    releases,
    /** What changed for everybody but programs. */
    others: linked(renderMarkdown(releases.map(othersOf).join('\n'))),
  }
}

/** Returns a function that makes links of the operations which HTML names in code, such as `GET /Orders`, unless they are links already. */
function operationLinks(operations: readonly DescribedOperation[]): (html: string) => string {
  const addresses = new Map(operations.map(({ method, path, address }) => [`${method} ${shapeOf(path)}`, address]))
  return (html) =>
    html.replace(/(?<!">)<code>(GET|POST|PUT|DELETE) (\/[^\s<]+)<\/code>/g, (code, method, path) => {
      const address = addresses.get(`${method} ${shapeOf(path)}`)
      return address === undefined ? code : `<a href="${address}">${code}</a>`
    })
}

/** Of what is no number, the beginning. */
function placeOf(from: string): number {
  return /^\d{1,6}$/.test(from) ? Number(from) : 0
}

const CONVENTIONS = '/docs/reference/conventions'
const CHANGELOG = '/docs/changelog'
const OTHERS = `${CHANGELOG}/operators`

function othersOf({ version, day, others }: Release): string {
  return `## ${version}${day === null ? '' : ` (${day})`}\n${others}`
}

/** The policy, with what is deprecated at its end. */
function policyOf(local: (text: string) => string): Guide {
  const list = Object.values(deprecations).map((each) => {
    const [since, sunset] = [each.since, each.sunset].map((at) => at.toISOString().slice(0, 'YYYY-MM-DD'.length))
    return `- ${english(each.what)} Deprecated from ${since} on, until ${sunset} at least: [what changed](${addressOf(each)})`
  })
  return readGuide('policy', local, `\n${list.join('\n')}\n`)
}

/** Every page, by its address. */
function pagesOf(sources: Sources, base: string, renderLinked: (text: string) => string) {
  const { guides, errorIndex, codes, services, policy, conventions, releases, others } = sources
  const template = (name: string) => `/reference/templates/${name}`
  const textPage = (title: string, { html: body, sections }: Rendered, side: object): HtmlPage => {
    return { template: template('text'), title, data: { body, sections, address: '', ...side } }
  }
  const alone = { services: null, guides: null }
  const changes = { releases, services, renderLinked, feed: `${CHANGELOG}.atom` }
  const pages = new Map<string, HtmlPage>([
    ['/docs', { template: template('start'), title: 'Documentation', data: { guides, services, base } }],
    ['/docs/guides', { template: template('guides'), title: 'Guides', data: { guides } }],
    ['/docs/reference', { template: template('services'), title: 'Reference', data: { services, base } }],
    [CONVENTIONS, textPage('Conventions', conventions, { services, guides: null })],
    [CHANGELOG, { template: template('changelog'), title: 'Changelog', data: changes }],
    [OTHERS, textPage('Changelog for operators and merchants', others, alone)],
  ])
  for (const text of [policy, errorIndex, ...codes]) pages.set(text.address, textPage(text.title, text, alone))
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

/** What programs read, by its address: `/docs/guides/first-call.md`. */
function filesOf({ guides, services, policy, releases }: Sources, publicUrl: string) {
  const markdown = 'text/markdown; charset=utf-8'
  const texts = [...guides, policy]
  const listed = texts.map(({ title, address, summary }) => `- [${title}](${address}.md): ${summary}`)
  const described = services.map(({ name, address }) => `- [${name}](${address})`)
  const llms = textOf('./llms.md')
    .replace('{guides}', () => listed.join('\n'))
    .replace('{reference}', () => described.join('\n'))
    .replaceAll('](/', `](${publicUrl}/`)
  return new Map([
    ...texts.map((text) => [`${text.address}.md`, { type: markdown, text: text.markdown }] as const),
    [`${CONVENTIONS}.md`, { type: markdown, text: `# Conventions\n\n${textOf('./introduction.md')}` }],
    [`${CHANGELOG}.atom`, { type: 'application/atom+xml; charset=utf-8', text: changelogFeed(releases, publicUrl) }],
    ['/llms.txt', { type: 'text/plain; charset=utf-8', text: llms }],
  ])
}

function entriesOf({ guides, codes, services, policy, conventions, releases, others }: Sources): Entry[] {
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
    ...[...guides, policy].flatMap((guide) => ofText('guide', guide, guide)),
    ...codes.flatMap((error) => ofText('error', error, error)),
    ...ofText('conventions', { title: 'Conventions', address: CONVENTIONS }, conventions),
    ...operations.map(entryOf),
    ...entriesOfMembers(operations),
    ...entriesOfParameters(operations),
    ...releases.flatMap(({ version, changes }) =>
      changes.map(({ id, kind, services: of, text }) => ({
        kind: 'changelog' as const,
        title: `${version}: ${kind} (${of.join(', ')})`,
        context: 'Changelog',
        text: plain(text),
        address: `${CHANGELOG}#${id}`,
      })),
    ),
    ...ofText('changelog', { title: 'Changelog for operators and merchants', address: OTHERS }, others),
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
  const found: Entry[] = []
  const known = new Set<string>()
  const ordered = operations.toSorted((one, other) => distance(one) - distance(other))
  type Described = Pick<DescribedOperation['answers'][0], 'record' | 'rows'>
  const add = (of: DescribedOperation, part: string, described?: Described | null) => {
    for (const { path, type, description } of described?.rows ?? []) {
      const key = `${described?.record || of.address} ${path}`
      const text = plain(`${type}. ${description}`)
      const said = `${path}: ${text}`
      if (known.has(key) || known.has(said)) continue
      known.add(key).add(said)
      const context = described?.record || `${of.tag}: ${of.summary}`
      found.push({ kind: 'field', title: path, context, text, address: `${of.address}#${part}.${path}` })
    }
  }
  for (const of of ordered) if (of.method === 'GET') add(of, 'answer', of.answers[0])
  for (const of of ordered) add(of, 'body', of.body)
  for (const of of ordered) add(of, 'answer', of.answers[0])
  return found
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
  return markdown
    .replace(/[`*]|\]\([^)]*\)|\[/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

function textOf(file: string): string {
  return readFileSync(new URL(file, import.meta.url), 'utf8')
}
