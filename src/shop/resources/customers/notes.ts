import type { Caller } from '../../../engine/caller.ts'
import type { Remember } from '../../../engine/changing/idempotency.ts'
import { inStoreTransaction, type Transaction } from '../../../foundation/database/client.ts'
import type { CustomerNote as Row } from '../../../foundation/database/generated/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'

// What the shop's people write down about a customer, for themselves alone: programs and files do not have it.

/** It was `writtenBy` the person with this e-mail address. */
type CustomerNote = Pick<Row, 'id' | 'text' | 'writtenBy' | 'writtenAt'>

export const NOTE_LENGTH_MAX = 2_000
const NOTES_MAX = 200

/** The notes about a customer, the newest first. */
export function listNotes({ db, store }: Pick<Caller, 'db' | 'store'>, customerId: number): Promise<CustomerNote[]> {
  const where = { storeId: store.id, customerId }
  const select = { id: true, text: true, writtenBy: true, writtenAt: true } as const
  return db.customerNote.findMany({ where, select, orderBy: { id: 'desc' }, take: NOTES_MAX })
}

/**
 * Adds a note about a customer and returns its id. Throws for a text that is empty or has more than 2,000 characters (400), for an
 * unknown customer (404), and where there are 200 notes already (409).
 */
export async function addNote(
  caller: Pick<Caller, 'db' | 'store' | 'now'>,
  customerId: number,
  note: Pick<CustomerNote, 'text' | 'writtenBy'>,
  remember?: Remember<number>,
): Promise<number> {
  const { store, now } = caller
  const text = readNote(note.text)
  return inStoreTransaction(caller, async (tx) => {
    await lockCustomer(tx, store.id, customerId)
    const count = await tx.customerNote.count({ where: { storeId: store.id, customerId } })
    if (count >= NOTES_MAX) {
      const message = `A customer has ${NOTES_MAX} notes at most. Delete one that is no longer needed`
      throw new StoreFailure('limit-reached', message)
    }
    const data = { storeId: store.id, customerId, text, writtenBy: note.writtenBy, writtenAt: now() }
    const { id } = await tx.customerNote.create({ data, select: { id: true } })
    await remember?.({ db: tx, now }, id)
    return id
  })
}

/** Deletes a note about a customer. Throws where there is no such note (404). */
export async function deleteNote({ db, store }: Pick<Caller, 'db' | 'store'>, customerId: number, id: number) {
  const { count } = await db.customerNote.deleteMany({ where: { storeId: store.id, customerId, id } })
  if (count === 0) throw new StoreFailure('not-found', `No note has the id ${id}`, { field: 'id' })
}

function readNote(given: string): string {
  const text = given.replaceAll('\r\n', '\n').trim()
  const isReadable = text.isWellFormed() && !text.includes('\0')
  if (isReadable && text !== '' && text.length <= NOTE_LENGTH_MAX) return text
  const problem = isReadable ? `must have 1 to ${NOTE_LENGTH_MAX} characters` : 'has a character that text cannot have'
  throw new StoreFailure('invalid-value', `Note ${problem}`, { field: 'Note', faults: [{ field: 'Note', problem }] })
}

/** Two forms at once must not add more notes together than each may. */
async function lockCustomer(tx: Transaction, storeId: number, id: number): Promise<void> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT FROM "Customer" WHERE "storeId" = ${storeId} AND "id" = ${id} FOR NO KEY UPDATE`
  if (found.length === 0) throw new StoreFailure('not-found', `No customer has the id ${id}`, { field: 'id' })
}
