import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { type DataServices, inTransaction } from '../../foundation/database/client.ts'
import type { PersonToken as TokenRow } from '../../foundation/database/generated/client.ts'
import { passOverReadOnly } from '../../foundation/database/outage.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject, text } from '../../foundation/values/input.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { lockIdentity } from './proof.ts'
import { ownerOf, type Person, persons, type Session, type SessionKind } from './sessions.ts'

// Tokens for people's own programs. Each is of one account: of a developer, or of somebody in one store.

/** How each begins, so that programs which look for leaked secrets know it. 43 characters of base64url follow. */
export const TOKEN_PREFIX = 'spt_'
const TOKEN = /^spt_[\w-]{43}$/
const TOKEN_BYTES = 32
const BEGINNING_LENGTH = 8
export const TOKENS_MAX = 20
const DAYS_MAX = 365
const DAY_MS = 24 * 60 * 60_000
/** The minimum interval between updates of `lastUsedAt`. */
const USED_EVERY_MS = 60_000

const days = `must be a whole number from 1 to ${DAYS_MAX}`

/** The body of `POST /account/tokens` and `POST /developers/account/tokens`. */
export const newPersonToken = namedObject({
  Name: text(100).describe('What the token is for, such as the name of the program.'),
  Days: z.int(days).min(1, days).max(DAYS_MAX, days).describe('The number of days after which it ends.'),
})

export type PersonToken = Omit<TokenRow, 'digest'>

function accountOf({ kind, id }: Person) {
  if (kind !== 'developer' && kind !== 'merchant') throw new Error(`A ${kind} has no tokens`)
  return kind === 'developer' ? { developerId: id } : { storeUserId: id }
}

/** Without a secret key, because nobody guesses 256 random bits; so a change of SECRET_KEY ends no token. */
function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Lists the tokens of an account that have not ended, the oldest first. */
export async function listPersonTokens({ db, now }: DataServices, person: Person): Promise<PersonToken[]> {
  const where = { ...accountOf(person), expiresAt: { gt: now() } }
  return db.personToken.findMany({ where, orderBy: { id: 'asc' }, omit: { digest: true } })
}

/** Makes a token of the session's account; only its digest is stored. Throws for the 21st (409), and where the session has ended (401). */
export async function makePersonToken(
  { db, now }: DataServices,
  session: Session,
  { Name: name, Days }: z.output<typeof newPersonToken>,
  actor: Actor,
): Promise<PersonToken & { readonly token: string }> {
  const { person } = session
  const token = TOKEN_PREFIX + randomBytes(TOKEN_BYTES).toString('base64url')
  return inTransaction(db, async (tx) => {
    // Also takes turns, so that each counts those of the others, and none outlives a change of the password.
    await lockIdentity(tx, session)
    const account = accountOf(person)
    const createdAt = now()
    if ((await tx.personToken.count({ where: { ...account, expiresAt: { gt: createdAt } } })) >= TOKENS_MAX) {
      throw new StoreFailure('limit-reached', `You have ${TOKENS_MAX} tokens, which is the most; end one first`)
    }
    const expiresAt = new Date(createdAt.getTime() + Days * DAY_MS)
    const stored = { digest: digestOf(token), beginning: token.slice(0, BEGINNING_LENGTH) }
    const data = { ...account, ...stored, name, createdAt, expiresAt }
    const made = await tx.personToken.create({ data, omit: { digest: true } })
    const about = { target: name, ...ownerOf(person), details: { endsAt: expiresAt.toISOString() } }
    await recordAudit(tx, now, { actor, action: 'account.token-made', ...about })
    return { ...made, token }
  })
}

/** Ends a token of the person's account at once. Throws for any other (404). */
export async function endPersonToken({ db, now }: DataServices, person: Person, id: number, actor: Actor) {
  await inTransaction(db, async (tx) => {
    const where = { id, ...accountOf(person) }
    const token = await tx.personToken.findFirst({ where })
    const { count } = await tx.personToken.deleteMany({ where })
    if (!token || count === 0) {
      throw new StoreFailure('not-found', `You have no token with the id ${id}`, { field: String(id) })
    }
    await recordAudit(tx, now, { actor, action: 'account.token-ended', target: token.name, ...ownerOf(person) })
  })
}

/** Returns whose token it is, as the account is now. Null: no token of that kind, or it has ended. */
export async function findPersonByToken({ db, now }: DataServices, kind: SessionKind, token: string) {
  if (!TOKEN.test(token)) return null
  const at = now()
  const { person, from } = persons[kind](at)
  // As a session with no other accounts.
  const [found] = await db.$queryRaw<{ id: number; lastUsedAt: Date | null; person: Person }[]>`
    SELECT "Session"."id", "Session"."lastUsedAt", ${person} AS "person"
    FROM (SELECT "id", "developerId", "storeUserId", "lastUsedAt", '{}'::int[] AS "otherUserIds" FROM "PersonToken"
      WHERE "digest" = ${digestOf(token)} AND "expiresAt" > ${at}) AS "Session" ${from}`
  if (!found) return null
  const usedUntil = new Date(at.getTime() - USED_EVERY_MS)
  if (found.lastUsedAt === null || found.lastUsedAt <= usedUntil) {
    // Of concurrent requests, one writes.
    const where = { id: found.id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: usedUntil } }] }
    await db.personToken.updateMany({ where, data: { lastUsedAt: at } }).catch(passOverReadOnly)
  }
  return found.person
}
