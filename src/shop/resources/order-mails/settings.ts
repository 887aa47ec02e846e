import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { type Actor, recordAudit } from '../../../access/audit/audit.ts'
import { type MailConfig, mailsAre } from '../../../access/mail/write.ts'
import { type AccessServices, changeAccess } from '../../../access/stores/access-changes.ts'
import type { Transaction } from '../../../foundation/database/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { lines, readInput, text } from '../../../foundation/values/input.ts'
import { isOneOf, type Secrets } from '../../../foundation/values/secrets.ts'
import { type IsForeign, readForeign } from './addresses.ts'
import { type CausedKind, causedKinds, type MailKind, placeholders } from './kinds.ts'
import { defaultText, type MailText, PLACEHOLDER, textTags } from './texts.ts'

export const SUBJECT_LENGTH_MAX = 150
export const BODY_LENGTH_MAX = 5_000

type Services = AccessServices & { readonly config: MailConfig }

/** The texts of a store, with the end of the names of their fields in a form. */
export const storeTexts = causedKinds.flatMap((kind) =>
  textTags.map((locale) => ({ kind, locale, end: `.${kind}.${locale}` })),
)

/** What people write by themselves. */
export const messageTexts = [{ kind: 'order-message', end: '' }] as const

function shapeOf(texts: readonly { readonly end: string }[]) {
  const fieldsOf = ({ end }: { readonly end: string }) => ({
    [`Subject${end}`]: text(SUBJECT_LENGTH_MAX),
    [`Body${end}`]: lines(BODY_LENGTH_MAX),
  })
  const shape: Record<string, z.ZodType<string>> = Object.assign({}, ...texts.map(fieldsOf))
  return z.object(shape)
}

const [storeShape, messageShape] = [shapeOf(storeTexts), shapeOf(messageTexts)]

/**
 * Reads the fields of texts, of which `Subject` is one line and `Body` several. Throws a 400 that names what is wrong with each: also
 * placeholders that mean nothing, and links to other hosts.
 */
export async function readWritten(
  { db, config }: Pick<Services, 'db' | 'config'>,
  storeId: number,
  texts: typeof storeTexts | typeof messageTexts,
  form: Readonly<Record<string, unknown>>,
): Promise<MailText[]> {
  const isForeign = await readForeign(db, storeId, config.publicUrl)
  const read = readInput(texts === storeTexts ? storeShape : messageShape, form)
  const faults = texts.flatMap(({ kind, end }) =>
    [`Subject${end}`, `Body${end}`].flatMap((field) => {
      const problem = problemIn(read[field] ?? '', kind, isForeign)
      return problem === undefined ? [] : [{ field, problem }]
    }),
  )
  const [first] = faults
  if (first !== undefined) {
    const message = faults.map(({ field, problem }) => `${field} ${problem}`).join('; ')
    throw new StoreFailure('invalid-value', message, { field: first.field, faults, status: 400 })
  }
  return texts.map(({ end }) => ({ subject: read[`Subject${end}`] ?? '', body: read[`Body${end}`] ?? '' }))
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
  const written = await readWritten(services, storeId, storeTexts, form)
  const data = storeTexts.flatMap(({ kind, locale }, at) => {
    const [own, usual] = [written[at] as MailText, defaultText(kind, locale)]
    return isDeepStrictEqual(own, usual) ? [] : { storeId, kind, locale, ...own }
  })
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
