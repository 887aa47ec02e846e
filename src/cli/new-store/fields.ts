import { z } from 'zod'
import { newApplication } from '../../access/applications/applications.ts'
import { rulesWithoutSettings } from '../../access/applications/settings-input.ts'
import { newStore } from '../../access/people/create-store.ts'
import type { Privileges } from '../../engine/caller.ts'
import { privilegedServices as services } from '../../shop/registry.ts'

/** What the command has to know, validated as the server validates it. */
export interface Field<T> {
  readonly option: string
  /** Its name in the server's bodies and refusals. */
  readonly member: string
  readonly question: string
  readonly read: z.ZodType<T, string>
}

const store = newStore.out.shape
const application = newApplication(rulesWithoutSettings(services)).out.shape

const privilegesForm = `must be all, or a comma list such as Orders:read+write,Products:read, of ${services.join(', ')}`

/** `Orders:read+write,Products:read` as the server takes it. Null: everything. */
const privileges: z.ZodType<Privileges, string> = z.string().transform((given, context) => {
  if (given.trim().toLowerCase() === 'all') return null
  const pairs = given.split(',').map((item) => item.split(':'))
  const asked = pairs.map(([service = '', accesses = '']) => [service.trim(), accesses.trim().toLowerCase().split('+')])
  const isPaired =
    pairs.every((pair) => pair.length === 2) && new Set(asked.map(([service]) => service)).size === asked.length
  const { success, data } = application.Privileges.safeParse(Object.fromEntries(asked))
  if (isPaired && success) return data ?? null
  context.addIssue({ code: 'custom', message: privilegesForm })
  return z.NEVER
})

export const fields = {
  url: field('url', 'SecureURL', 'Address of the shop, such as https://www.shop.example', store.SecureURL),
  name: field('name', 'Name', 'Name of the store', store.Name),
  email: field('email', 'Email', 'E-mail address of its merchant, who signs in with it', store.Email),
  password: field('password', 'Password', 'Password of the merchant', store.Password),
  currency: field('currency', 'Currency', 'Currency', store.Currency.unwrap()),
  timeZone: field('time-zone', 'TimeZone', 'Time zone', store.TimeZone.unwrap()),
  application: field(
    'application',
    'Application',
    'Name of the application, the program that will call the API',
    application.Name,
  ),
  privileges: field(
    'privileges',
    'Privileges',
    'What the application may do: all, or such as Orders:read+write,Products:read',
    privileges,
  ),
} as const

function field<T>(option: string, member: string, question: string, read: z.ZodType<T, string>): Field<T> {
  return { option, member, question, read }
}
