import { z } from 'zod'
import { type Actor, recordAudit } from '../../../access/audit/audit.ts'
import { type MailConfig, mailsAre } from '../../../access/mail/write.ts'
import { type AccessServices, changeAccess } from '../../../access/stores/access-changes.ts'
import type { Transaction } from '../../../foundation/database/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { lines, readInput, text } from '../../../foundation/values/input.ts'
import { isOneOf, type Secrets } from '../../../foundation/values/secrets.ts'
import { type IsForeign, readForeign } from './addresses.ts'
import { type CausedKind, type MailKind, placeholders } from './kinds.ts'
import { type MailText, PLACEHOLDER, usualTexts } from './texts.ts'

export const lengthMax = { subject: 150, body: 5_000 } as const

type Services = AccessServices & { readonly config: MailConfig }

/** The names of the fields of a text in a form; `locale` omitted: what people write by themselves. */
export function fieldsOf({ kind, locale }: { readonly kind: MailKind; readonly locale?: string }) {
  const end = locale === undefined ? '' : `.${kind}.${locale}`
  return { subject: `Subject${end}`, body: `Body${end}` }
}

/**
 * Reads these texts of a form, of which the subject is one line and the body several. Throws a 400 that names what is wrong with each: also
 * placeholders that mean nothing, and links to other hosts.
 */
export async function readWritten<Written extends Parameters<typeof fieldsOf>[0]>(
  { db, config }: Pick<Services, 'db' | 'config'>,
  storeId: number,
  texts: readonly Written[],
  form: Readonly<Record<string, unknown>>,
): Promise<(Written & MailText)[]> {
  const isForeign = await readForeign(db, storeId, config.publicUrl)
  const shapes = texts.map((written): Record<string, z.ZodType<string>> => {
    const check = (given: string, context: z.core.$RefinementCtx<string>) => {
      const problem = problemIn(given, written.kind, isForeign)
      if (problem) context.addIssue(problem)
    }
    const { subject, body } = fieldsOf(written)
    return {
      [subject]: text(lengthMax.subject).superRefine(check),
      [body]: lines(lengthMax.body).superRefine(check),
    }
  })
  const read = readInput(z.object(Object.assign({}, ...shapes) as (typeof shapes)[number]), form)
  return texts.map((written) => {
    const { subject, body } = fieldsOf(written)
    return { ...written, subject: read[subject] ?? '', body: read[body] ?? '' }
  })
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

/** Sets which mails customers get, and their texts. Throws a 400 that names what is wrong, also where no mail can be sent. */
export async function saveMails(
  services: Services,
  storeId: number,
  orderMails: CausedKind[],
  form: Readonly<Record<string, unknown>>,
  actor: Actor,
): Promise<void> {
  if (orderMails.length > 0 && mailsAre(services.config) === 'none') {
    throw new StoreFailure('invalid-value', 'This server cannot send mail', { field: 'On', status: 400 })
  }
  const written = await readWritten(services, storeId, usualTexts, form)
  const own = written.filter(
    ({ subject, body }, at) => subject !== usualTexts[at]?.subject || body !== usualTexts[at].body,
  )
  await changeStore(services, storeId, { orderMails }, actor, async (tx) => {
    await tx.mailText.deleteMany({ where: { storeId } })
    await tx.mailText.createMany({ data: own.map((row) => ({ storeId, ...row })) })
    return { mailTexts: own.map(({ kind, locale }) => `${kind} ${locale}`) }
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

/** Of the link that proves an address of a store: derived and never stored, so that no copy of the database can confirm one. */
function codesOf(secrets: Pick<Secrets, 'derivations'>, storeId: number, address: string, until: string): string[] {
  const derived = secrets.derivations(`answers of ${storeId} until ${until} to ${address}`)
  return derived.map((bytes) => `${until}.${bytes.toString('base64url', 0, 16)}`)
}

/** What proves an address until a time. */
export function proofOf({ secrets }: Pick<Services, 'secrets'>, storeId: number, address: string, until: Date): string {
  return codesOf(secrets, storeId, address, String(until.getTime()))[0] ?? ''
}

/** Lets customers answer to an address that a link has proved. Empty: to MAIL_FROM. Throws a 400 for a link that is wrong or has ended. */
export async function saveReplyTo(
  services: Services,
  storeId: number,
  { address: mailReplyTo, proof }: { readonly address: string; readonly proof: string },
  actor: Actor,
): Promise<void> {
  const [until = ''] = proof.split('.')
  const isOurs = isOneOf(proof, codesOf(services.secrets, storeId, mailReplyTo, until))
  if (mailReplyTo !== '' && !(isOurs && Number(until) > services.now().getTime())) {
    const message = 'The link has ended or is not whole; have another one sent'
    throw new StoreFailure('invalid-value', message, { status: 400 })
  }
  await changeStore(services, storeId, { mailReplyTo }, actor)
}
