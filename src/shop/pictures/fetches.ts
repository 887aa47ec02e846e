import { operatorCaller } from '../../access/stores/caller-store.ts'
import { changeRecord } from '../../engine/changing/change.ts'
import { type FieldSet, text, type ValueField, webAddress } from '../../engine/definition/fields.ts'
import type { Patch } from '../../engine/definition/input.ts'
import type { Change, Resource } from '../../engine/definition/resource.ts'
import { getRecord } from '../../engine/reading/read.ts'
import type { Db, Transaction } from '../../foundation/database/client.ts'
import type { PictureFetch, Prisma } from '../../foundation/database/generated/client.ts'
import { claimFree, leases } from '../../foundation/database/leases.ts'
import { isOpenStore } from '../../foundation/database/open-stores.ts'
import { sql } from '../../foundation/database/sql.ts'
import type { Outbound } from '../../foundation/outbound/outbound.ts'
import { nextTry, TRIES_MAX } from '../../foundation/outbound/retry-schedule.ts'
import { PICTURE_BYTES_MAX, PICTURE_TYPES } from '../../foundation/pictures/bounds.ts'
import type { Config } from '../../foundation/process/settings.ts'
import { createWorker } from '../../foundation/process/worker.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { type PictureServices, storePath, storePicture } from './pictures.ts'

const FETCHES_A_DAY_MAX = 5_000
const GIGABYTES_A_DAY_MAX = 2
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
export const KEPT_DAYS = 30
/** At a time, in a process. */
const BATCH_MAX = 5
const limits = { connectMs: 5_000, totalMs: 20_000, answerBytesMax: PICTURE_BYTES_MAX }
const headers = { accept: PICTURE_TYPES.join(', '), 'user-agent': 'store-platform' }

/** The member that has a picture fetched for the image member `image`, behind which it stands. */
export function fetchFrom(image: string, maxLength = 2_000): ValueField {
  const description = `The http or https address of a picture that the platform fetches and stores. Send it instead of ${image}, which says this address until the picture is stored, and then that of the stored picture.`
  return webAddress(text(maxLength, { access: 'sent', fills: image, description }))
}

/** Queues what the change has fetched, in its transaction. Refuses (`limit-reached`) more than 5,000 a day, which requests at the same time may exceed. */
export async function queueFetches({ caller: { db, store, now }, resource, id, patch }: Change): Promise<void> {
  const addresses = addressesIn(patch)
  if (addresses.length === 0) return
  const { _count: count } = await fetchesOfToday(db, store.id, now)
  if (count + addresses.length > FETCHES_A_DAY_MAX) {
    const message = `FetchFrom may be used for ${FETCHES_A_DAY_MAX} pictures a day; try again tomorrow`
    throw new StoreFailure('limit-reached', message, { field: 'FetchFrom' })
  }
  const row = { storeId: store.id, service: resource.service, recordId: id, nextAt: now() }
  await db.pictureFetch.createMany({ data: addresses.map((address, at) => ({ ...row, address, place: count + at })) })
}

function addressesIn({ writeOnly: { FetchFrom = '' }, lists }: Patch): string[] {
  const inside = Object.values(lists).flatMap((items) => items.flatMap(addressesIn))
  return FetchFrom === '' ? inside : [String(FetchFrom), ...inside]
}

function fetchesOfToday(db: Db | Transaction, storeId: number, now: () => Date) {
  const where = { storeId, OR: [{ endedAt: null }, { endedAt: { gt: new Date(now().getTime() - DAY_MS) } }] }
  return db.pictureFetch.aggregate({ where, _count: true, _sum: { bytes: true } })
}

export interface FetchServices extends PictureServices {
  readonly outbound: Pick<Outbound, 'send' | 'addressFault'>
  readonly config: Pick<Config, 'publicUrl'>
  readonly log: { warn(details: object, message: string): void }
  readonly resourceNamed: (service: string) => Resource
}

/** Fetches the pictures that are queued. Those of a store take turns with others. Any number of processes may run this on one database. */
export function createPictureFetches(services: FetchServices) {
  const { db, now, log } = services
  // The place is the number of fetches of the store before it, so that nobody waits behind another store's thousands.
  const wanted = {
    key: ['storeId', 'id'],
    where: sql`"endedAt" IS NULL AND ${isOpenStore(sql`"PictureFetch"."storeId"`)}`,
    order: 'place',
    limit: BATCH_MAX,
  }
  return createWorker<PictureFetch>({
    log,
    complaint: 'pictures to be fetched could not be looked for',
    everyMs: 5_000,
    claim: () => claimFree(db, leases.pictureFetch, now, wanted),
    work: (fetch) => run(services, fetch),
    failed: ({ storeId, id }) => [{ storeId, fetchId: id }, 'a picture could not be fetched'],
  })
}

/** Writes nothing for an attempt past its lease, because the next one has begun. */
async function run(services: FetchServices, fetch: PictureFetch): Promise<void> {
  const { db, now } = services
  const { storeId, id, attempts } = fetch
  const note = async (data: Prisma.PictureFetchUpdateManyMutationInput) => {
    const where = { storeId, id, attempts, endedAt: null }
    await db.pictureFetch.updateMany({ where, data: { process: null, ...data } })
  }
  if (attempts > TRIES_MAX) return note({ reason: 'The last attempt was interrupted', endedAt: now() })
  const { _sum: sum } = await fetchesOfToday(db, storeId, now)
  if ((sum.bytes ?? 0) >= GIGABYTES_A_DAY_MAX * 1024 ** 3) {
    const full = { reason: `Pictures of ${GIGABYTES_A_DAY_MAX} GB were fetched today; this one waits` }
    return note({ ...full, nextAt: new Date(now().getTime() + HOUR_MS), attempts: attempts - 1 })
  }
  const tried = await fetchPicture(services, fetch, (path) => enter(services, fetch, path))
  const { reason, isFinal = reason === '', bytes = 0 } = tried
  const nextAt = isFinal ? null : nextTry(attempts, now())
  await note({ reason, bytes: { increment: bytes }, ...(nextAt ? { nextAt } : { endedAt: now() }) })
}

interface Attempt {
  /** Why it failed; empty: it did not. */
  readonly reason: string
  /** Whether another one would fail too. */
  readonly isFinal?: boolean
  readonly bytes?: number
}

type Fetching = PictureServices & Pick<FetchServices, 'outbound'>

/** Has a picture fetched for a text of a former shop, which pages show from then on, unless there is one. Returns why it could not be; empty: it is stored. */
export async function fetchForPath(
  services: Fetching,
  storeId: number,
  { path, address }: { path: string; address: string },
) {
  const { db } = services
  if (await db.picturePath.findUnique({ where: { storeId_path: { storeId, path } } })) return ''
  const note = (stored: string) => storePath(db, storeId, { path, stored })
  return (await fetchPicture(services, { storeId, address }, note)).reason
}

/** Fetches and stores a picture, and has `enter` do something with its path. */
async function fetchPicture(
  services: Fetching,
  { storeId, address: url }: Pick<PictureFetch, 'storeId' | 'address'>,
  enter: (path: string) => Promise<void>,
): Promise<Attempt> {
  const fault = services.outbound.addressFault(url)
  if (fault !== null) return { reason: `The address ${fault}`, isFinal: true }
  const answer = await services.outbound.send({ url, method: 'GET', headers, ...limits })
  if (!answer.ok) return { reason: answer.reason }
  const { status, isCut, bytes: picture } = answer
  const bytes = picture.length
  if (status !== 200) {
    return { reason: `The answer has the status ${status}`, isFinal: status < 500 && status !== 429, bytes }
  }
  if (isCut) return { reason: `is larger than ${PICTURE_BYTES_MAX / 1024 ** 2} MB`, isFinal: true, bytes }
  try {
    await enter(await storePicture(services, storeId, picture, ''))
    return { reason: '', bytes }
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    return { reason: error.message.trim(), isFinal: error.status < 500, bytes }
  }
}

/** Enters the address of the stored picture where images of the record still say that of the fetch; once more if it was changed meanwhile. */
async function enter(services: FetchServices, fetch: PictureFetch, path: string): Promise<void> {
  const { storeId, service, recordId, address } = fetch
  const caller = await operatorCaller(services, storeId)
  const resource = services.resourceNamed(service)
  const names = imageMembers(resource.fields)
  const text = await getRecord(caller, resource, recordId)
  const entered = (name: string, value: unknown) =>
    names.includes(name) && value === address ? `${services.config.publicUrl}${path}` : value
  const members = Object.entries(JSON.parse(text, entered))
  const record = JSON.parse(text)
  const changed = members.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(record[name]))
  if (changed.length === 0) return
  const precondition = (now: string) => {
    if (now !== text) throw new StoreFailure('precondition-failed', 'The record was changed meanwhile')
  }
  const change = { kind: 'update', id: recordId, body: Object.fromEntries(changed) } as const
  await changeRecord(caller, resource, change, { precondition }).catch((error) => {
    if (!(error instanceof StoreFailure) || error.code !== 'precondition-failed') throw error
    return enter(services, fetch, path)
  })
}

/** The names of the members that say images, of a record and of what lies in it. */
export function imageMembers({ entries }: FieldSet): string[] {
  return entries.flatMap(([name, field]) =>
    'fields' in field ? imageMembers(field.fields) : field.isImage ? [name] : [],
  )
}
