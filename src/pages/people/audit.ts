import type { FastifyInstance, FastifyReply } from 'fastify'
import { type AuditEntry, type AuditOf, listAudit } from '../../audit/audit-log.ts'
import type { Db } from '../../database/client.ts'
import { sendPage } from '../../html/page.ts'
import { wantsHtml } from '../../html/wants-html.ts'
import type { Session } from '../../people/sessions.ts'
import { PAGE_LIMIT_MAX, wholeNumber } from '../../server/parameters.ts'
import { namedObject, readInput } from '../../values/input.ts'
import type { Area } from './area.ts'
import { actionInWords, actorInWords, detailsInWords } from './audit-words.ts'
import { zoneOf } from './zone-of.ts'

const LIMIT_DEFAULT = 50
const ID_MAX = 9_999_999_999

const auditPage = namedObject({
  limit: wholeNumber(1, PAGE_LIMIT_MAX).default(LIMIT_DEFAULT),
  before: wholeNumber(1, ID_MAX).optional(),
})

/**
 * Who did what, the newest first: the operator reads everything, a merchant what concerns the store, a developer what
 * concerns the own applications. `limit` (1 to 500, without it 50), and `before`, the id of the last entry of the page before.
 */
export function auditPages(app: FastifyInstance, services: { db: Db }, { path }: Area): void {
  const address = `${path}/audit`

  app.get(address, async (request, reply) => {
    const { session } = request
    const { limit, before } = readInput(auditPage, request.query, 'The query')
    // One more than asked for tells whether there are older ones.
    const found = await listAudit(services, ownerOf(session), { limit: limit + 1, before })
    const entries = found.slice(0, limit)
    const last = found.length > limit ? entries.at(-1) : undefined
    const older = last ? `${address}?${new URLSearchParams({ limit: String(limit), before: String(last.id) })}` : null
    if (session && wantsHtml(request))
      return showPage(reply, { session, entries, older, isFirst: before === undefined })
    if (older !== null) reply.header('link', `<${older}>; rel="next"`)
    return entries.map(auditRecord)
  })
}

function ownerOf(session: Session | null): AuditOf {
  const person = session?.person
  if (person?.kind === 'merchant') return { storeId: person.store.id }
  if (person?.kind === 'developer') return { developerId: person.id }
  return 'all'
}

interface Shown {
  readonly session: Session
  readonly entries: readonly AuditEntry[]
  readonly older: string | null
  readonly isFirst: boolean
}

function showPage(reply: FastifyReply, { session, entries, older, isFirst }: Shown) {
  const rows = entries.map((entry) => ({
    ...entry,
    who: actorInWords(entry),
    what: actionInWords(entry.action),
    more: detailsInWords(entry.details),
  }))
  return sendPage(reply, {
    template: '/pages/people/audit',
    title: 'Audit log',
    data: { rows, older, isFirst, zone: zoneOf(session.person) },
  })
}

function auditRecord(entry: AuditEntry) {
  return {
    Id: entry.id,
    Time: entry.at.toISOString(),
    Actor: { Kind: entry.actorKind, Name: entry.actor },
    Action: entry.action,
    Target: entry.target,
    StoreId: entry.storeId,
    ApplicationId: entry.applicationId,
    Details: entry.details,
    Address: entry.address,
  }
}
