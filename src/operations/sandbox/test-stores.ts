import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { type Throttle, tooMany } from '../../access/applications/limits/throttle.ts'
import { type OwnId, ownedBy } from '../../access/applications/own/own-applications.ts'
import { type Subscribing, subscribe } from '../../access/applications/subscriptions/subscriptions.ts'
import { type Actor, recordAudit } from '../../access/audit/audit.ts'
import { type Client, type OpenedSession, openSession } from '../../access/people/sessions.ts'
import { type AccessServices, changeAccess } from '../../access/stores/access-changes.ts'
import { operatorCaller } from '../../access/stores/caller-store.ts'
import { type CreateStore, createUnownedStore } from '../../access/stores/create-store.ts'
import { storeMembers } from '../../access/stores/store-input.ts'
import { userKeyColumns } from '../../access/stores/stores.ts'
import {
  type DataServices,
  type Db,
  inTransaction,
  type SealingServices,
  type Transaction,
} from '../../foundation/database/client.ts'
import type { Prisma, TestChange } from '../../foundation/database/generated/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject } from '../../foundation/values/input.ts'
import { INT32_MAX } from '../../foundation/values/int32.ts'
import { type AllowedServices, requireTestStores } from './allowed.ts'
import { type ChangeKind, changeKindNames, simulateChange } from './trade.ts'

// A developer's own stores, to try things out in. For any other developer they do not exist: all functions throw (404).

/** The most that a developer has at a time. */
export const TEST_STORES_MAX = 3
/** Each store is filled, and emptied again, which takes seconds: a few in a burst, then one every ten minutes. */
const makingRateLimit = { capacity: 10, leakPerSecond: 1 / 600 }
/** What a developer makes happen at the press of a button. */
const changeRateLimit = { capacity: 60, leakPerSecond: 2 }
export const CHANGES_KEPT = 50
const ACTOR_LENGTH_MAX = 50
/** Reserved (RFC 2606): no shop has an address below it. */
const DOMAIN = 'store-platform.test'

/** A developer, who is the merchant of the own test stores. */
export interface Maker {
  readonly id: number
  readonly identityId: number
  readonly email: string
}

export type TestStoreServices = AccessServices &
  CreateStore &
  AllowedServices & {
    readonly db: Db
    readonly throttle: Throttle
    /** The work in the background. */
    readonly testStores: { wake(): void }
  }

/** The body of `POST /developers/test-stores`. */
export const newTestStore = namedObject({
  Name: storeMembers.Name,
  Currency: storeMembers.Currency,
  TimeZone: storeMembers.TimeZone,
})

const kinds = `must be one of ${changeKindNames.join(', ')}`

/** The body of `POST /developers/test-stores/{id}/changes`. */
export const newChange = namedObject({ Kind: z.enum(changeKindNames, kinds).describe('What is to happen, once.') })

const applicationId = 'must be the id of one of your applications'

/** The body of `POST /developers/test-stores/{id}/subscriptions`. */
export const newTestSubscription = namedObject({
  ApplicationId: z
    .int(applicationId)
    .min(1, applicationId)
    .max(INT32_MAX, applicationId)
    .describe('One of your own applications.'),
})

const withStore = { include: { store: true } } as const

type OwnRow = Prisma.TestStoreGetPayload<typeof withStore>

/** A test store, as its developer sees it. */
export type OwnTestStore = ReturnType<typeof ownStoreOf>

function ownStoreOf({ storeId: id, state, problem, createdAt, store }: OwnRow) {
  const { name, secureUrl, currency, timeZone } = store
  return {
    id,
    name,
    secureUrl,
    currency,
    timeZone,
    state: state as 'filling' | 'ready',
    /** Why its records could not be made; empty: they were, or are being made. */
    problem,
    createdAt,
  }
}

/** Those that are being deleted are gone for the developer. */
const present = { state: { not: 'ending' } }

/** Lists a developer's test stores, the oldest first. */
export async function listTestStores({ db }: DataServices, developerId: number): Promise<OwnTestStore[]> {
  const query = { where: { developerId, ...present }, orderBy: { storeId: 'asc' }, ...withStore } as const
  const rows = await db.testStore.findMany(query)
  return rows.map(ownStoreOf)
}

export async function findTestStore({ db }: DataServices, own: OwnId): Promise<OwnTestStore> {
  return ownStoreOf(await findOwn(db, own))
}

async function findOwn(db: Db | Transaction, { developerId, id }: OwnId): Promise<OwnRow> {
  const row = await db.testStore.findFirst({ where: { storeId: id, developerId, ...present }, ...withStore })
  if (!row) throw new StoreFailure('not-found', `You have no test store with the id ${id}`, { field: String(id) })
  return row
}

/** Throws `in-progress` for one whose records are being made. */
async function lockOwn(tx: Transaction, own: OwnId): Promise<OwnRow> {
  // Not to be waited for: the records are made in one transaction, which holds the row.
  await findOwn(tx, own)
  const locked = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM "TestStore" WHERE "storeId" = ${own.id} AND "state" = 'ready' FOR UPDATE SKIP LOCKED`
  const row = await findOwn(tx, own)
  if (locked.length > 0) return row
  const message = 'The test store is being worked on: try again in a moment'
  throw new StoreFailure('in-progress', message, { retryAfterSeconds: 5 })
}

async function countMaking({ throttle }: TestStoreServices, developerId: number): Promise<void> {
  const reading = await throttle.take(`test stores of ${developerId}`, makingRateLimit)
  if (!reading.accepted) throw tooMany(reading)
}

/**
 * Opens a test store with the developer as its owner, whose records are made in the background. Throws for the fourth (409), for too
 * many in a row (429), and where test stores are not allowed (403).
 */
export async function makeTestStore(
  services: TestStoreServices,
  maker: Maker,
  given: z.output<typeof newTestStore>,
  actor: Actor,
): Promise<OwnTestStore> {
  const { db, now, testStores } = services
  await requireTestStores(services)
  const made = await inTransaction(db, async (tx) => {
    // Serializes concurrent calls, so that each counts the stores that the others opened.
    await tx.$queryRaw`SELECT 1 FROM "Developer" WHERE "id" = ${maker.id} FOR NO KEY UPDATE`
    if ((await tx.testStore.count({ where: { developerId: maker.id, ...present } })) >= TEST_STORES_MAX) {
      const message = `You have ${TEST_STORES_MAX} test stores, which is the most; throw one away, or reset it`
      throw new StoreFailure('limit-reached', message)
    }
    await countMaking(services, maker.id)
    const SecureURL = `https://test-${randomBytes(6).toString('hex')}.${DOMAIN}`
    const id = await open(tx, services, maker.id, { ...given, SecureURL }, actor)
    await addOwner(tx, now, id, maker)
    const about = { target: given.Name, storeId: id, developerId: maker.id }
    await recordAudit(tx, now, { actor, action: 'test-store.created', ...about })
    return ownStoreOf(await findOwn(tx, { developerId: maker.id, id }))
  })
  testStores.wake()
  return made
}

async function open(
  tx: Transaction,
  services: TestStoreServices,
  developerId: number,
  given: Parameters<typeof createUnownedStore>[1],
  actor: Actor,
): Promise<number> {
  const { id } = await createUnownedStore({ ...services, db: tx }, given, actor)
  await tx.testStore.create({ data: { storeId: id, developerId, state: 'filling', createdAt: services.now() } })
  return id
}

async function addOwner(tx: Transaction, now: () => Date, storeId: number, { identityId, email }: Maker) {
  await tx.storeUser.create({ data: { storeId, identityId, email, role: 'owner', createdAt: now() } })
}

/**
 * Throws a test store away and opens another one in its place: with its name, address, currency, time zone and key for cartAPI, and
 * the applications that it had let in, whose tokens go on working. Throws as `makeTestStore`, and while its records are being made (409).
 */
export async function resetTestStore(services: TestStoreServices, maker: Maker, id: number, actor: Actor) {
  const { secrets, now, testStores } = services
  await requireTestStores(services)
  const own = { developerId: maker.id, id }
  const made = await changeAccess(services, async (tx) => {
    const { store } = await lockOwn(tx, own)
    await countMaking(services, maker.id)
    // No two stores have one host or key.
    await tx.storeHost.deleteMany({ where: { storeId: id } })
    await tx.store.update({ where: { id }, data: userKeyColumns(secrets) })
    const { name: Name, secureUrl: SecureURL, furtherUrls: SecureURLs } = store
    const { currency: Currency, timeZone: TimeZone, country: Country } = store
    const anew = await open(tx, services, maker.id, { Name, SecureURL, SecureURLs, Currency, TimeZone, Country }, actor)
    const { userKeyHash, userKeySealed } = store
    await tx.store.update({ where: { id: anew }, data: { userKeyHash, userKeySealed } })
    await moveOwner(tx, now, id, anew, maker)
    // They refer to the subscriptions by the store.
    await tx.webhook.deleteMany({ where: { storeId: id } })
    await tx.subscription.updateMany({ where: { storeId: id }, data: { storeId: anew } })
    await end(tx, services, id)
    const about = { target: Name, storeId: anew, developerId: maker.id }
    await recordAudit(tx, now, { actor, action: 'test-store.reset', ...about })
    return ownStoreOf(await findOwn(tx, { developerId: maker.id, id: anew }))
  })
  testStores.wake()
  return made
}

/** Lets the developer's sessions go on in the store that takes the place of another one. */
async function moveOwner(tx: Transaction, now: () => Date, from: number, to: number, maker: Maker): Promise<void> {
  const { count } = await tx.storeUser.updateMany({
    where: { storeId: from, identityId: maker.identityId },
    data: { storeId: to, role: 'owner', roleId: null },
  })
  if (count === 0) await addOwner(tx, now, to, maker)
}

/**
 * Throws a test store away: at once nobody gets in any more, and its rows are deleted in the background. Throws while its records are
 * being made (409).
 */
export async function throwAway(services: TestStoreServices, own: OwnId, actor: Actor): Promise<void> {
  const { now, testStores } = services
  await changeAccess(services, async (tx) => {
    const { store } = await lockOwn(tx, own)
    await end(tx, services, own.id)
    const about = { target: store.name, storeId: own.id, developerId: own.developerId }
    await recordAudit(tx, now, { actor, action: 'test-store.deleted', ...about })
  })
  testStores.wake()
}

/** Ends everything by which somebody gets into the store, and has its rows deleted. Call it in `changeAccess`. */
export async function end(tx: Transaction, { secrets, now }: SealingServices, storeId: number): Promise<void> {
  const where = { storeId }
  await tx.testStore.update({ where, data: { state: 'ending', endedAt: now() } })
  await tx.storeHost.deleteMany({ where })
  await tx.invitation.deleteMany({ where })
  await tx.storeUser.deleteMany({ where })
  await tx.session.deleteMany({ where })
  await tx.handshake.deleteMany({ where })
  await tx.removalNotice.deleteMany({ where })
  await tx.webhook.deleteMany({ where })
  await tx.subscription.deleteMany({ where })
  await tx.store.update({ where: { id: storeId }, data: { ...userKeyColumns(secrets), cartApiEnabled: false } })
}

/** Requires a test store in which something may happen. Throws while its records are being made (409). */
async function requireReady(services: TestStoreServices, own: OwnId): Promise<void> {
  const { state } = await findOwn(services.db, own)
  await requireTestStores(services)
  if (state === 'ready') return
  const message = 'The records of the test store are being made: try again in a moment'
  throw new StoreFailure('in-progress', message, { retryAfterSeconds: 5 })
}

/** What was made to happen. */
export type Shown = Pick<TestChange, 'id' | 'at' | 'kind' | 'words' | 'isDone' | 'page'>

const WORDS_LENGTH_MAX = 500

/** Makes something happen in a test store, and notes it beside the 49 before it. Throws what it was refused for. */
export async function change(services: TestStoreServices, maker: Maker, id: number, kind: ChangeKind): Promise<Shown> {
  const { db, now, throttle } = services
  await requireReady(services, { developerId: maker.id, id })
  const reading = await throttle.take(`test changes of ${maker.id}`, changeRateLimit)
  if (!reading.accepted) throw tooMany(reading)
  const actor = maker.email.slice(0, ACTOR_LENGTH_MAX).toWellFormed()
  const { words, page } = await simulateChange({ ...(await operatorCaller(services, id)), actor }, kind)
  const [noted] = await db.$queryRaw<Shown[]>`
    INSERT INTO "TestChange" ("storeId", "at", "kind", "words", "isDone", "page")
    SELECT "storeId", ${now()}, ${kind}, ${words.slice(0, WORDS_LENGTH_MAX).toWellFormed()}, true, ${page} FROM "TestStore"
    WHERE "storeId" = ${id} AND "state" = 'ready'
    RETURNING "id", "at", "kind", "words", "isDone", "page"`
  if (!noted) throw new StoreFailure('invalid-state', 'The test store was thrown away meanwhile')
  await db.$executeRaw`
    DELETE FROM "TestChange" WHERE ("storeId", "id") IN (
      SELECT "storeId", "id" FROM "TestChange" WHERE "storeId" = ${id} ORDER BY "id" DESC OFFSET ${CHANGES_KEPT})`
  return noted
}

/** Lists what was made to happen, the newest first, at most 50. */
export async function listChanges({ db }: DataServices, own: OwnId): Promise<Shown[]> {
  await findOwn(db, own)
  return db.testChange.findMany({ where: { storeId: own.id }, orderBy: { id: 'desc' }, take: CHANGES_KEPT })
}

/** Lists the applications of the developer that a test store has let in, and those that it has not. */
export async function listAdmitted({ db }: DataServices, own: OwnId) {
  await findOwn(db, own)
  const applications = await db.application.findMany({
    where: { developerId: own.developerId },
    select: { id: true, name: true, subscriptions: { where: { storeId: own.id }, select: { id: true } } },
    orderBy: { id: 'asc' },
  })
  const admitted = applications.flatMap(({ id, name, subscriptions: [subscription] }) =>
    subscription ? [{ subscriptionId: subscription.id, applicationId: id, name }] : [],
  )
  const others = applications.filter(({ subscriptions }) => subscriptions.length === 0)
  return { admitted, others: others.map(({ id, name }) => ({ id, name })) }
}

/**
 * Lets an application of the developer into a test store as its owner would: its CallBackURL is asked first. Throws for an application of
 * others (400), and as `subscribe` does.
 */
export async function admitApplication(
  services: TestStoreServices & Subscribing,
  own: OwnId,
  applicationId: number,
  actor: Actor,
) {
  await requireReady(services, own)
  const where = { id: applicationId, ...ownedBy(own) }
  const application = await services.db.application.findFirst({ where, select: { publicKey: true } })
  if (!application) {
    const message = `ApplicationId must be the id of one of your applications${own.isByToken ? ' for test stores' : ''}`
    throw new StoreFailure('unknown-reference', message, { field: 'ApplicationId' })
  }
  return subscribe(services, { storeId: own.id, publicKey: application.publicKey, actor, isOwn: true })
}

/** Opens a session in the administration of a test store, for its developer. */
export async function enterTestStore(
  { db, secrets, now }: TestStoreServices,
  maker: Maker,
  id: number,
  client: Client,
  actor: Actor,
): Promise<OpenedSession> {
  return inTransaction(db, async (tx) => {
    // No session may outlive a change of the password.
    await tx.$queryRaw`SELECT 1 FROM "Identity" WHERE "id" = ${maker.identityId} FOR NO KEY UPDATE`
    await findOwn(tx, { developerId: maker.id, id })
    const user = await tx.storeUser.findFirst({ where: { storeId: id, identityId: maker.identityId } })
    if (!user) throw new StoreFailure('invalid-state', 'You were taken off the people of this store: reset it')
    const about = { target: maker.email, storeId: id, developerId: maker.id }
    await recordAudit(tx, now, { actor, action: 'account.signed-in', ...about })
    return openSession(tx, { secrets, now }, { kind: 'merchant', id: user.id }, client)
  })
}
