// What a request to a page says, and who sent it.

import { Negotiator } from '@fastify/accept-negotiator'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { allows } from '../../access/applications/privileges.ts'
import type { Actor } from '../../access/audit/audit.ts'
import type { Person, Session } from '../../access/people/sessions.ts'
import { operatorCaller } from '../../access/stores/caller-store.ts'
import type { Caller } from '../../engine/caller.ts'
import type { DataServices } from '../../foundation/database/client.ts'
import {
  english,
  isLocale,
  type Language,
  type Locale,
  languageOf,
  localeTags,
} from '../../foundation/texts/language.ts'
import type { Text } from '../../foundation/texts/text.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { tellingOf } from '../../foundation/values/preferences.ts'
import { administrationPrivileges, privilegesOf, type RoleOfAccount } from '../../shop/staff/roles.ts'
import type { Need } from '../server/json/roles.ts'

/** Whether the request comes from a browser, which accepts text/html. Programs do not. */
export function wantsHtml({ headers }: FastifyRequest): boolean {
  return headers.accept?.toLowerCase().includes('text/html') ?? false
}

/** What a page is written in for whoever asks: as they chose, or as their browser says. The documentation is English. */
export function localeOf({ person, headers, url }: FastifyRequest): Locale {
  if (url.startsWith('/docs')) return 'en-US'
  const chosen = person?.kind === 'customer' ? null : person?.locale
  return chosen && isLocale(chosen) ? chosen : acceptedLocale(headers['accept-language'])
}

/** The locales by what browsers ask for: a language alone means its first one. */
const byTag: ReadonlyMap<string, Locale> = new Map([
  ...localeTags.map((tag) => [tag, tag] as const),
  ['en', 'en-US'],
  ['de', 'de-DE'],
])

const negotiator = new Negotiator({ supportedValues: [...byTag.keys()], cache: new LRUCache({ max: 1000 }) })

/**
 * Returns the locale that `Accept-Language` prefers (RFC 9110 §12.5.4); American English if it asks for none of them. A region that there
 * is none for counts as its language (RFC 4647 §3.4).
 */
function acceptedLocale(header = ''): Locale {
  const asked = header.replace(/\b([a-z]{2,3})-[\w-]+([^,]*)/gi, '$&,$1$2')
  return byTag.get(negotiator.negotiate(asked) ?? '') ?? 'en-US'
}

/** The language of whoever asks, for what is said before a template prints it: headings of a file, answers to scripts. */
export function languageFor(request: FastifyRequest): Language {
  return languageOf(localeOf(request))
}

/** Whether the body came from a form of a page. */
export function isForm({ headers }: FastifyRequest): boolean {
  return headers['content-type']?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false
}

/** Whether the body came from a form of a page that takes a file. */
export function isUpload({ headers, routeOptions }: FastifyRequest): boolean {
  const isMultipart = headers['content-type']?.toLowerCase().startsWith('multipart/form-data') ?? false
  return isMultipart && routeOptions.config.isUpload === true
}

/** Whether the request declares JSON, with or without body. A form cannot, and a foreign script needs a preflight. */
export function isJson({ headers }: FastifyRequest): boolean {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}

/** The fields of a form. A repeated field is a list. */
export type Form = Readonly<Record<string, string | string[]>>

/** Returns the fields of a form without the CSRF token. */
export function formOf({ body }: FastifyRequest): Form {
  const { _csrf, ...fields } = (body ?? {}) as Form
  return fields
}

/** Returns the fields of a form, or the JSON body. */
export function sentBy(request: FastifyRequest): unknown {
  return isForm(request) ? formOf(request) : request.body
}

/** Returns a text member of a body or query. Empty: missing, repeated or not text. */
export function textIn(sent: unknown, name: string): string {
  const value = typeof sent === 'object' && sent !== null ? (sent as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' ? value : ''
}

/** Returns the trimmed values of a member of a query, which may be repeated. */
export function textsIn(sent: unknown, name: string): string[] {
  const value = typeof sent === 'object' && sent !== null ? (sent as Record<string, unknown>)[name] : undefined
  return [value].flat().flatMap((text) => (typeof text === 'string' ? text.trim() : []))
}

/** Returns the trimmed lines of a form's text. A repeated field counts as one text. */
export function linesIn(typed: string | string[]): string[] {
  const lines = [typed].flat().join('\n').split('\n')
  return lines.map((line) => line.trim())
}

/** Validates the id of a record, sent as a number by a program or as digits by a form. */
export function formId(problem: string) {
  const digits = z.string().regex(/^\d{1,9}$/)
  return z.union([z.int32().min(1), digits.transform(Number)], problem)
}

/**
 * Returns the address to open after sign-in: `next` in a body or query if it is a path of this server, else
 * `otherwise`. Rejects addresses of other hosts however they are written (`//host`, `/\host`, with control characters).
 */
export function nextAddress(sent: unknown, otherwise: string): string {
  const next = textIn(sent, 'next')
  const base = 'http://here.invalid'
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(next) && URL.parse(next, base)?.origin === base ? next : otherwise
}

/** Returns the session that the guard admitted. Only for routes that require a session. */
export function sessionOf({ session, routeOptions }: FastifyRequest): Session {
  if (session === null) throw new Error(`${routeOptions.url} is open to others than persons with a session`)
  return session
}

/** Whether a person's program sent it, by a token. */
export function isByToken({ person, session }: FastifyRequest): boolean {
  return person !== null && session === null
}

type PersonOf<Kind extends Person['kind']> = Extract<Person, { kind: Kind }>

/** Returns the person that the guard admitted. Only for routes of just that role. */
export function personOf<Kind extends Person['kind']>(request: FastifyRequest, kind: Kind): PersonOf<Kind> {
  const { person } = request
  if (person?.kind !== kind) throw new Error(`${request.routeOptions.url} is not for a ${person?.kind}`)
  return person as PersonOf<Kind>
}

export function merchantOf(request: FastifyRequest) {
  return personOf(request, 'merchant')
}

/** Returns the principal of the request. Only for routes that require one. */
export function actorOf({ actor, routeOptions }: FastifyRequest): Actor {
  if (actor === null) throw new Error(`${routeOptions.url} is open to anyone`)
  return actor
}

export type CallerServices = DataServices

const ACTOR_LENGTH_MAX = 50

/** Returns the caller for the signed-in merchant in the store of the session, with the privileges of the role there. */
export function merchantCaller(request: FastifyRequest, { db, now, secrets }: CallerServices): Caller & CallerServices {
  const merchant = merchantOf(request)
  const actor = merchant.email.slice(0, ACTOR_LENGTH_MAX).toWellFormed()
  const privileges = privilegesOf(merchant)
  return { store: merchant.store, application: null, channel: 'administration', privileges, actor, db, now, secrets }
}

/** Throws (403) unless the merchant's role has every privilege. */
export function requirePrivileges(merchant: RoleOfAccount, needs: readonly Need[]): void {
  const privileges = privilegesOf(merchant)
  const missing = needs.find(([privilege, access]) => !allows(privileges, privilege, access))
  if (!missing) return
  const [privilege, access] = missing
  const what = english((administrationPrivileges as Readonly<Record<string, Text>>)[privilege] ?? privilege)
  const message = `Your role in this store, ${merchant.role}, may not ${access} ${what}. Whoever looks after its people can change that`
  throw new StoreFailure('forbidden', message)
}

/** Returns the caller for a store: the operator or the merchant. Throws for an unknown id (404). */
export async function storeCaller(request: FastifyRequest, services: CallerServices, storeId: number): Promise<Caller> {
  const { person, headers } = request
  const caller = person === null ? await operatorCaller(services, storeId) : merchantCaller(request, services)
  return { ...caller, ...tellingOf(headers.prefer) }
}
