import { queryRows, type Transaction } from '../../foundation/database/client.ts'
import { t } from '../../foundation/texts/text.ts'
import { type MailServices, writeMail } from '../mail/write.ts'

/** What goes on working until a day although programs should leave it (docs/policy.md). Names are stored. */
export const deprecations = {
  'application-without-kind': {
    /** Of its line in the changelog. */
    id: 'an-application-without-a-kind',
    what: t('POST /developers/applications without Kind makes an existing application. Send Kind.'),
    since: new Date('2026-12-01T00:00:00Z'),
    /** From when on it may stop: at least 12 months after `since`. */
    sunset: new Date('2028-01-01T00:00:00Z'),
  },
} as const

type DeprecationName = keyof typeof deprecations

export type Deprecation = (typeof deprecations)[DeprecationName]

/** Where the changelog tells of it, below PUBLIC_URL. */
export function addressOf({ id }: Deprecation): `/${string}` {
  return `/docs/changelog#${id}`
}

/**
 * Writes a mail to the developer of a call that used it: once, however many calls there are. Where mails are `none` or too many went to
 * the address, the next call does it.
 */
export async function tellOfDeprecation(
  tx: Transaction,
  services: MailServices,
  developerId: number,
  name: DeprecationName,
): Promise<void> {
  const [developer] = await queryRows<{ identityId: number; email: string }>(tx)`
    SELECT "identityId", "email" FROM "Developer"
    WHERE "id" = ${developerId}::int AND NOT (${name}::text = ANY ("deprecationsTold")) FOR NO KEY UPDATE`
  if (developer === undefined) return
  const { identityId, email: to } = developer
  const deprecation = deprecations[name]
  const data = { what: deprecation.what, sunset: deprecation.sunset, link: addressOf(deprecation) }
  const mail = { kind: 'deprecation', data, to, identityId, storeId: null, causedBy: null } as const
  if (!(await writeMail(tx, services, mail))) return
  await tx.developer.update({ where: { id: developerId }, data: { deprecationsTold: { push: name } } })
}
