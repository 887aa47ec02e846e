import { StoreFailure } from '../../foundation/values/failure.ts'
import { IMPORTED_MAX, INT32_MAX } from '../../foundation/values/int32.ts'
import { valueIn } from '../../foundation/values/json.ts'
import { runInSlices, type Steps } from '../../foundation/values/slices.ts'
import { columnPath, type FieldSet, type ListField, type Scalar } from '../definition/fields.ts'
import { isRecord, memberOf, type Patch, patchSteps } from '../definition/input.ts'
import { refused } from '../definition/refused.ts'
import type { Resource } from '../definition/resource.ts'
import type { LedgerPiece } from '../recording/ledger.ts'
import { readExtras } from './extras.ts'

/** A line of a transfer file, read and checked. */
export interface TransferRecord {
  readonly resource: Resource
  readonly id: number
  readonly patch: Patch
  /** The ledger rows of the line; null: none, and the stored rows stay. */
  readonly ledger: LedgerPiece | null
  /** Of its list items, at all depths: all, those that need a new id, and the highest given id. */
  readonly keys: { items: number; keyless: number; highest: number }
}

/** Services by lower-case name, including aliases. */
export type Services = ReadonlyMap<string, Resource>

export function servicesOf(resources: readonly Resource[]): Services {
  return new Map(resources.flatMap((resource) => resource.names.map((name) => [name.toLowerCase(), resource] as const)))
}

/** Reads a line in slices. Throws a 400 that names the field. */
export function readTransferRecord(services: Services, content: unknown, timeZone: string): Promise<TransferRecord> {
  return runInSlices(recordSteps(services, content, timeZone))
}

function* recordSteps(services: Services, content: unknown, timeZone: string): Steps<TransferRecord> {
  if (content instanceof StoreFailure) throw content
  if (!isRecord(content)) throw refused('', 'The line must be an object with service and record')
  const resource = resourceOf(services, content.service)
  const { record, private: hidden = {} } = content
  if (!isRecord(record)) throw refused('record', 'record must be an object with fields')
  if (!isRecord(hidden)) throw refused('private', 'private must be an object with fields')
  const patch = yield* patchSteps(resource.storedFields, { ...record, ...hidden }, { mode: 'import', timeZone })
  const { resultKey } = resource
  const { key: id } = patch
  if (typeof id !== 'number' || id < 1 || id > IMPORTED_MAX) {
    throw refused(resultKey, `${resultKey} must be a whole number from 1 to ${IMPORTED_MAX}`)
  }
  const ledger = yield* readLedger(resource, content.continues, hidden, timeZone)
  if (ledger === null || ledger.after === 0) refuseMissing(resource.storedFields, patch)
  // Exports never contain write-only values.
  const [name] = Object.entries(patch.writeOnly).find(([, value]) => value !== '') ?? []
  if (name !== undefined) throw refused(name, `${name} cannot be imported: leave it out`)
  readExtras(resource, hidden, record, patch, timeZone)
  const keys = { items: 0, keyless: 0, highest: 0 }
  checkKeys(resource.storedFields, patch, '', keys)
  return { resource, id, patch, ledger, keys }
}

/** Reads a line that deletes a record. Throws a 400 for a service whose records are never deleted too. */
export function readDeletion(services: Services, content: unknown): { resource: Resource; id: number } {
  const { service, deletedId: id } = content as Record<string, unknown>
  const resource = resourceOf(services, service)
  const { typeName } = resource
  if (!resource.methods.includes('DELETE'))
    throw refused('service', `A record of the type ${typeName} is never deleted`)
  if (!Number.isInteger(id) || Number(id) < 1 || Number(id) > IMPORTED_MAX) {
    throw refused('deletedId', `deletedId must be a whole number from 1 to ${IMPORTED_MAX}`)
  }
  return { resource, id: Number(id) }
}

/** Names the record of a line as far as possible, for reports about unreadable lines. */
export function nameLine(services: Services, content: unknown): { service: string; id: string } {
  const { service, record, deletedId } = isRecord(content) ? content : {}
  if (typeof service !== 'string') return { service: '', id: '' }
  const resource = services.get(service.toLowerCase())
  const id = deletedId ?? (resource && columnPath(resource.fields, 'id')?.reduce<unknown>(memberOf, record))
  const shown = typeof id === 'number' || typeof id === 'string' ? String(id) : ''
  return { service: (resource?.service ?? service).slice(0, 50), id: shown.slice(0, 50) }
}

function resourceOf(services: Services, service: unknown): Resource {
  const resource = typeof service === 'string' ? services.get(service.toLowerCase()) : undefined
  if (resource) return resource
  const known = [...new Set([...services.values()].map((one) => one.service))].join(', ')
  const given = typeof service === 'string' ? `service "${service.slice(0, 50)}" is not` : 'service must be'
  throw refused('service', `${given} one of ${known}`)
}

function* readLedger(
  { service, ledger }: Resource,
  continues: unknown,
  hidden: Record<string, unknown>,
  timeZone: string,
): Steps<LedgerPiece | null> {
  const given = ledger && hidden[ledger.name]
  if (continues !== undefined && (!ledger || !Number.isInteger(continues) || Number(continues) < 1 || !given)) {
    const allowed = ledger
      ? `needs the whole number of earlier ${ledger.name}, and more of them`
      : 'does not occur here'
    throw refused('continues', `continues ${allowed} (${service})`)
  }
  if (!ledger || given === undefined) return null
  if (!Array.isArray(given)) throw refused(ledger.name, `${ledger.name} must be a list`)
  const rows: LedgerPiece['rows'][number][] = []
  for (const [index, item] of given.entries()) {
    const path = `${ledger.name}[${index}]`
    const patch = yield* patchSteps(ledger.fields, item, { mode: 'import', timeZone }, path)
    refuseMissing(ledger.fields, patch, path)
    rows.push(patch.columns)
  }
  return { after: Number(continues ?? 0), rows }
}

/** Refuses missing required fields: a record replaces the stored one, so without them it is probably incomplete. */
function refuseMissing({ leaves }: FieldSet, { columns, details }: Patch, path = ''): void {
  for (const { path: names, field } of leaves) {
    if (field.kind === 'list' || !field.required || field.access === 'wo' || field.nullable) continue
    const value = field.column === undefined ? valueIn(details, names) : columns[field.column]
    if (value !== undefined && (typeof value !== 'string' || value.trim() !== '')) continue
    const at = [path, ...names].filter((part) => part !== '').join('.')
    throw refused(at, `${at} is required and must not be empty`)
  }
}

/** Counts the items of all lists; checks that their keys are valid ids and unique in their list. */
function checkKeys(fields: FieldSet, patch: Patch, path: string, counts: TransferRecord['keys']): void {
  for (const [name, items] of Object.entries(patch.lists)) {
    const field = fields.get(name)
    if (field?.kind !== 'list') continue
    const at = path === '' ? name : `${path}.${name}`
    counts.items += items.length
    if (field.key !== undefined) checkListKeys(field, field.key, items, at, counts)
    items.forEach((item, index) => {
      checkKeys(field.fields, item, `${at}[${index}]`, counts)
    })
  }
}

function checkListKeys(field: ListField, key: string, items: Patch[], path: string, counts: TransferRecord['keys']) {
  const seen = new Set<Scalar>()
  items.forEach((item, index) => {
    if (field.keyFrom !== 'caller' && isNewKey(item)) return
    const value = item.key as Scalar
    const at = `${path}[${index}].${key}`
    const max = field.keyFrom === 'caller' ? INT32_MAX : IMPORTED_MAX
    if (typeof value === 'number' && (value < 1 || value > max))
      throw refused(at, `${at} must be from 1 to ${max}, or 0 for a new id`)
    if (seen.has(value)) throw refused(at, `${at} ${value} is in the list twice`)
    seen.add(value)
    if (field.keyFrom === 'counter') counts.highest = Math.max(counts.highest, Number(value))
  })
  const keyless = items.filter(isNewKey)
  if (field.keyFrom === 'counter') counts.keyless += keyless.length
  if (field.keyFrom !== 'record') return
  let last = Math.max(0, ...items.map((item) => Number(item.key ?? 0)))
  for (const item of keyless) item.key = ++last
}

export function isNewKey({ key }: Patch): boolean {
  return key === undefined || key === 0
}
