import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { type AuditAction, auditActions } from '../../../access/audit/actions.ts'
import { type AuditEntry, type AuditOf, listAudit } from '../../../access/audit/audit.ts'
import type { Person } from '../../../access/people/sessions.ts'
import type { Db } from '../../../foundation/database/client.ts'
import { t } from '../../../foundation/texts/text.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { languageFor, wantsHtml } from '../../html/request.ts'
import { id, operatorRoute, time } from '../../html/route-groups.ts'
import { many, record } from '../../server/json/json-routes.ts'
import { ref } from '../../server/json/openapi.ts'
import { PAGE_LIMIT_MAX, wholeNumber } from '../../server/json/parameters.ts'
import { type Codes, readCodes } from '../records/codes.ts'
import { actorInWords, codedMembers, detailsInWords } from './audit-words.ts'

const LIMIT_DEFAULT = 50
const ID_MAX = 9_999_999_999

export const auditQuery = namedObject({
  limit: wholeNumber(1, PAGE_LIMIT_MAX).default(LIMIT_DEFAULT).describe('The maximum number of entries on the page.'),
  before: wholeNumber(1, ID_MAX)
    .optional()
    .describe('The id of the last entry of the page before; `Link` has the address of the next page.'),
})

const auditEntry = record<AuditEntry>('AuditEntry')({
  Id: z.int().min(1).describe('The number of the entry: later entries have higher ones.'),
  Time: [time.describe('The time of the action.'), (from) => from.at.toISOString()],
  Actor: [
    z
      .strictObject({
        Kind: z
          .enum(['operator', 'developer', 'merchant', 'application'])
          .describe(
            'In which role: `operator`; `developer` of applications; `merchant`, a person of the store; `application`, a program.',
          ),
        Name: z
          .string()
          .describe('The e-mail address of a person, or the name of an application; empty: the operator.'),
      })
      .describe('The person or application that acted.'),
    (from) => ({ Kind: from.actorKind, Name: from.actor }),
  ],
  Action: z.enum(Object.keys(auditActions) as AuditAction[]).describe('The action that was taken.'),
  Target: z.string().describe('The name of what was affected.'),
  StoreId: id.nullable().describe('The store in which it was done. Null: in none.'),
  ApplicationId: id.nullable().describe('The application that it was done to or with. Null: none.'),
  Details: z.record(z.string(), z.unknown()).describe('Further details; the members depend on Action.'),
  Address: z.string().describe('The IP address of the client.'),
})

/** The route of the audit log: the operator reads all of it, a merchant the store's. */
export const auditRoutes = [
  operatorRoute('GET /admin/audit', {
    roles: ['operator-key', 'merchant'],
    needs: [['Settings', 'read']],
    id: 'listAudit',
    summary: 'Read the audit log',
    description:
      'Who did what on the server, the newest entry first; for somebody of a store, in that store alone. Follow the header `Link` for older ones.',
    query: auditQuery,
    answers: { 200: many('Entries, the newest first.', auditEntry, { Link: ref('headers', 'Link') }) },
    run: ({ reply, query }, services: { db: Db }) => auditPage(services, reply, query),
  }),
]

/** Adds the audit log of a developer's own account and applications. */
export function developerAudit(app: FastifyInstance, services: { db: Db }): void {
  pagesFor(app, 'developer').get('/developers/audit', async (request, reply) => {
    const page = await auditPage(services, reply, readInput(auditQuery, request.query, 'The query'))
    return Array.isArray(page) ? page.map(auditEntry.of) : page
  })
}

/** Answers a page of the audit log, of what the person may read. */
export async function auditPage(
  services: { db: Db },
  reply: FastifyReply,
  { limit, before }: z.output<typeof auditQuery>,
) {
  const { person, routeOptions } = reply.request
  const found = await listAudit(services, ownerOf(person), { limit: limit + 1, before })
  const entries = found.slice(0, limit)
  const last = found.length > limit ? entries.at(-1) : undefined
  const next = last && new URLSearchParams({ limit: String(limit), before: String(last.id) })
  const older = next ? `${routeOptions.url}?${next}` : null
  if (!person || !wantsHtml(reply.request)) {
    if (older !== null) reply.header('link', `<${older}>; rel="next"`)
    return entries
  }
  const timeZone = 'store' in person ? person.store.timeZone : 'UTC'
  const codes = await codesByStore(services.db, entries)
  const words = { ...languageFor(reply.request), timeZone }
  const rows = entries.map((entry) => ({
    ...entry,
    who: actorInWords(entry),
    // Of a later version it has no words.
    what: auditActions[entry.action] ?? entry.action,
    more: detailsInWords(entry.details, { ...words, codes: codes.get(entry.storeId) }),
  }))
  const data = { rows, older, isFirst: before === undefined }
  return sendPage(reply, { template: '/pages/people/audit', title: t('Audit log'), data })
}

/** What details name by number, by the store: an operator reads entries of many. */
async function codesByStore(db: Db, entries: readonly AuditEntry[]) {
  const found = new Map<number | null, Codes>()
  for (const [id, ofStore] of Map.groupBy(entries, ({ storeId }) => storeId)) {
    const members = ofStore.flatMap(({ details }) => Object.keys(details))
    const paths = members.flatMap((member) => codedMembers.get(member) ?? [])
    if (id !== null && paths.length > 0) found.set(id, await readCodes({ db, store: { id } }, paths))
  }
  return found
}

function ownerOf(person: Person | null): AuditOf {
  if (person?.kind === 'merchant') return { storeId: person.store.id }
  if (person?.kind === 'developer') return { developerId: person.id }
  return 'all'
}
