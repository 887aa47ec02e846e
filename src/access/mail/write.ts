import { randomUUID } from 'node:crypto'
import { announce, mailsChannel } from '../../engine/recording/events.ts'
import { afterTransaction, type SealingServices, type Transaction } from '../../foundation/database/client.ts'
import { sql } from '../../foundation/database/sql.ts'
import type { Config } from '../../foundation/process/settings.ts'
import { isLocale, type Locale, languageOf } from '../../foundation/texts/language.ts'
import { networkOf } from '../../foundation/values/address-blocks.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { kinds } from './kinds.ts'
import { secondsUntilAllowed } from './limits.ts'
import { type Content, render, requireHeaderText, type Wording } from './render.ts'

export type MailConfig = Pick<Config, 'smtpUrl' | 'mailFrom' | 'sandbox' | 'publicUrl'>
export type MailServices = SealingServices & { readonly config: MailConfig }

/** A mail whose text is there already: one to try a text out. */
export interface ReadyMail {
  readonly kind: 'order-test'
  readonly ready: Content & { readonly subject: string }
}

export type NewMail = (Wording | ReadyMail) & {
  /** One e-mail address, as `emailInput` takes it. */
  readonly to: string
  /** The identity that a mail of a `person` is about. Absent or null: a mail of another kind. */
  readonly identityId?: number | null
  /** The store whose mail it is: its zone shows the dates. Null: of no single store, and in UTC. */
  readonly storeId: number | null
  /** The IP address of the person who causes the mail; null: work in the background does. */
  readonly causedBy: string | null
  /** How it is written unless the recipient has chosen it: as for who causes it. Absent: in English. */
  readonly locale?: Locale | undefined
  /**
   * The address has no account, so that nothing is sent. The same work is done and the mail counts all the same, so that nobody
   * can tell it from an address with one.
   */
  readonly isVoid?: boolean
}

/**
 * What becomes of mails: `sent` by SMTP, `shown` on pages of the sandbox alone, or `none`, where pages hand over links
 * themselves.
 */
export function mailsAre({ smtpUrl, sandbox }: Pick<Config, 'smtpUrl' | 'sandbox'>): 'sent' | 'shown' | 'none' {
  if (smtpUrl !== null) return 'sent'
  return sandbox ? 'shown' : 'none'
}

/**
 * Writes a mail in the transaction of its cause, of `inTransaction`; it is sent after the commit, at least once, always under one
 * Message-ID. Returns whether it is written: where mails are `none`, nothing is. Throws a 400 for a control
 * character in a header. Beyond a limit (5 an hour to an address, and 5 that nobody causes, 20 of a network, 200 of a store, and 200 links for its
 * customers), throws `rate-limited` if a person causes the mail, and returns false otherwise.
 */
export async function writeMail(tx: Transaction, services: MailServices, mail: NewMail): Promise<boolean> {
  const { config, secrets, now } = services
  const { kind, identityId = null, storeId, causedBy, isVoid = false } = mail
  const recipient = requireHeaderText(mail.to, 'To')
  const fate = mailsAre(config)
  if (fate === 'none') return false
  const store = storeId === null ? null : await tx.store.findUnique({ where: { id: storeId }, select: storeColumns })
  const addressee = await addresseeOf(tx, recipient, identityId)
  const isOwn = 'ready' in mail || kinds[mail.kind][0] === 'person'
  const ownerId = isOwn && addressee?.hasProved ? identityId : null
  const test = store?.testStore ?? null
  // Nobody but its developer is to be bothered by what is tried out in a test store.
  const isShown = fate === 'shown' || (test !== null && test.developer?.identityId !== ownerId)
  const chosen = addressee?.locale ?? ''
  const language = languageOf(isLocale(chosen) ? chosen : (mail.locale ?? 'en-US'))
  const { publicUrl, mailFrom } = config
  const setting = { language, timeZone: store?.timeZone ?? 'UTC', publicUrl }
  const { subject, ...content } = 'ready' in mail ? mail.ready : render(mail, setting)
  const contentSealed = secrets.seal(JSON.stringify(content))
  const network = causedBy === null ? null : networkOf(causedBy)
  const createdAt = now()
  const hashes = network === null ? [] : secrets.lookups(network)
  const retryAfterSeconds = await secondsUntilAllowed(tx, { kind, recipient, storeId, network, hashes }, createdAt)
  if (retryAfterSeconds > 0 && network === null) return false
  if (retryAfterSeconds > 0) {
    const message = `Too many mails were sent; come back in ${retryAfterSeconds} s`
    throw new StoreFailure('rate-limited', message, { retryAfterSeconds })
  }
  const domain = mailFrom?.address.split('@').at(-1) ?? new URL(publicUrl).hostname
  await tx.mail.create({
    data: {
      kind,
      recipient,
      identityId: ownerId,
      storeId,
      networkHash: hashes[0] ?? null,
      subject,
      messageId: `<${randomUUID()}@${domain}>`,
      contentSealed: isVoid ? null : contentSealed,
      state: isVoid ? 'void' : isShown ? 'shown' : 'waiting',
      nextAttemptAt: createdAt,
      createdAt,
    },
  })
  afterTransaction(tx, async (db) => announce(db, mailsChannel))
  return true
}

/**
 * The identity that a mail is about, else one that has proved the address: anybody may call an account by an address. With what it has
 * chosen at *Language and region*.
 */
async function addresseeOf(tx: Transaction, email: string, identityId: number | null) {
  const hasProved = sql`lower("email") = lower(${email}::text) AND "emailProvedAt" IS NOT NULL`
  const [found] = await tx.$queryRaw<{ hasProved: boolean; locale: string | null }[]>`
    SELECT "locale", ${hasProved} AS "hasProved" FROM "Identity"
    WHERE ${identityId === null ? hasProved : sql`"id" = ${identityId}::int`} ORDER BY "locale" IS NULL, "id" LIMIT 1`
  return found
}

const storeColumns = { timeZone: true, testStore: { select: { developer: { select: { identityId: true } } } } } as const
