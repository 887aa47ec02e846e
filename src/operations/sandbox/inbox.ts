import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { OwnId } from '../../access/applications/own/own-applications.ts'
import { type Actor, recordAudit } from '../../access/audit/audit.ts'
import {
  type DataServices,
  type Db,
  inTransaction,
  type JoiningServices,
  type PageBefore,
} from '../../foundation/database/client.ts'
import type { Inbox, InboxMessage } from '../../foundation/database/generated/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject, text } from '../../foundation/values/input.ts'
import { type AllowedServices, areTestStoresAllowed, requireTestStores } from './allowed.ts'
import { checkSignature, type Signature } from './signature.ts'

// Addresses that receive what webhooks and callbacks bring, for their developer to look at. Whoever knows one can send to it; nobody
// else can read it, because for any other developer an inbox does not exist: all functions throw (404).

/** The most that a developer has. */
export const INBOXES_MAX = 5
export const MESSAGES_KEPT = 100
export const MESSAGES_HOURS = 24
/** The largest body. */
export const BODY_BYTES_MAX = 65_536
/** Headers beyond this are left out. */
const HEADERS_BYTES_MAX = 16_384
/** 192 bits, which nobody guesses. */
const NAME_BYTES = 24
const NAME = /^[\w-]{32}$/

/** What senders are answered, by name. */
export const answers = {
  ok: 'at once, with 200',
  error: 'at once, with 500',
  slow: 'after 12 seconds, with 200',
  none: 'not at all: the connection is cut after 20 seconds',
} as const
export type AnswerKind = keyof typeof answers
export const answerKinds = Object.keys(answers) as [AnswerKind, ...AnswerKind[]]

const answer = `must be one of ${answerKinds.join(', ')}`
const POST_BACK_LENGTH_MAX = 2_000
const postBack = `must be an http or https address of at most ${POST_BACK_LENGTH_MAX} characters, or empty`
const postBackInput = z
  .string(postBack)
  .trim()
  .max(POST_BACK_LENGTH_MAX, postBack)
  .refine((url) => url === '' || (/^https?:\/\/[\x21-\x7e]+$/i.test(url) && URL.canParse(url)), postBack)

/** The body of `POST /developers/inboxes`. */
export const newInbox = namedObject({
  Name: text(100).describe('What you want to call the inbox. It need not be unique.'),
})

/** The body of `PUT /developers/inboxes/{id}`. Omitted members stay unchanged. */
export const changedInbox = namedObject({
  Name: text(100).optional().describe('Another name for the inbox. Its address stays.'),
  Answer: z.enum(answerKinds, answer).optional().describe('What senders are answered from the next message on.'),
  PostBackURL: postBackInput
    .optional()
    .describe('The address that callbacks are answered with, where they are answered 200. Empty: none from now on.'),
})

type InboxServices = DataServices & AllowedServices & { readonly db: Db }

/** Makes an inbox. Throws for the sixth (409), and where developers may not try things out (403). */
export async function makeInbox(
  services: InboxServices,
  developerId: number,
  { Name: title }: z.output<typeof newInbox>,
  actor: Actor,
): Promise<Inbox> {
  const { db, now } = services
  await requireTestStores(services)
  return inTransaction(db, async (tx) => {
    // Serializes concurrent calls, so that each counts the inboxes that the others made.
    await tx.$queryRaw`SELECT 1 FROM "Developer" WHERE "id" = ${developerId} FOR NO KEY UPDATE`
    if ((await tx.inbox.count({ where: { developerId } })) >= INBOXES_MAX) {
      throw new StoreFailure('limit-reached', `You have ${INBOXES_MAX} inboxes, which is the most; delete one`)
    }
    await recordAudit(tx, now, { actor, action: 'inbox.created', target: title, developerId })
    const name = randomBytes(NAME_BYTES).toString('base64url')
    return tx.inbox.create({ data: { developerId, name, title, createdAt: now() } })
  })
}

/** Lists a developer's inboxes, the oldest first. */
export function listInboxes({ db }: DataServices, developerId: number): Promise<Inbox[]> {
  return db.inbox.findMany({ where: { developerId }, orderBy: { id: 'asc' } })
}

export async function findInbox({ db }: Pick<JoiningServices, 'db'>, { developerId, id }: OwnId): Promise<Inbox> {
  const inbox = await db.inbox.findFirst({ where: { id, developerId } })
  if (!inbox) throw noInbox(String(id))
  return inbox
}

export async function findInboxNamed({ db }: DataServices, developerId: number, name: string): Promise<Inbox> {
  const inbox = NAME.test(name) ? await db.inbox.findFirst({ where: { name, developerId } }) : null
  if (!inbox) throw noInbox('')
  return inbox
}

function noInbox(field: string): StoreFailure {
  return new StoreFailure('not-found', 'You have no such inbox', { field })
}

export async function changeInbox(
  services: DataServices,
  own: OwnId,
  { Name, Answer, PostBackURL }: z.output<typeof changedInbox>,
): Promise<Inbox> {
  const { developerId, id } = own
  const data = {
    ...(Name !== undefined && { title: Name }),
    ...(Answer !== undefined && { answer: Answer }),
    ...(PostBackURL !== undefined && { postBackUrl: PostBackURL }),
  }
  await services.db.inbox.updateMany({ where: { id, developerId }, data })
  return findInbox(services, own)
}

/** Deletes an inbox with its messages. From then on nobody can send to its address. */
export async function deleteInbox({ db, now }: DataServices, own: OwnId, actor: Actor): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { title: target } = await findInbox({ db: tx }, own)
    await tx.inbox.deleteMany({ where: { id: own.id } })
    await recordAudit(tx, now, { actor, action: 'inbox.deleted', target, developerId: own.developerId })
  })
}

/** Deletes the messages of an inbox, and returns it. */
export async function emptyInbox(services: DataServices, own: OwnId): Promise<Inbox> {
  const inbox = await findInbox(services, own)
  await services.db.inboxMessage.deleteMany({ where: { inboxId: inbox.id } })
  return inbox
}

/** What a sender sent. */
export interface Sent {
  readonly method: string
  /** Without the question mark; empty: none. */
  readonly query: string
  /** As Node has them: names and values in turn. */
  readonly rawHeaders: readonly string[]
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Buffer
}

/** What is sealed of a message. */
interface Content {
  readonly query: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
  /** Whether `body` is base64, because it is no UTF-8. */
  readonly isBase64: boolean
}

/** The inbox that a sender's address names; null: there is none, or nobody may try things out any more. */
export async function inboxToSendTo(services: InboxServices, name: string): Promise<Inbox | null> {
  const inbox = NAME.test(name) ? await services.db.inbox.findUnique({ where: { name } }) : null
  return inbox && (await areTestStoresAllowed(services)) ? inbox : null
}

/** Keeps what was sent to an inbox, beside the 99 before it. `status`: what it is answered; 0: nothing. */
export async function keepMessage(services: InboxServices, inbox: Inbox, sent: Sent, status: number): Promise<void> {
  const { db, secrets, now } = services
  const { id: inboxId } = inbox
  const { method, query, rawHeaders, headers, body } = sent
  const { signature, signer } = await checkSignature(services, inbox, { headers, body })
  const isBase64 = !isUtf8(body)
  const encoded = body.toString(isBase64 ? 'base64' : 'utf8')
  const content: Content = { query, headers: pairsIn(rawHeaders), body: encoded, isBase64 }
  const sealed = secrets.seal(JSON.stringify(content))
  // An inbox that was deleted meanwhile keeps nothing.
  await db.$executeRaw`
    INSERT INTO "InboxMessage" ("inboxId", "at", "method", "sealed", "bytes", "signature", "signer", "status")
    SELECT "id", ${now()}, ${method}, ${sealed}, ${body.length}, ${signature}, ${signer}, ${status} FROM "Inbox" WHERE "id" = ${inboxId}
      FOR KEY SHARE`
  await db.$executeRaw`
    DELETE FROM "InboxMessage" WHERE "id" IN (
      SELECT "id" FROM "InboxMessage" WHERE "inboxId" = ${inboxId} ORDER BY "id" DESC OFFSET ${MESSAGES_KEPT})`
}

function pairsIn(rawHeaders: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  let bytes = 0
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]]
    bytes += name.length + value.length
    if (bytes <= HEADERS_BYTES_MAX) pairs.push([name.toLowerCase(), value])
  }
  return pairs
}

/** A message, as the developer sees it. */
export type ShownMessage = ReturnType<typeof messageOf>

function messageOf(row: InboxMessage, { secrets }: Pick<DataServices, 'secrets'>) {
  const { sealed, signature, id, ...shown } = row
  const content = JSON.parse(secrets.open(sealed)) as Content
  return { ...shown, ...content, id: Number(id), signature: signature as Signature }
}

function lastDay({ now }: Pick<DataServices, 'now'>) {
  return { gt: new Date(now().getTime() - MESSAGES_HOURS * 3_600_000) }
}

/** Lists the messages of the last day in an inbox, the newest first, from before the one with the id `before`. */
export async function listMessages(services: DataServices, inbox: Inbox, { limit, before }: PageBefore) {
  const rows = await services.db.inboxMessage.findMany({
    where: { inboxId: inbox.id, at: lastDay(services), ...(before !== undefined && { id: { lt: before } }) },
    orderBy: { id: 'desc' },
    take: limit,
  })
  return rows.map((row) => messageOf(row, services))
}

export async function findMessage(services: DataServices, inbox: Inbox, id: number): Promise<ShownMessage> {
  const row = await services.db.inboxMessage.findFirst({ where: { id, inboxId: inbox.id, at: lastDay(services) } })
  if (!row) throw new StoreFailure('not-found', 'There is no such message any more', { field: String(id) })
  return messageOf(row, services)
}
