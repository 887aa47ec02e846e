import type { Privileges } from '../../engine/caller.ts'
import type { Config } from '../../foundation/process/settings.ts'
import { curlLine, table } from '../../foundation/process/welcome.ts'
import { isLoopbackHost } from '../../foundation/values/loopback.ts'
import type { Opened } from './open.ts'

/** Where the server is, as clients reach it. */
export type Place = Pick<Config, 'publicUrl' | 'restPrefixes' | 'soapPath'>

/** For programs; the members that `sandbox.json` has too are named as there. */
export function resultJson(place: Place, opened: Opened) {
  const { store, merchant, application, token, isTokenBrought, isNewApplication } = opened
  return {
    baseUrl: place.publicUrl,
    store: {
      id: store.Id,
      name: store.Name,
      secureUrl: store.SecureURL,
      userKey: store.UserKey,
      userKeyBrought: store.DateUserKeyBrought !== null,
      created: merchant !== null,
      ...(merchant && { email: merchant.email, ...(merchant.madePassword && { password: merchant.madePassword }) }),
    },
    application: {
      id: application.Id,
      name: application.Name,
      privileges: application.Privileges,
      publicKey: application.PublicKey,
      privateKey: application.PrivateKey,
      privateKeyBrought: application.DatePrivateKeyBrought !== null,
      token,
      tokenBrought: isTokenBrought,
      created: isNewApplication,
    },
  }
}

/** For people: what there is now, what programs send, and where to go on. */
export function resultText(place: Place, opened: Opened): string {
  const { store, application, token, isNewApplication } = opened
  const { publicUrl, restPrefixes, soapPath } = place
  const credentials = { secureUrl: store.SecureURL, privateKey: application.PrivateKey, token }
  return [
    '',
    `Store ${store.Id}, ${store.Name}, ${opened.merchant ? 'is open' : 'was there already'}.`,
    table([
      ['Store admin', `${publicUrl}/admin`],
      ['Merchant', merchantText(opened)],
      ['Developers', `${publicUrl}/developers`],
      ['Reference', `${publicUrl}/docs`],
    ]),
    '',
    `Application ${application.Id}, ${application.Name}, ${isNewApplication ? 'may work for it' : 'worked for it already'}: ${inWords(application.Privileges)}.`,
    'With every request to REST it sends these headers. Keep them as you keep a password:',
    table([
      ['SecureURL', store.SecureURL],
      ['PrivateKey', application.PrivateKey + mark(application.DatePrivateKeyBrought !== null)],
      ['Token', token + mark(opened.isTokenBrought)],
    ]),
    'Programs that speak only SOAP send this to cartAPI:',
    table([
      ['Address', `${publicUrl}${soapPath}?WSDL`],
      ['storeUrl', store.SecureURL],
      ['userKey', store.UserKey + mark(store.DateUserKeyBrought !== null)],
    ]),
    '',
    'Try it:',
    `  ${curlLine(`${publicUrl}${restPrefixes[0]}`, credentials)}`,
    '',
    ...localHint(publicUrl),
    'Next: docs/operations.md, Going live; for the program, docs/integration.md.',
    '',
  ].join('\n')
}

/** Says of a key that another platform made what to do. */
function mark(isBrought: boolean): string {
  return isBrought ? '  (brought along: rotate when you can)' : ''
}

/** Integrations keep the addresses that they were given. */
function localHint(publicUrl: string): string[] {
  if (!isLoopbackHost(new URL(publicUrl).hostname)) return []
  return [`Only this machine reaches ${publicUrl}. Set PUBLIC_URL before you hand these addresses to anybody else.`]
}

function merchantText({ store, merchant }: Opened): string {
  if (merchant === null) return `another password: PUT /admin/stores/${store.Id}/users/{userId} (docs/operations.md)`
  const { email, madePassword } = merchant
  return madePassword === null ? `${email}, with the password given` : `${email}, password ${madePassword} (shown once)`
}

function inWords(privileges: Privileges): string {
  if (privileges === null) return 'everything'
  const services = Object.entries(privileges).flatMap(([service, accesses]) =>
    accesses?.length ? [`${service} ${accesses.join(' and ')}`] : [],
  )
  return services.join(', ') || 'nothing'
}
