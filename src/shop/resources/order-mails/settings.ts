import { z } from 'zod'
import type { Actor } from '../../../access/audit/audit.ts'
import { type MailConfig, mailsAre } from '../../../access/mail/write.ts'
import { type AccessServices, changeAccess } from '../../../access/stores/access-changes.ts'
import { changeStore } from '../../../access/stores/change-store.ts'
import type { Transaction } from '../../../foundation/database/client.ts'
import { type Fault, StoreFailure } from '../../../foundation/values/failure.ts'
import { lines, readInput, text } from '../../../foundation/values/input.ts'
import { isOneOf, type Secrets } from '../../../foundation/values/secrets.ts'
import { type IsForeign, readForeign } from './addresses.ts'
import { type CausedKind, type MailKind, placeholders } from './kinds.ts'
import { type MailText, PLACEHOLDER, usualTexts } from './texts.ts'

export const lengthMax = { subject: 150, body: 5_000 } as const

type Services = AccessServices & { readonly config: MailConfig }

const Text = z.object({ Subject: text(lengthMax.subject), Body: lines(lengthMax.body) })
const Texts = z.array(Text).length(usualTexts.length)

/** Refuses placeholders that mean nothing, and links to other hosts. `nameOf` names the field of a text by its place. */
async function refuseProblems(
  { db, config }: Pick<Services, 'db' | 'config'>,
  storeId: number,
  texts: readonly (z.infer<typeof Text> & { readonly kind: MailKind })[],
  nameOf: (at: number, member: string) => string,
): Promise<void> {
  const isForeign = await readForeign(db, storeId, config.publicUrl)
  const faults = texts.flatMap(({ kind, Subject, Body }, at) =>
    Object.entries({ Subject, Body }).flatMap(([member, given]): Fault[] => {
      const problem = problemIn(given, kind, isForeign)
      return problem ? [{ field: nameOf(at, member), problem }] : []
    }),
  )
  const [first] = faults
  const message = faults.map(({ field, problem }) => `${field} ${problem}`).join('; ')
  if (first) throw new StoreFailure('invalid-value', message, { field: first.field, faults, status: 400 })
}

/** Reads what a person writes to a customer. Throws a 400 that names what is wrong. */
export async function readMessage(
  services: Pick<Services, 'db' | 'config'>,
  storeId: number,
  form: Readonly<Record<string, unknown>>,
): Promise<MailText> {
  const { Subject, Body } = readInput(Text, form)
  await refuseProblems(services, storeId, [{ kind: 'order-message', Subject, Body }], (_, member) => member)
  return { subject: Subject, body: Body }
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

/**
 * Sets which mails customers get, and their texts, as many as the usual ones and in their order. Throws a 400 that names what is wrong, also
 * where no mail can be sent.
 */
export async function saveMails(
  services: Services,
  storeId: number,
  orderMails: CausedKind[],
  texts: readonly object[],
  actor: Actor,
): Promise<void> {
  if (orderMails.length > 0 && mailsAre(services.config) === 'none') {
    throw new StoreFailure('invalid-value', 'This server cannot send mail', { field: 'On', status: 400 })
  }
  const read = readInput(Texts, texts).map((each, at) => ({
    ...each,
    ...(usualTexts[at] as (typeof usualTexts)[number]),
  }))
  await refuseProblems(services, storeId, read, (at, member) => `${at}.${member}`)
  const own = read.flatMap(({ kind, locale, Subject, Body, subject, body }) =>
    Subject === subject && Body === body ? [] : { kind, locale, subject: Subject, body: Body },
  )
  const work = async (tx: Transaction) => {
    await tx.mailText.deleteMany({ where: { storeId } })
    await tx.mailText.createMany({ data: own.map((row) => ({ storeId, ...row })) })
    return { mailTexts: own.map(({ kind, locale }) => `${kind} ${locale}`) }
  }
  const changed = { actor, data: { orderMails }, work }
  await changeAccess(services, (tx) => changeStore(tx, { ...services, store: { id: storeId } }, changed))
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
  const changed = { actor, data: { mailReplyTo } }
  await changeAccess(services, (tx) => changeStore(tx, { ...services, store: { id: storeId } }, changed))
}
