import { IANAZone } from 'luxon'
import { z } from 'zod'
import { countryCodes } from '../../foundation/texts/countries.ts'
import { isAddressBlock } from '../../foundation/values/address-blocks.ts'
import { namedObject, text } from '../../foundation/values/input.ts'
import { broughtKeyInput } from './brought-keys.ts'
import { throttleInput } from './rate-limit.ts'
import { readSecureUrl } from './secure-url.ts'

// What is said of a store that is created or changed.

const address = 'must be an address such as https://shop.example, without blanks inside, of at most 255 characters'
const currency = 'must be a currency code of three letters, such as USD'
const country = 'must be a country code of two letters, such as US, or empty'
const zone = 'must be a time zone name such as America/New_York'

const secureUrlInput = z
  .string(address)
  .max(255, address)
  .transform((given, context) => {
    const secureUrl = readSecureUrl(given)
    if (secureUrl === null) context.addIssue({ code: 'custom', message: address })
    return secureUrl ?? z.NEVER
  })
const currencyInput = z
  .string(currency)
  .regex(/^[A-Za-z]{3}$/, currency)
  .transform((code) => code.toUpperCase())
// Intl also accepts offsets such as +05:00, which are not zones.
const zoneInput = z
  .string(zone)
  .max(64, zone)
  .refine((name) => /^[a-z]/i.test(name) && IANAZone.isValidZone(name), zone)
const countryInput = z
  .string(country)
  .transform((code) => code.toUpperCase())
  .refine((code) => code === '' || countryCodes.includes(code), country)

export const CURRENCY_DEFAULT = 'USD'

/** The maximum number of addresses that a store has beside its main one. */
export const FURTHER_URLS_MAX = 20
const further = `must be a list of at most ${FURTHER_URLS_MAX} addresses such as https://shop.example`
const furtherUrlsInput = z
  .array(secureUrlInput, further)
  .max(FURTHER_URLS_MAX, further)
  .optional()
  .describe(
    'Further addresses, such as those on another platform, under which requests find the store: the whole list.',
  )

/** What the members of a store are. */
export const storeWords = {
  Name: 'The name of the store as people read it.',
  SecureURL: 'The address of the shop. Requests name the store by it, in the header SecureURL.',
  Currency: 'The ISO 4217 code of the currency of all amounts in the store. Nothing is converted when it changes.',
  TimeZone: 'The time zone of the times in its records, by its name in the IANA database, such as `America/New_York`.',
  Country: 'Where the shop is: an ISO 3166-1 code of two letters, such as `US`. Empty: nobody has said.',
  CartAPI: 'The access of programs to the store by cartAPI.',
  UserKey:
    'A key for cartAPI that programs have from another platform. Left out: one is made for a new store, or the one of now stays.',
}

/** What is said of a new store. */
export const storeMembers = {
  Name: text(200).describe(storeWords.Name),
  SecureURL: secureUrlInput.describe(storeWords.SecureURL),
  Currency: currencyInput.optional().meta({ default: CURRENCY_DEFAULT, description: storeWords.Currency }),
  TimeZone: zoneInput.optional().describe(`${storeWords.TimeZone} Left out: that of the setting TIME_ZONE.`),
  Country: countryInput.optional().describe(storeWords.Country),
  Throttle: throttleInput,
  SecureURLs: furtherUrlsInput,
  UserKey: broughtKeyInput.describe(storeWords.UserKey),
}

/** A store whose owner is invited. */
export const unownedStore = namedObject(storeMembers)

/** The maximum number of addresses from which a store allows cartAPI calls. */
export const ADDRESSES_MAX = 100
/** The longest IPv6 address with its prefix length. */
const ADDRESS_LENGTH_MAX = 49
const examples = 'such as 203.0.113.7 or 203.0.113.0/24'
const addresses = `must be a list of at most ${ADDRESSES_MAX} IP addresses or CIDR blocks, ${examples}`
const addressBlock = `must be an IP address or a CIDR block, ${examples}`

/** What the members of CartAPI say. */
export const cartApiWords = {
  Enabled: 'Whether cartAPI takes calls for the store.',
  Addresses: 'The IP addresses and CIDR blocks from which it takes them; an empty list: from anywhere.',
}

const cartApiInput = namedObject({
  Enabled: z.boolean('must be true or false').optional().describe(cartApiWords.Enabled),
  Addresses: z
    .array(
      z.string(addressBlock).trim().max(ADDRESS_LENGTH_MAX, addressBlock).refine(isAddressBlock, addressBlock),
      addresses,
    )
    .max(ADDRESSES_MAX, addresses)
    .optional()
    .describe(cartApiWords.Addresses),
})

/** The body of `PUT /admin/stores/{id}`. Omitted fields stay unchanged. */
export const changedStore = namedObject({
  Name: text(200).optional().describe(storeWords.Name),
  SecureURL: secureUrlInput.optional().describe(storeWords.SecureURL),
  Currency: currencyInput.optional().describe(storeWords.Currency),
  TimeZone: zoneInput.optional().describe(storeWords.TimeZone),
  Country: countryInput.optional().describe(storeWords.Country),
  CartAPI: cartApiInput.optional().describe(storeWords.CartAPI),
  Throttle: throttleInput,
  SecureURLs: furtherUrlsInput,
  UserKey: broughtKeyInput.describe(storeWords.UserKey),
})
