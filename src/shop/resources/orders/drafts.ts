import type { Caller } from '../../../engine/caller.ts'
import { inTransaction, queryRows, type Transaction } from '../../../foundation/database/client.ts'
import { sql } from '../../../foundation/database/sql.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'

// New orders that somebody of a store has begun and not placed yet.

/** Of a person in a store. */
export const DRAFTS_MAX = 20
/** Of the fields of a draft as JSON, in UTF-8. */
export const DRAFT_BYTES_MAX = 64 * 1024
/** After it was kept last. */
export const DRAFT_DAYS = 30
const TITLE_LENGTH_MAX = 100
const DAY_MS = 86_400_000

/** Somebody of the caller's store. */
export interface DraftOwner extends Pick<Caller, 'db' | 'store' | 'now'> {
  readonly identityId: number
}

/** Where a draft stands, as the page knows it that shows the draft. */
export interface DraftPlace {
  /** 0: the page has kept nothing yet. */
  readonly id: number
  /** How often the draft had been kept when the page was made. */
  readonly version: number
  /** The random name of the page; it stays the same while the page is sent and shown again. */
  readonly page: string
}

interface DraftContent {
  /** For whom the order is, in words. */
  readonly title: string
  readonly lines: number
  readonly fields: Readonly<Record<string, string | string[]>>
}

export interface Draft extends Omit<DraftContent, 'fields'> {
  readonly id: number
  readonly version: number
  readonly keptAt: Date
}

export type Kept =
  /** `as`: `own` is another draft than before, because another page had kept that one meanwhile; `again`, because that one was gone. */
  | { readonly draft: Pick<Draft, 'id' | 'version' | 'keptAt'>; readonly as: 'same' | 'own' | 'again' }
  | { readonly refusal: 'too-large' | 'too-many' | 'not-of-store' }

/** The newest first. Those that were kept last 30 days ago count as gone. */
export function listDrafts({ db, store, now, identityId }: DraftOwner): Promise<Draft[]> {
  const where = { storeId: store.id, identityId, keptAt: { gt: oldest(now) } }
  const select = { id: true, version: true, title: true, lines: true, keptAt: true } as const
  return db.orderDraft.findMany({ where, select, orderBy: [{ keptAt: 'desc' }, { id: 'desc' }], take: DRAFTS_MAX })
}

/** Returns a draft of the person with its fields. Throws `not-found`. */
export async function readDraft({ db, store, now, identityId }: DraftOwner, id: number): Promise<Draft & DraftContent> {
  const where = { storeId: store.id, id, identityId, keptAt: { gt: oldest(now) } }
  const found = await db.orderDraft.findFirst({ where, omit: { storeId: true, identityId: true, page: true } })
  if (found === null) throw noSuchDraft()
  return { ...found, fields: JSON.parse(found.fields) }
}

function noSuchDraft(): StoreFailure {
  return new StoreFailure('not-found', 'There is no such draft: its order was placed, or it was thrown away')
}

/**
 * Keeps a draft: that of the page, or a new one. What another page has kept since stays as it is, and this page gets a draft of its
 * own. Refuses fields of more than 64 kB, and a draft more than a person may have.
 */
export async function keepDraft(
  { db, store, now, identityId }: DraftOwner,
  { id, version, page }: DraftPlace,
  { title, lines, fields }: DraftContent,
): Promise<Kept> {
  const text = JSON.stringify(fields)
  if (Buffer.byteLength(text) > DRAFT_BYTES_MAX) return { refusal: 'too-large' }
  const shown = title.replaceAll('\0', '').slice(0, TITLE_LENGTH_MAX).toWellFormed()
  const content = sql`"page" = ${page}, "title" = ${shown}, "lines" = ${lines}::int, "fields" = ${text}, "keptAt" = ${now()}`
  return inTransaction(db, async (tx): Promise<Kept> => {
    // One draft of a person at a time, so that their number is known. It also waits for an end of the membership.
    const [user] = await queryRows<{ one: number }>(tx)`
      SELECT 1 AS "one" FROM "StoreUser" WHERE "storeId" = ${store.id}::int AND "identityId" = ${identityId}::int
      FOR NO KEY UPDATE`
    if (user === undefined) return { refusal: 'not-of-store' }
    const [same] = await queryRows<Pick<Draft, 'id' | 'version' | 'keptAt'>>(tx)`
      UPDATE "OrderDraft" SET ${content}, "version" = "version" + 1
      WHERE "storeId" = ${store.id}::int AND "id" = (
        SELECT "id" FROM "OrderDraft" WHERE "storeId" = ${store.id}::int AND "identityId" = ${identityId}::int
          AND ("page" = ${page} OR ("id" = ${id}::int AND "version" = ${version}::int))
        ORDER BY "page" = ${page} DESC LIMIT 1)
      RETURNING "id", "version", "keptAt"`
    if (same !== undefined) return { draft: same, as: 'same' }
    const [{ count } = { count: 0 }] = await queryRows<{ count: number }>(tx)`
      SELECT count(*)::int AS "count" FROM "OrderDraft"
      WHERE "storeId" = ${store.id}::int AND "identityId" = ${identityId}::int AND "keptAt" > ${oldest(now)}`
    if (count >= DRAFTS_MAX) return { refusal: 'too-many' }
    const [own] = await queryRows<Pick<Draft, 'id' | 'version' | 'keptAt'>>(tx)`
      INSERT INTO "OrderDraft" ("storeId", "identityId", "page", "version", "title", "lines", "fields", "keptAt")
      VALUES (${store.id}::int, ${identityId}::int, ${page}, 1, ${shown}, ${lines}::int, ${text}, ${now()})
      RETURNING "id", "version", "keptAt"`
    if (own === undefined) throw new Error('A draft was not kept')
    if (id === 0) return { draft: own, as: 'same' }
    const former = await tx.orderDraft.findFirst({ where: { storeId: store.id, id, identityId }, select: { id: true } })
    return { draft: own, as: former === null ? 'again' : 'own' }
  })
}

/** Throws a draft of the person away. Throws `not-found`. */
export async function deleteDraft({ db, store, identityId }: DraftOwner, id: number): Promise<void> {
  const { count } = await db.orderDraft.deleteMany({ where: { storeId: store.id, id, identityId } })
  if (count === 0) throw noSuchDraft()
}

/**
 * Throws the draft of an order away in the transaction that places the order. What another page has kept since stays. Throws
 * a 409 where there is no such draft: it may have been placed a moment ago.
 */
export async function endDraft(
  { db, store, identityId }: Pick<DraftOwner, 'store' | 'identityId'> & { readonly db: DraftOwner['db'] | Transaction },
  { id, version, page }: DraftPlace,
): Promise<void> {
  if (id === 0) return
  const mine = { storeId: store.id, id, identityId }
  const { count } = await db.orderDraft.deleteMany({ where: { ...mine, OR: [{ page }, { version }] } })
  if (count > 0 || (await db.orderDraft.findFirst({ where: mine, select: { id: true } })) !== null) return
  const message =
    'The draft of this order was placed or thrown away meanwhile. If you want to place this order too, press the button again'
  throw new StoreFailure('invalid-state', message)
}

function oldest(now: () => Date): Date {
  return new Date(now().getTime() - DRAFT_DAYS * DAY_MS)
}
