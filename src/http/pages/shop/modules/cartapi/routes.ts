import type { FastifyInstance } from 'fastify'
import type { Actor } from '../../../../../access/audit/audit.ts'
import type { AccessServices } from '../../../../../access/stores/access-changes.ts'
import { changedStore } from '../../../../../access/stores/store-input.ts'
import { rotateUserKey, storeWithKey, updateStore } from '../../../../../access/stores/stores.ts'
import { type Fault, StoreFailure } from '../../../../../foundation/values/failure.ts'
import { readInput } from '../../../../../foundation/values/input.ts'
import type { HtmlPage } from '../../../../html/page.ts'
import { adminPages, refusedFields } from '../../../../html/page-routes.ts'
import { actorOf, type Form, linesIn, merchantOf } from '../../../../html/request.ts'
import type { PageRequest, Sent } from '../../../frame/pages.ts'
import { savedPage } from '../../settings/saved-page.ts'

export interface CartApiServices extends AccessServices {
  readonly config: { readonly publicUrl: string; readonly soapPath: string; readonly soapNamespaces: readonly string[] }
}

const home = '/admin/modules/cartapi'

/**
 * Adds the page with the credentials and access settings for legacy programs. The form has the fields of CartAPI in the
 * JSON body, except that Enabled is the text `true` or `false`, and Addresses is one text with an address or block per
 * line.
 */
export function cartApiPages(app: FastifyInstance, services: CartApiServices): void {
  savedPage(app, services, { path: home, privilege: 'Keys', pageOf: cartApiPage, save })
  adminPages(app, ['Keys', 'write']).post(`${home}/user-key`, async (request, reply) => {
    await rotateUserKey(services, merchantOf(request).store.id, actorOf(request))
    return reply.redirect(`${home}?notice=user-key-rotated`, 303)
  })
}

async function cartApiPage({ caller }: PageRequest, { config }: CartApiServices): Promise<HtmlPage> {
  const { publicUrl, soapPath, soapNamespaces } = config
  const store = await storeWithKey(caller, caller.store.id)
  const { userKey, userKeyBroughtAt, secureUrl, furtherUrls, cartApi } = store
  return {
    template: '/pages/shop/modules/cartapi/cartapi',
    title: 'cartAPI',
    values: { Enabled: String(cartApi.enabled), Addresses: cartApi.addresses.join('\n') },
    data: {
      userKey,
      isKeyBrought: userKeyBroughtAt !== null,
      secureUrl,
      furtherUrls,
      isEnabled: cartApi.enabled,
      address: publicUrl + soapPath,
      namespaces: soapNamespaces,
    },
  }
}

const switches = new Map<unknown, boolean>([
  ['true', true],
  ['false', false],
])

/** A missing field stays unchanged. */
async function save({ caller, typed }: Sent<PageRequest>, actor: Actor, services: CartApiServices): Promise<void> {
  const { Enabled, Addresses } = typed
  const lines = filledLines(Addresses)
  try {
    const CartAPI = {
      ...(Enabled !== undefined && { Enabled: switches.get(Enabled) ?? Enabled }),
      ...(Addresses !== undefined && { Addresses: lines.map(({ text }) => text) }),
    }
    const changes = readInput(changedStore, { CartAPI })
    await updateStore(services, caller.store.id, changes, actor)
  } catch (error) {
    if (!(error instanceof StoreFailure) || error.faults.length === 0) throw error
    throw refusedFields(inForm(error.faults, lines), error)
  }
}

/** Returns the non-empty lines, with their numbers from 1. */
function filledLines(typed: Form[string] = '') {
  return linesIn(typed)
    .map((text, index) => ({ number: index + 1, text }))
    .filter(({ text }) => text !== '')
}

const LINES_SHOWN_MAX = 3
const LINE_SHOWN_LENGTH_MAX = 50

/** Names the form's fields. The faults of single addresses become one that shows their lines. */
function inForm(faults: readonly Fault[], lines: ReturnType<typeof filledLines>): Fault[] {
  const ofAddress = 'CartAPI.Addresses.'
  const others = faults
    .filter(({ field }) => !field.startsWith(ofAddress))
    .map(({ field, problem }) => ({ field: field.replace('CartAPI.', ''), problem }))
  const wrong = faults.filter(({ field }) => field.startsWith(ofAddress))
  if (wrong.length === 0) return others
  const shown = wrong.slice(0, LINES_SHOWN_MAX).map(({ field }) => {
    const index = Number(field.slice(ofAddress.length))
    const { number, text } = lines[index] ?? { number: index + 1, text: '' }
    return `line ${number} (“${text.slice(0, LINE_SHOWN_LENGTH_MAX).toWellFormed()}”)`
  })
  const more = wrong.length > shown.length ? ` and ${wrong.length - shown.length} more` : ''
  const rule = 'must each be an IP address or a CIDR block, such as 203.0.113.7 or 203.0.113.0/24'
  return [...others, { field: 'Addresses', problem: `${rule}; wrong: ${shown.join(', ')}${more}` }]
}
