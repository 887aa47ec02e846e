import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { allows } from '../../access/applications/privileges.ts'
import type { Person } from '../../access/people/sessions.ts'
import type { Access } from '../../engine/caller.ts'
import { type Language, type Locale, languageOf } from '../../foundation/texts/language.ts'
import { translateTemplate } from '../../foundation/texts/template.ts'
import { type Phrase, Text, type TextValues, t } from '../../foundation/texts/text.ts'
import type { StoreFailure } from '../../foundation/values/failure.ts'
import { htmlText } from '../../foundation/values/html-text.ts'
import { remembered } from '../../foundation/values/remembered.ts'
import { privilegeName, roleName } from '../../shop/staff/names.ts'
import { privilegesOf } from '../../shop/staff/roles.ts'
import type { Need } from '../server/json/roles.ts'
import { languageFor, textIn } from './request.ts'

export interface HtmlPage {
  /** A file below src without its extension, such as `/pages/shop/orders/order`. */
  readonly template: string
  readonly title: Phrase
  /** Defaults to 200, or to the status of `failure`. */
  readonly status?: number
  /** Available to the template as `it.…`. Reading an undefined value throws; null prints nothing. */
  readonly data?: Readonly<Record<string, unknown>>
  /** Why the input was rejected. Shown above the page and beside the fields it names. */
  readonly failure?: StoreFailure
  /** The values of the form's fields, by name. */
  readonly values?: Readonly<Record<string, unknown>>
  /** Styles and a script of its own, by their names at `/assets`. */
  readonly assets?: readonly string[]
  /** How it is written, where that is not for the reader. */
  readonly locale?: Locale
}

declare module 'fastify' {
  interface FastifyInstance {
    /** What people of a store need for each of its pages and forms, by method and address such as `GET /admin/orders/:id`. */
    needsOf: Map<string, readonly Need[]>
  }
}

/** Notes what the routes of this scope need, so that pages show no link or form that would be refused. Call it before adding routes. */
export function noteNeeds(app: FastifyInstance): void {
  app.decorate('needsOf', new Map())
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.needs !== undefined) app.needsOf.set(`${method} ${url}`, config.needs)
  })
}

/** Templates as the language says them: the messages in their source when they are compiled, texts when they are printed. */
const engineOf = remembered((language: Language): Eta => {
  const eta = new Eta({
    views: fileURLToPath(new URL('..', import.meta.url)),
    cache: true,
    autoFilter: true,
    filterFunction: (value: unknown) => {
      if (value === undefined) throw new Error('A page reads what it was not given')
      return value === null ? '' : value instanceof Text ? language.say(value) : String(value)
    },
    plugins: [{ processTemplate: (source) => translateTemplate(source, language.lookUp) }],
    // In every template: `t` makes a text and says it, `say` says one that it was given.
    functionHeader: 'const { t, say, privilegeName } = this',
  })
  return Object.assign(eta, {
    t: (key: string, values?: TextValues) => language.say(t(key, values)),
    say: language.say,
    privilegeName: (privilege: string) => language.say(privilegeName(privilege)),
  })
})

/** The texts above a page after a form succeeded, by the `notice` in its address. */
const notices = new Map(
  Object.entries({
    'signed-out': t('You are signed out.'),
    'password-changed': t('Your password is changed. You are signed out everywhere else.'),
    'password-reset': t('Your password is set. Sign in with it.'),
    'address-mailed': t('A link is on its way to the new address. Open it to confirm the address.'),
    'address-changed': t('Your e-mail address is changed. You are signed out everywhere else.'),
    'accounts-joined': t('The accounts are joined.'),
    joined: t('You belong to the store now.'),
    invited: t('The invitation is on its way.'),
    'invitation-withdrawn': t('The invitation is withdrawn. Its link no longer works.'),
    'role-changed': t('The role is changed.'),
    'role-added': t('The role is added.'),
    'role-deleted': t('The role is deleted.'),
    'operator-removed': t('The person no longer runs this server.'),
    'person-removed': t('The person no longer belongs to the store.'),
    'sessions-ended': t('You are signed out there.'),
    'token-ended': t('The token has ended.'),
    'language-chosen': t('The pages are in the chosen language now.'),
    'authenticator-added': t('The authenticator app is your second factor now.'),
    'authenticator-removed': t('The authenticator app is removed.'),
    'passkey-added': t('The passkey is added.'),
    'passkey-removed': t('The passkey is removed.'),
    'factor-needed': t('Set up a second factor first: who runs a server needs one. Then all pages open.'),
    'factor-removal': t('The second factors end in 24 hours.'),
    'factor-kept': t('The second factors stay.'),
    'factor-required': t('From this day on, everybody of the store needs a second factor.'),
    'factor-optional': t('Nobody needs a second factor any more.'),
    'application-created': t('The application is registered.'),
    'application-changed': t('The changes are saved.'),
    'application-deleted': t('The application is deleted, and so are its tokens.'),
    'key-rotated': t('There is a new private key.'),
    'secret-rotated': t('There is a new callback secret. For 24 hours callbacks carry the signatures of both.'),
    subscribed: t('The application can now access your store.'),
    agreed: t('The application now has the privileges it asked for.'),
    'bodies-kept': t('What refused requests of the application send is kept from now on.'),
    'bodies-deleted': t('What refused requests sent is deleted, and no longer kept.'),
    'orders-bounded': t('The number of orders an hour is saved. It counts from now on.'),
    unsubscribed: t('The application is removed. Its token no longer works.'),
    'user-key-rotated': t('There is a new user key. The former one no longer works.'),
    'settings-saved': t('The settings are saved.'),
    'store-reopened': t('The store is open again.'),
    'person-erased': t('The person is erased.'),
    'idle-erasing': t('The customers are being erased, one after another. The list says who waits.'),
    'reply-to-mailed': t('A link is on its way to the address. Customers answer to it once you have opened the link.'),
    'test-mail-written': t('The mail is on its way to you.'),
    'status-added': t('The status is added.'),
    'webhook-added': t('The webhook is added. Send a test event to see that it arrives.'),
    'webhook-saved': t('The changes are saved. They apply from the next attempt on.'),
    'webhook-off': t('The webhook is switched off. Deliveries that were waiting will not be sent.'),
    'webhook-resumed': t('The webhook is on again.'),
    'webhook-caught-up': t('The webhook is on again, and what it missed is on its way.'),
    'webhook-secret': t('There is a new secret. For 24 hours notifications carry the signatures of both.'),
    'webhook-deleted': t('The webhook is deleted.'),
    'view-saved': t('The view is kept. You find it above the list.'),
    'view-deleted': t('The view is deleted.'),
    'record-created': t('The record is added.'),
    'record-saved': t('The changes are saved.'),
    'record-deleted': t('The record is deleted.'),
    'stock-corrected': t('The stock is corrected.'),
    'order-placed': t('The order is placed.'),
    'draft-deleted': t('The draft is thrown away.'),
    'status-changed': t('The status is changed.'),
    'status-changed-back': t('The status is changed, and the goods are back in stock.'),
    'status-changed-taken': t('The status is changed, and the goods are taken from stock again.'),
    'goods-shipped': t('The goods are shipped.'),
    'notes-saved': t('The notes are saved.'),
    'note-added': t('The note is added.'),
    'note-deleted': t('The note is deleted.'),
    'customer-link-mailed': t('The sign-in link is on its way to the customer.'),
    'message-written': t('The mail is on its way to the customer.'),
    'payment-recorded': t('The payment is recorded.'),
    'refund-recorded': t('The refund is recorded.'),
    'payment-voided': t('The payment is void.'),
    'refund-voided': t('The refund is void.'),
    'month-closed': t('The month is closed.'),
    'month-reopened': t('The month is open again.'),
    'return-added': t('The return is added.'),
    'test-store-made': t('The test store is made. Its records follow within seconds.'),
    'test-store-reset': t('The test store is reset. Its records follow within seconds.'),
    'test-store-deleted': t('The test store is thrown away.'),
    'inbox-emptied': t('The messages are deleted.'),
    'inbox-deleted': t('The inbox is deleted.'),
  }),
)

/** Sends the page in the common layout. */
export function sendPage(reply: FastifyReply, page: HtmlPage) {
  const { request } = reply
  // Outside the scopes of pages, such as for an unknown address, pages show no form that needs a token.
  const csrf = typeof reply.generateCsrf === 'function' ? reply.generateCsrf({ userInfo: csrfUser(request) }) : ''
  const notice = notices.get(textIn(request.query, 'notice')) ?? null
  const html = renderPage(request, page, { csrf, notice })
  const { status, failure } = page
  if (failure?.retryAfterSeconds !== undefined) reply.header('retry-after', failure.retryAfterSeconds)
  return reply
    .code(status ?? failure?.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(html)
}

/** Returns the page in the common layout. Without `csrf` it must have no form that changes anything. */
export function renderPage(
  request: FastifyRequest,
  page: HtmlPage,
  { csrf = '', notice = null }: { csrf?: string; notice?: Text | null } = {},
): string {
  const { template, title, data, failure, values = {}, assets = [] } = page
  const person = request.person ?? null
  const store = person && 'store' in person ? person.store : null
  const segment = /^\/([a-z]*)/.exec(request.url)?.[1] ?? ''
  const language = page.locale === undefined ? languageFor(request) : languageOf(page.locale)
  const { format, say, sayProblem } = language
  const faults = failure === undefined ? [] : faultsOf(failure, language)
  const faultAt = (field: string) => faults.find((each) => field !== '' && each.field === field)
  const shared = {
    title: say(title),
    language,
    // OAuth's pages are in the merchant's area.
    area: segment === 'oauth' ? 'admin' : segment,
    path: request.url.split('?', 1)[0],
    person,
    store,
    // Developers work for stores of many zones.
    zone: store?.timeZone ?? 'UTC',
    csrf,
    oneTimeKey: randomUUID(),
    assets,
    hasOutbox: Boolean(request.server.hasOutbox),
    notice,
    failure: failure ?? null,
    values,
    // From when on the store requires the second factor that the person has not got.
    factorFrom:
      person?.kind === 'merchant' && person.factorMissingFromMs !== null ? new Date(person.factorMissingFromMs) : null,
    may: (privilege: string, access: Access) => mayDo(person, privilege, access),
    htmlText,
    can: (route: string) => needsOf(request, route).every(([privilege, access]) => mayDo(person, privilege, access)),
    faults,
    problem: (field: string) => faultAt(field)?.problem ?? '',
    /** What stands beside a field: what is wrong, of the label. */
    inWords: (label: Phrase, field: string) => {
      const { problem = '', isWhole = true } = faultAt(field) ?? {}
      return isWhole ? problem : `${say(label)} ${problem}`
    },
    sayProblem,
    labelIn,
    roleName: (role: string) => say(roleName(role)),
    format,
  }
  return engineOf(language).render(template, { ...shared, ...data })
}

/** Binds a token to its session, and a merchant's also to the store, so that no other one accepts the form. */
export function csrfUser({ session }: FastifyRequest): string {
  // Not empty, because the plugin rejects tokens without a user.
  if (!session) return 'nobody'
  const { id, person } = session
  return person.kind === 'merchant' ? `${id} ${person.store.id}` : String(id)
}

/** Throws for a route that does not exist: a page would lead nowhere. */
function needsOf({ server }: FastifyRequest, route: string): readonly Need[] {
  const needs = server.needsOf.get(route)
  if (needs === undefined) throw new Error(`No route ${route} is there to be offered`)
  return needs
}

/** Whether the person may do this in the store, so that a page shows nothing that would be refused. */
function mayDo(person: Person | null, privilege: string, access: Access): boolean {
  return person?.kind === 'merchant' && allows(privilegesOf(person), privilege, access)
}

/**
 * Everything that is wrong, of what the server said of fields or in one sentence, in the reader's language. `isWhole`: the problem is a
 * sentence with its subject.
 */
function faultsOf({ faults, field, message }: StoreFailure, { sayProblem }: Language) {
  if (faults.length > 0)
    return faults.map((each) => ({ ...each, problem: sayProblem(each.problem), isWhole: each.field === '' }))
  const isWhole = field === '' || !message.startsWith(`${field} `)
  return [{ field, problem: sayProblem(isWhole ? message : message.slice(field.length + 1)), isWhole }]
}

/**
 * Returns what a page calls the element with this id, as HTML: its label, the name that it has for screen readers, or its legend. Empty:
 * it calls it nothing. Null: it has no such element. Read from the page, so that the summary of a refusal and its form use one word.
 */
function labelIn(html: string, id: string): string | null {
  // As the templates write it, whose filter leaves no `<`, `>` or `"` in a value.
  const written = id.replace(/[^\w-]/g, '\\$&')
  const element = new RegExp(`<(\\w+)[^>]*\\sid="${written}"[^>]*>\\s*([^<]*)(<legend[^>]*>([^<]*))?`).exec(html)
  if (id === '' || element === null) return null
  const [tag = '', kind, after = '', , legend] = element
  const label = new RegExp(`<label for="${written}"[^>]*>([^<]*)`).exec(html)?.[1]
  const spoken = /\baria-label="([^"]*)"/.exec(tag.slice(0, tag.indexOf('>')))?.[1]
  const beside = kind === 'input' ? after : undefined
  return (label ?? spoken ?? legend ?? beside ?? '').trim()
}
