import { randomUUID } from 'node:crypto'
import { afterTransaction, type DataServices, type Transaction } from '../database/client.ts'
import { announce, mailsChannel } from '../engine/recording/announce.ts'
import type { Config } from '../process/settings.ts'
import { isLocale, type Locale, languageOf } from '../texts/language.ts'
import { networkOf } from '../values/address-blocks.ts'
import { StoreFailure } from '../values/failure.ts'
import { secondsUntilAllowed } from './limits.ts'
import { render, requireHeaderText, type Wording } from './render.ts'

export type MailConfig = Pick<Config, 'smtpUrl' | 'mailFrom' | 'sandbox' | 'publicUrl'>
export type MailServices = Pick<DataServices, 'secrets' | 'now'> & { readonly config: MailConfig }

export type NewMail = Wording & {
  /** One e-mail address, as `emailInput` takes it. */
  readonly to: string
  /** The store whose mail it is: its zone shows the dates, and its outbox the mail. Null: of no single store, and in UTC. */
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
 * What becomes of mails: `sent` by SMTP, `shown` in the sandbox's outbox, or `none`, where pages hand over links
 * themselves.
 */
export function mailsAre({ smtpUrl, sandbox }: Pick<Config, 'smtpUrl' | 'sandbox'>): 'sent' | 'shown' | 'none' {
  if (smtpUrl !== null) return 'sent'
  return sandbox ? 'shown' : 'none'
}

/**
 * Writes a mail in the transaction of its cause, of `inTransaction`; it is sent after the commit, at least once, always under one
 * Message-ID. Returns whether it is written: where mails are `none`, nothing is. Throws `bad-request` for a control
 * character in a header. Beyond a limit (5 an hour to an address, and 5 that nobody causes, 20 of a network, 200 of a store), throws `throttled` if a
 * person causes the mail, and returns false otherwise.
 */
export async function writeMail(tx: Transaction, services: MailServices, mail: NewMail): Promise<boolean> {
  const { config, secrets, now } = services
  const { kind, storeId, causedBy, isVoid = false } = mail
  const recipient = requireHeaderText(mail.to, 'To')
  const fate = mailsAre(config)
  if (fate === 'none') return false
  const store = storeId === null ? null : await tx.store.findUnique({ where: { id: storeId }, select: storeColumns })
  const language = languageOf((await chosenLocale(tx, recipient)) ?? mail.locale ?? 'en-US')
  const { subject, ...content } = render(mail, {
    language,
    timeZone: store?.timeZone ?? 'UTC',
    publicUrl: config.publicUrl,
  })
  const contentSealed = secrets.seal(JSON.stringify(content))
  const network = causedBy === null ? null : networkOf(causedBy)
  const createdAt = now()
  const hashes = network === null ? [] : secrets.lookups(network)
  const counted = { recipient, storeId, network: network === null ? null : { name: network, hashes } }
  const waitSeconds = await secondsUntilAllowed(tx, counted, createdAt)
  if (waitSeconds > 0 && network === null) return false
  if (waitSeconds > 0) throw tooManyMails(waitSeconds)
  await tx.mail.create({
    data: {
      kind,
      recipient,
      storeId,
      networkHash: hashes[0] ?? null,
      subject,
      messageId: `<${randomUUID()}@${domainOf(config)}>`,
      contentSealed: isVoid ? null : contentSealed,
      state: isVoid ? 'void' : fate === 'shown' || isOfTest(store, recipient) ? 'shown' : 'waiting',
      nextAttemptAt: createdAt,
      createdAt,
    },
  })
  afterTransaction(tx, async (db) => announce(db, mailsChannel))
  return true
}

/** What somebody with the address has chosen at *Language and region*. Null: nobody has. */
async function chosenLocale(tx: Transaction, email: string): Promise<Locale | null> {
  const [row] = await tx.$queryRaw<{ locale: string }[]>`
    SELECT "locale" FROM "Identity" WHERE lower("email") = lower(${email}::text) AND "locale" IS NOT NULL ORDER BY "id" LIMIT 1`
  return row !== undefined && isLocale(row.locale) ? row.locale : null
}

const storeColumns = {
  timeZone: true,
  testStore: { select: { developer: { select: { email: true } } } },
} as const

interface OfStore {
  readonly testStore: { readonly developer: { readonly email: string } | null } | null
}

/** Whether the mail is of a developer's test store, and to somebody else: nobody is to be bothered by what is tried out there. */
function isOfTest(store: OfStore | null, recipient: string): boolean {
  const test = store?.testStore ?? null
  return test !== null && test.developer?.email.toLowerCase() !== recipient.toLowerCase()
}

function tooManyMails(retryAfterSeconds: number): StoreFailure {
  const message = `Too many mails were sent; come back in ${retryAfterSeconds} s`
  return new StoreFailure('throttled', message, { retryAfterSeconds })
}

function domainOf({ mailFrom, publicUrl }: MailConfig): string {
  return mailFrom?.address.split('@').at(-1) ?? new URL(publicUrl).hostname
}
