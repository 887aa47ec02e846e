import type { z } from 'zod'
import { type Actor, recordAudit } from '../../../access/audit/audit.ts'
import { type MailConfig, mailsAre } from '../../../access/mail/write.ts'
import { type AccessServices, changeAccess } from '../../../access/stores/access-changes.ts'
import type { Db, Transaction } from '../../../foundation/database/client.ts'
import { type Fault, StoreFailure } from '../../../foundation/values/failure.ts'
import { lines, text } from '../../../foundation/values/input.ts'
import { isOneOf, type Secrets } from '../../../foundation/values/secrets.ts'
import { type IsForeign, readForeign } from './addresses.ts'
import { type CausedKind, type MailKind, placeholders } from './kinds.ts'
import { defaultText, type MailText, PLACEHOLDER } from './texts.ts'

export const SUBJECT_LENGTH_MAX = 150
export const BODY_LENGTH_MAX = 5_000
const members = { subject: ['Subject', text(SUBJECT_LENGTH_MAX)], body: ['Body', lines(BODY_LENGTH_MAX)] } as const

type Services = AccessServices & { readonly config: MailConfig }

/** A text that a person has written. `end`: of the names of its fields in the form. */
export interface Written extends MailText {
  readonly kind: MailKind
  readonly end: string
}

/** Throws a 400 that names what is wrong with each text: placeholders that mean nothing, and links to other hosts. */
async function read<Text extends Written>(
  db: Db,
  config: MailConfig,
  storeId: number,
  texts: readonly Text[],
): Promise<Text[]> {
  const isForeign = await readForeign(db, storeId, config.publicUrl)
  const faults: Fault[] = []
  const memberOf = (written: Text, name: 'subject' | 'body') => {
    const [field, schema] = members[name]
    const parsed: z.ZodSafeParseResult<string> = schema.safeParse(written[name])
    const given = parsed.data ?? ''
    const problem = parsed.error?.issues[0]?.message ?? problemIn(given, written.kind, isForeign)
    if (problem !== undefined) faults.push({ field: field + written.end, problem })
    return given
  }
  const checked = texts.map((each) => ({ ...each, subject: memberOf(each, 'subject'), body: memberOf(each, 'body') }))
  if (faults.length === 0) return checked
  const message = faults.map(({ field, problem }) => `${field} ${problem}`).join('; ')
  throw new StoreFailure('invalid-value', message, { field: faults[0]?.field ?? '', faults, status: 400 })
}

function problemIn(given: string, kind: MailKind, isForeign: IsForeign): string | undefined {
  const known: readonly string[] = placeholders[kind]
  const unknown = [...given.matchAll(PLACEHOLDER)].find(([, name = '']) => !known.includes(name))?.[0]
  if (unknown)
    return `has ${unknown}, which means nothing here; allowed are ${known.map((name) => `{${name}}`).join(', ')}`
  // A value could become a part of an address.
  const foreign = given.replaceAll(PLACEHOLDER, 'xx').match(/\S+/g)?.find(isForeign)
  return (
    foreign && `has the address ${foreign}; only those of the store, of this server and of its carriers are allowed`
  )
}

/** Checks what a person writes to a customer. Throws a 400 that names what is wrong with it. */
export async function readMessage(db: Db, config: MailConfig, storeId: number, written: MailText): Promise<MailText> {
  const [message] = await read(db, config, storeId, [{ ...written, kind: 'order-message', end: '' }])
  return message as MailText
}

/** Sets which mails customers get, and their texts. Throws a 400 that names what is wrong, also where no mail can be sent. */
export async function saveMails(
  services: Services,
  storeId: number,
  orderMails: CausedKind[],
  written: readonly (Written & { readonly kind: CausedKind; readonly locale: string })[],
  actor: Actor,
): Promise<void> {
  const { db, config } = services
  if (orderMails.length > 0 && mailsAre(config) === 'none') {
    throw new StoreFailure('invalid-value', 'This server cannot send mail', { field: 'On', status: 400 })
  }
  const texts = await read(db, config, storeId, written)
  const isOwn = ({ kind, locale, subject, body }: (typeof texts)[number]) => {
    const usual = defaultText(kind, locale)
    return subject !== usual.subject || body !== usual.body
  }
  const data = texts.filter(isOwn).map(({ kind, locale, subject, body }) => ({ storeId, kind, locale, subject, body }))
  await changeStore(services, storeId, { orderMails }, actor, async (tx) => {
    await tx.mailText.deleteMany({ where: { storeId } })
    await tx.mailText.createMany({ data })
    return { mailTexts: data.map(({ kind, locale }) => `${kind} ${locale}`) }
  })
}

/** Sets a column of the store; the audit log has it, and what `work` returns. */
async function changeStore(
  services: Services,
  storeId: number,
  data: { readonly orderMails: string[] } | { readonly mailReplyTo: string },
  actor: Actor,
  work: (tx: Transaction) => Promise<object> = async () => ({}),
): Promise<void> {
  const where = { id: storeId }
  await changeAccess(services, async (tx) => {
    await tx.$executeRaw`SELECT FROM "Store" WHERE "id" = ${storeId}::int FOR NO KEY UPDATE`
    const before: Record<string, unknown> = await tx.store.findUniqueOrThrow({ where })
    const { name } = await tx.store.update({ where, data })
    const changed = Object.entries(data).map(([key, to]) => [key, { from: before[key] || null, to: to || null }])
    const details = { ...Object.fromEntries(changed), ...(await work(tx)) }
    await recordAudit(tx, services.now, { actor, target: name, storeId, action: 'store.changed', details })
  })
}

/** A link that proves an address of the store: it is derived and never stored, so that no copy of the database can confirm one. */
export interface Proof {
  readonly address: string
  /** In milliseconds since 1970. */
  readonly until: string
  readonly code: string
}

function codesOf(
  { derivations }: Pick<Secrets, 'derivations'>,
  storeId: number,
  { address, until }: Omit<Proof, 'code'>,
) {
  return derivations(`answers of ${storeId} until ${until} to ${address}`).map((key) =>
    key.toString('base64url', 0, 16),
  )
}

export function proofOf(
  { secrets, now }: Pick<Services, 'now'> & { secrets: Pick<Secrets, 'derivations'> },
  storeId: number,
  address: string,
): Proof {
  const until = String(now().getTime() + 86_400_000)
  return { address, until, code: codesOf(secrets, storeId, { address, until })[0] ?? '' }
}

/** Lets customers answer to the address of a link. Empty: to MAIL_FROM. Throws a 400 for a link that is wrong or has ended. */
export async function saveReplyTo(
  services: Services & { secrets: Pick<Secrets, 'derivations'> },
  storeId: number,
  proof: Proof,
  actor: Actor,
) {
  const { address: mailReplyTo, until, code } = proof
  const isProved = Number(until) > services.now().getTime() && isOneOf(code, codesOf(services.secrets, storeId, proof))
  if (mailReplyTo !== '' && !isProved)
    throw new StoreFailure('invalid-value', 'The link has ended or is not whole; have another one sent', {
      status: 400,
    })
  await changeStore(services, storeId, { mailReplyTo }, actor)
}
