import { locks } from '../../foundation/database/advisory-locks.ts'
import { type DataServices, type Db, inTransaction, type Transaction } from '../../foundation/database/client.ts'
import { empty, sql } from '../../foundation/database/sql.ts'
import { type Phrase, t } from '../../foundation/texts/text.ts'
import { networkOf } from '../../foundation/values/address-blocks.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../foundation/values/input.ts'
import { recordAudit } from '../audit/audit.ts'
import { type MailServices, mailsAre, writeMail } from '../mail/write.ts'
import { browserName } from './browser-name.ts'
import { tableOf } from './enter.ts'
import { linkUsed, newToken, tokenHashes } from './links.ts'
import { emailInput, fieldFault, hashPassword, lowerCase, refuseNamesAsPassword } from './passwords.ts'
import { type AccountKind, areaPaths, type Client, endSessionsOfIdentity } from './sessions.ts'
import type { SignInServices } from './sign-in.ts'
import { forgetFailures, takeAttempt } from './sign-in-delay.ts'

// A lost password: a link to the address, by which the person chooses another.

export type ResetServices = SignInServices & MailServices

export const RESET_MINUTES = 60
/** Identities of one address, as a sign-in looks at. */
const IDENTITIES_MAX = 20

const resetRequest = namedObject({ Email: emailInput })

/**
 * Mails a link for a new password to an address, if an account of the kind has it. Whether one has cannot be told: the same statements
 * run and a mail's row is written either way. Throws for an address that is none (400), where no mail can be sent (409), and beyond the
 * bounds of mails or of the network's sign-ins (429).
 */
export async function requestReset(
  services: ResetServices,
  kind: AccountKind,
  input: unknown,
  { address, locale }: Pick<Client, 'address' | 'locale'>,
): Promise<void> {
  const { db, config } = services
  const { Email } = readInput(resetRequest, input)
  if (mailsAre(config) === 'none') {
    throw new StoreFailure('invalid-state', 'This server sends no mail: whoever runs it can hand you a link')
  }
  await takeAttempt(services, networkOf(address))
  await inTransaction(db, async (tx) => {
    const accounts = await accountsOf(tx, kind, Email)
    const { link, expiresAt } = await insertResetLink(tx, services, { kind, email: Email, identityId: null })
    // Anybody may call an account by the address, and the store of it as they like.
    const proved = accounts.filter(({ isProved }) => isProved)
    const data = { link, expiresAt, accounts: accountsInWords(kind, proved) }
    const [first] = accounts
    const isVoid = first === undefined
    // As the account has the address, not as it was typed: first of all one that has proved it.
    const to = first?.email ?? Email
    // Of no store: the store's zone would take a statement that an address without an account does not.
    await writeMail(tx, services, { kind: 'reset', to, storeId: null, causedBy: address, locale, isVoid, data })
  })
}

/**
 * Makes a link for a new password, and ends earlier ones. One that the operator hands over to a person is for one identity: others of
 * the address may be somebody else's, because who opens it proves nothing of the address. A mailed one is for all (`identityId` null).
 */
export async function insertResetLink(
  tx: Transaction,
  services: Pick<ResetServices, 'secrets' | 'now'>,
  { kind, email, identityId }: { kind: AccountKind; email: string; identityId: number | null },
) {
  const { token, ...link } = newToken(services, RESET_MINUTES * 60_000)
  // Two requests at once would not see each other's link, and both would go on working.
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${locks.resetLinks}::int, hashtext(lower(${email}::text)))`
  await tx.$executeRaw`
    DELETE FROM "ResetLink" WHERE lower("email") = lower(${email}::text) AND "accountKind" = ${kind}
      AND "identityId" IS NOT DISTINCT FROM ${identityId}::int`
  await tx.resetLink.create({ data: { ...link, email, accountKind: kind, identityId } })
  return { link: `${areaPaths[kind]}/reset?token=${token}` as const, expiresAt: link.expiresAt }
}

/** An account that a new password would open. Accounts of one identity have one password. */
interface ResetAccount {
  readonly identityId: number
  readonly email: string
  /** Whether the identity has proved the address. */
  readonly isProved: boolean
  /** Null: a developer or an operator. */
  readonly storeId: number | null
  /** The developer, if it is one. */
  readonly developerId: number | null
  readonly storeName: string | null
}

/** What they sign in to, such as `the store Garden Shop`. */
function accountsInWords(kind: AccountKind, accounts: readonly ResetAccount[]): readonly Phrase[] {
  if (kind === 'merchant') {
    const names = new Set(accounts.map(({ storeName }) => storeName ?? ''))
    return names.size > 0 ? [...names].map((name) => t('the store {name}', { name })) : [t('the store administration')]
  }
  return [kind === 'developer' ? t('the developer pages') : t('the pages of the operator')]
}

/** `identityId`: of one identity alone; null: of all that have the address, those that have proved it first. */
async function accountsOf(db: Db | Transaction, kind: AccountKind, email: string, identityId: number | null = null) {
  const table = tableOf(kind)
  const columns = {
    merchant: sql`"storeId", NULL::int AS "developerId", "Store"."name" AS "storeName"`,
    developer: sql`NULL::int AS "storeId", "Developer"."id" AS "developerId", NULL AS "storeName"`,
    operator: sql`NULL::int AS "storeId", NULL::int AS "developerId", NULL AS "storeName"`,
  }[kind]
  const store = kind === 'merchant' ? sql`JOIN "Store" ON "Store"."id" = "storeId"` : empty
  return db.$queryRaw<ResetAccount[]>`
    SELECT "identityId", ${table}."email", "emailProvedAt" IS NOT NULL AS "isProved", ${columns}
    FROM ${table} JOIN "Identity" ON "Identity"."id" = "identityId" ${store}
    WHERE lower(${table}."email") = lower(${email}::text) AND "identityId" = coalesce(${identityId}::int, "identityId")
    ORDER BY "emailProvedAt" IS NULL, ${table}."id" LIMIT ${IDENTITIES_MAX}`
}

/** What a link is for: its address, and the stores that a new password opens, by identity. Throws for a link that does not work (404). */
export async function findReset({ db, secrets, now }: DataServices, kind: AccountKind, token: string) {
  const where = { tokenHash: { in: tokenHashes(secrets, token) }, accountKind: kind, expiresAt: { gt: now() } }
  const found = await db.resetLink.findFirst({ where, select: { email: true, identityId: true } })
  if (!found) throw linkUsed()
  const accounts = await accountsOf(db, kind, found.email, found.identityId)
  if (accounts.length === 0) throw linkUsed()
  const byIdentity = Map.groupBy(accounts, ({ identityId }) => identityId)
  const storesOf = (own: readonly ResetAccount[]) => own.flatMap(({ storeName }) => storeName ?? [])
  return { email: found.email, identities: Array.from(byIdentity, ([id, own]) => ({ id, stores: storesOf(own) })) }
}

/**
 * Sets the password of identities of a link's address, ends their sessions, and uses the link up; second factors stay and are asked for.
 * A mailed link proves the address of those without a passkey, whose holder may be somebody else than the mailbox's. `identityIds`:
 * which of several; empty: all. Of concurrent calls, one succeeds. Throws for a link that does not work (404), and a password that is
 * a name of an account (400).
 */
export async function resetPassword(
  services: ResetServices,
  kind: AccountKind,
  { token, password, identityIds }: { token: string; password: string; identityIds: readonly number[] },
  { address, userAgent = '', locale }: Client,
): Promise<void> {
  const { db, secrets, now } = services
  const { email, identities } = await findReset(services, kind, token)
  if (!identityIds.every((id) => identities.some((each) => each.id === id))) {
    throw fieldFault('Identity', 'must be one of the accounts of the link')
  }
  const passwordHash = await hashPassword(password, networkOf(address))
  await inTransaction(db, async (tx) => {
    const hashes = tokenHashes(secrets, token)
    const [used] = await tx.$queryRaw<{ identityId: number | null }[]>`
      DELETE FROM "ResetLink" WHERE "tokenHash" = ANY (${hashes}) AND "accountKind" = ${kind} AND "expiresAt" > ${now()}
      RETURNING "identityId"`
    if (!used) throw linkUsed()
    const accounts = await lockAccounts(tx, kind, { email, ...used }, identityIds)
    const ids = [...new Set(accounts.map(({ identityId }) => identityId))]
    const [first] = accounts
    if (!first) throw linkUsed()
    for (const { email, storeName } of accounts) {
      refuseNamesAsPassword(password, { email, storeName: storeName ?? undefined })
    }
    await tx.$executeRaw`
      UPDATE "Identity" SET "passwordHash" = ${passwordHash},
        "emailProvedAt" = coalesce("emailProvedAt",
          CASE WHEN ${used.identityId === null} AND "passkeySince" IS NULL THEN ${now()}::timestamptz END)
      WHERE "id" = ANY (${ids})`
    for (const id of ids) await endSessionsOfIdentity(tx, id)
    await forgetFailures(tx, secrets, { kind, email: await lowerCase(tx, email) })
    const by = { actor: { kind, name: email, address }, details: { byLink: true } }
    for (const { storeId, developerId } of accounts) {
      const change = { action: 'account.password-changed', target: email, storeId, developerId } as const
      await recordAudit(tx, now, { ...by, ...change })
    }
    const recipient = { to: email, identityId: first.identityId, storeId: first.storeId, causedBy: null, locale }
    const data = { at: now(), address, userAgent: browserName(userAgent) }
    await writeMail(tx, services, { kind: 'password-changed', ...recipient, data })
  })
}

/** Locks the identities of a link, and returns their accounts. */
async function lockAccounts(
  tx: Transaction,
  kind: AccountKind,
  { email, identityId }: { email: string; identityId: number | null },
  identityIds: readonly number[],
): Promise<ResetAccount[]> {
  const accounts = await accountsOf(tx, kind, email, identityId)
  const ids = identityIds.length === 0 ? accounts.map((account) => account.identityId) : identityIds
  // One whose address was changed meanwhile, or that was joined with another, is none of the link's any more.
  const locked = await tx.$queryRaw<{ id: number }[]>`
    SELECT "id" FROM "Identity" WHERE "id" = ANY (${ids})
      AND lower("email") = lower(${email}::text) ORDER BY "id" FOR NO KEY UPDATE`
  return accounts.filter((account) => locked.some(({ id }) => id === account.identityId))
}
