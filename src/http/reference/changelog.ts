// CHANGELOG.md as pages: what changed for programs, and apart from it what changed for everybody else.

import { escapeXml, XML_DECLARATION } from '../../foundation/xml/text.ts'
import { renderInline, slugOf } from './markdown.ts'

export type Release = ReturnType<typeof readChangelog>[number]

const FOR_PROGRAMS = 'For integrators\n'
const LINE = /^\*\*(new|changed|breaking)\*\* \(([^)]+)\): (.+)$/
const ID_LENGTH_MAX = 60

/** Returns the versions, the newest first. Throws for a line that does not say what it is. */
export function readChangelog(text: string) {
  const [, ...sections] = text.split(/^## /m)
  return sections.map((section) => {
    const [heading = ''] = section.split('\n', 1)
    // `0.3.0 (2026-11-29)`, or `Unreleased`.
    const [, version = '', day = null] = /^(\S+)(?: \((.+)\))?$/.exec(heading) ?? []
    const parts = section.slice(heading.length).split(/^### /m)
    const [own = ''] = parts.filter((part) => part.startsWith(FOR_PROGRAMS))
    const others = parts.filter((part) => part !== own).join('### ')
    const changes = changesIn(own.slice(FOR_PROGRAMS.length))
    return { id: slugOf(`version ${version}`), version, day, changes, others }
  })
}

/** Changes for programs: `services` are tags of the reference, or what else the line names, such as `all`. */
function changesIn(part: string) {
  const lines = part.split(/^- /m).flatMap((line) => line.trim().replace(/\s+/g, ' ') || [])
  return lines.map((line) => {
    const [, kind, services = '', text = ''] = LINE.exec(line) ?? []
    if (kind === undefined) throw new Error(`A line of the changelog says neither new, changed nor breaking: ${line}`)
    return { id: changeId(text), kind, services: services.split(', '), text }
  })
}

/** Of whole words, up to the first sentence or colon. */
function changeId(text: string): string {
  const [title = ''] = text.split(/[.:] /, 1)
  return slugOf(title).replace(new RegExp(`^(.{1,${ID_LENGTH_MAX}})(?:-.*)?$`), '$1')
}

/** Returns the released versions as an Atom feed (RFC 4287), an entry each, which keeps its id for good. */
export function changelogFeed(releases: readonly Release[], publicUrl: string): string {
  const address = `${publicUrl}/docs/changelog`
  const released = releases.filter(({ day, changes }) => day !== null && changes.length > 0)
  const entries = released.map(({ id, version, day, changes }) => {
    const items = changes.map(
      ({ kind, services, text }) => `<li><b>${kind}</b> (${services.join(', ')}): ${renderInline(text)}</li>`,
    )
    const kinds = [...new Set(changes.map(({ kind }) => kind))]
    return `<entry><id>${escapeXml(`${address}#${id}`)}</id><title>Version ${version}: ${kinds.join(', ')}</title><updated>${day}T00:00:00Z</updated><link href="${escapeXml(`${address}#${id}`)}"/>${kinds.map((kind) => `<category term="${kind}"/>`).join('')}<content type="html">${escapeXml(`<ul>${items.join('')}</ul>`)}</content></entry>`
  })
  return `${XML_DECLARATION}<feed xmlns="http://www.w3.org/2005/Atom" xml:base="${escapeXml(publicUrl)}/"><id>${escapeXml(address)}</id><title>Changes for programs of ${escapeXml(new URL(publicUrl).host)}</title><updated>${released[0]?.day ?? '1970-01-01'}T00:00:00Z</updated><author><name>store-platform</name></author><link rel="self" href="${escapeXml(`${address}.atom`)}"/><link href="${escapeXml(address)}"/>${entries.join('')}</feed>`
}
