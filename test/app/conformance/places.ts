import type { Method } from '../../../src/engine/caller.ts'
import type { ListField } from '../../../src/engine/definition/fields.ts'
import type {
  ComputedSubResource,
  NestedSubResource,
  ProjectedSubResource,
  RelatedSubResource,
  Resource,
  SubResource,
} from '../../../src/engine/definition/resource.ts'
import { projectionOf } from '../../../src/engine/reading/read.ts'
import { idPath } from './answers.ts'
import { at } from './paths.ts'
import { fullBody, newRecord, nextSeed, overridesOf, readRecord } from './records.ts'
import { sampleItem, type Wire } from './samples.ts'
import type { Scene } from './scene.ts'
import { fixtureOf, type Shop } from './stage.ts'
import type { Type } from './xml.ts'

/** An address that answers a list: a service, a list inside its records, or what its records show of others. */
export interface Place {
  /** As the contract writes it, such as `/Products/{catalogid}/Features`. */
  readonly address: string
  /** The same as it is called, for the record with this id. */
  readonly pathOf: (id: number | string) => string
  /** The name of the identifier in the address; null: it has none. */
  readonly idParam: string | null
  readonly methods: readonly Method[]
  /** The services that the caller must be allowed to read, or to write. */
  readonly privileges: readonly string[]
  /** Whether each application has its own of what it lists. */
  readonly isOwned?: boolean
  readonly type: Type
  /** The parameter that narrows its list to one record; null: it lists items, which are neither filtered nor counted. */
  readonly recordParam: string | null
  /** Whether the list of `bare` is empty. */
  readonly canBeEmpty: boolean
  /** All that it lists in a small store, for the record with this id. */
  readonly listed: (scene: Scene, shop: Shop, id: number) => Promise<Wire[]>
  /** Absent: what it lists can only be read. */
  readonly entries?: Entries
}

/** Records, or the items of a list, each with an identifier. */
export interface Entries {
  /** The identifier's name in the address of one. */
  readonly param: string
  /** The least that it can be; null: a code of the caller's. */
  readonly min: number | null
  /** What the address of one takes. */
  readonly methods: readonly Method[]
  /** Where the identifier stands in a record, such as `SKUInfo.CatalogID`. */
  readonly key: string
  readonly resultKey: string
  /** The paths that a new one must have. */
  readonly required: readonly string[]
  /** A body for a new one. */
  readonly fresh: (scene: Scene) => Wire
  /** A body with every field, unlike what is stored. */
  readonly changes: (scene: Scene) => Wire
  /** The identifiers of two that may be changed, in `home`, at the place of `busy`. */
  readonly two: (scene: Scene) => Promise<readonly [Id, Id]>
  /** The one with this identifier, there. */
  readonly read: (scene: Scene, id: Id) => Promise<Wire>
}

export type Id = number | string

/** No record ever gets this id. */
export const UNKNOWN = 400_000

/** Every place of a service. */
export function placesOf(resource: Resource): Place[] {
  const below = Object.entries(resource.subResources)
  return [servicePlace(resource), ...below.flatMap(([name, sub]) => placesBelow(resource, name, sub))]
}

function servicePlace(resource: Resource): Place {
  const { service, methods, changesMany, idParam, resultKey, privilege } = resource
  return {
    address: `/${service}`,
    pathOf: () => `/${service}`,
    idParam: null,
    methods: methods.filter((method) => method !== 'DELETE' && (method !== 'PUT' || changesMany)),
    privileges: [privilege],
    isOwned: resource.owner !== undefined,
    type: resource,
    recordParam: idParam,
    canBeEmpty: false,
    listed: allRecords,
    entries: {
      param: idParam,
      min: 1,
      methods: methods.filter((method) => method !== 'POST'),
      key: idPath(resource),
      resultKey,
      required: fixtureOf(resource).required,
      fresh: ({ fixture }) => fixture.minimal(nextSeed('odd')),
      changes: (scene) => fullBody(scene, scene.home, nextSeed('even')),
      two: async (scene) => [await newMinimal(scene), await newMinimal(scene)],
      read: (scene, id) => readRecord(scene, scene.home, id),
    },
  }
}

function newMinimal(scene: Scene): Promise<number> {
  return newRecord(scene, scene.home, scene.fixture.minimal(nextSeed('odd')))
}

function placesBelow(resource: Resource, name: string, sub: SubResource): Place[] {
  if (sub.kind === 'nested') return [nestedPlace(resource, name, sub)]
  return sub.kind === 'related' ? [relatedPlace(resource, name, sub)] : projectedPlaces(resource, name, sub)
}

function below({ service, idParam, privilege }: Resource, name: string) {
  return {
    address: `/${service}/{${idParam}}/${name}`,
    pathOf: (id: Id) => `/${service}/${id}/${name}`,
    idParam,
    methods: ['GET'],
    privileges: [privilege],
  } as const
}

function nestedPlace(resource: Resource, name: string, sub: NestedSubResource): Place {
  const list = resource.fields.get(sub.list) as ListField
  const place: Place = {
    ...below(resource, name),
    methods: sub.methods,
    type: list,
    recordParam: null,
    canBeEmpty: true,
    listed: async (scene, shop, id) => (await readRecord(scene, shop, id))[sub.list] as Wire[],
  }
  return list.key === undefined ? place : { ...place, entries: items(sub, list, list.key) }
}

function items(sub: NestedSubResource, list: ListField, key: string): Entries {
  const itemsIn = async (scene: Scene) => (await readRecord(scene, scene.home, scene.busy))[sub.list] as Wire[]
  return {
    param: sub.idParam,
    min: list.keyFrom === 'caller' ? null : 0,
    methods: sub.methods.filter((method) => method === 'PUT'),
    key,
    resultKey: sub.resultKey ?? key,
    required: [],
    fresh: (scene) => freshItem(scene, sub.list, list),
    changes: (scene) => freshItem(scene, sub.list, list),
    two: async (scene) => {
      const [first, second] = (await itemsIn(scene)).map((item) => item[key] as Id)
      return [first as Id, second as Id]
    },
    read: async (scene, id) => {
      const item = (await itemsIn(scene)).find((each) => String(each[key]) === String(id))
      if (item === undefined) throw new Error(`There is no item ${id} in ${sub.list} of ${scene.busy}`)
      return item
    },
  }
}

/** All that may be sent of an item but its key, unlike those of a whole record. */
export function freshItem({ fixture, home }: Pick<Scene, 'fixture' | 'home'>, name: string, list: ListField): Wire {
  const seed = nextSeed('even')
  const overrides = overridesOf(fixture, home.references, seed)
  const { [list.key ?? '']: _chosenByCaller, ...item } = sampleItem(name, list, { seed, overrides })
  return item
}

function relatedPlace(resource: Resource, name: string, sub: RelatedSubResource): Place {
  const other = sub.resource()
  return {
    ...below(resource, name),
    privileges: [resource.privilege, other.privilege],
    type: other,
    recordParam: other.idParam,
    canBeEmpty: true,
    listed: ({ related }, shop) => readRecords(other, shop, related.get(name) ?? []),
  }
}

/** Of all records, and of one. */
function projectedPlaces(resource: Resource, name: string, sub: ProjectedSubResource | ComputedSubResource): Place[] {
  const shownOf = (record: Wire) => shownBelow(resource, name, sub, record)

  const ofOne: Place = {
    ...below(resource, name),
    type: projectionOf(resource, sub).type,
    recordParam: resource.idParam,
    canBeEmpty: false,
    listed: async (scene, shop, id) => [shownOf(await readRecord(scene, shop, id))],
  }
  const ofAll: Place = {
    ...ofOne,
    address: `/${resource.service}/${name}`,
    pathOf: () => `/${resource.service}/${name}`,
    idParam: null,
    listed: async (scene, shop) => (await allRecords(scene, shop)).map(shownOf),
  }
  return [ofAll, ofOne]
}

/** What a projected or computed sub-resource shows of a record. */
export function shownBelow(
  resource: Resource,
  name: string,
  sub: ProjectedSubResource | ComputedSubResource,
  record: Wire,
): Wire {
  if (sub.kind === 'projected') return record[sub.object] as Wire
  const of = fixtureOf(resource).workedOut?.[name]
  if (of === undefined) throw new Error(`The fixture of ${resource.service} does not say what /${name} shows`)
  return of(record)
}

/** Every record of the service, each read by its id. */
async function allRecords({ server, resource }: Pick<Scene, 'server' | 'resource'>, shop: Shop): Promise<Wire[]> {
  const rows = await server.database.db.$queryRawUnsafe<{ id: number }[]>(
    `SELECT "id" FROM "${resource.table}" WHERE "storeId" = $1::int ORDER BY "id"`,
    shop.store.id,
  )
  const ids = rows.map(({ id }) => id)
  return readRecords(resource, shop, ids)
}

function readRecords(resource: Resource, shop: Shop, ids: readonly number[]): Promise<Wire[]> {
  return Promise.all(ids.map((id) => readRecord({ resource }, shop, id)))
}

/** The identifier in a record. */
export function idOf({ key }: Entries, record: Wire): Id {
  return at(record, key) as Id
}
