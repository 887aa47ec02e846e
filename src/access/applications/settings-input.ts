import { z } from 'zod'
import type { Outbound } from '../../foundation/outbound/outbound.ts'
import { privilegesInput } from './privileges-input.ts'

// What a developer, or the operator, says of an application beside its name.

export const applicationName = 'The name of the application. Merchants see it when they are asked for access.'

const ADDRESS_LENGTH_MAX = 2_000
const REDIRECT_URIS_MAX = 20

const callbackUrl = `must be an http or https address of at most ${ADDRESS_LENGTH_MAX} characters`
const redirectUri = `must be an absolute http or https address without user name and fragment, of at most ${ADDRESS_LENGTH_MAX} ASCII characters`
const redirectUris = `must be a list of at most ${REDIRECT_URIS_MAX} addresses`

export type AddressRules = Pick<Outbound, 'addressFault'>

/** `services`: those that privileges may name, from the registry. */
export type SettingsRules = { readonly services: readonly string[]; readonly outbound: AddressRules }

/** For the reference and the commands: without the rules for CallBackURL that depend on settings. */
export function rulesWithoutSettings(services: readonly string[]): SettingsRules {
  return { services, outbound: { addressFault: () => null } }
}

/**
 * What a program may expect of this server. `existing`: one that was written for another server or an earlier version, whose
 * requests are read leniently. `new`: one that is told of every mistake, proves its codes by PKCE, and refreshes its access tokens.
 */
export const applicationKinds = ['existing', 'new'] as const

export type ApplicationKind = (typeof applicationKinds)[number]

export const applicationKindNote =
  'Whether the program exists already or is a new one. `existing`, also where it is left out: requests are read leniently, and access tokens do not expire. `new`: requests are read strictly, OAuth demands PKCE with S256, and access tokens are refreshed every hour.'

export const erasuresNote =
  'Whether CallBackURL is told, with Action REDACT, when a person is erased in a store that uses the application.'

const kindInput = z
  .enum(applicationKinds, `must be ${applicationKinds.join(' or ')}`)
  .optional()
  .describe(applicationKindNote)

export function settingsInput({ services, outbound }: SettingsRules) {
  // Null or empty: no callbacks. Rejects an address that can never be called, with the reason.
  const CallBackURL = z
    .string(callbackUrl)
    .trim()
    .max(ADDRESS_LENGTH_MAX, callbackUrl)
    .superRefine((url, context) => {
      if (url === '') return
      const fault = url.isWellFormed() && !/[\s\p{Cc}]/u.test(url) ? outbound.addressFault(url) : callbackUrl
      if (fault !== null) context.addIssue({ code: 'custom', message: fault })
    })
    .transform((url) => url || null)
    .nullable()
    .optional()
    .describe(
      'The address that is told when a store lets the application in or ends that. It has to answer 200. Null or empty: no callbacks.',
    )
  const Erasures = z.boolean('must be true or false').optional().describe(erasuresNote)
  const RedirectURIs = redirectUrisInput
  return { CallBackURL, Erasures, RedirectURIs, Privileges: privilegesInput(services), Kind: kindInput }
}

/** RFC 6749 §3.1.2: absolute, without fragment. Only RFC 3986 characters, because addresses are compared as text. */
const redirectUriInput = z
  .string(redirectUri)
  .max(ADDRESS_LENGTH_MAX, redirectUri)
  .regex(/^https?:\/\/[\w.~:/?[\]@!$&'()*+,;=%-]+$/i, redirectUri)
  .refine((uri) => URL.canParse(uri) && !/^https?:\/\/[^/?]*@/i.test(uri), redirectUri)

const redirectUrisInput = z
  .array(redirectUriInput, redirectUris)
  .max(REDIRECT_URIS_MAX, redirectUris)
  .transform((uris) => [...new Set(uris)])
  .nullable()
  .transform((uris) => uris ?? [])
  .optional()
  .describe('The addresses to which OAuth may send merchants back, character by character as programs send them.')
