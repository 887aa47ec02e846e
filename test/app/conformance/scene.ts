import type { RelatedSubResource, Resource } from '../../../src/engine/definition/resource.ts'
import type { StoreOptions, TestStore } from '../../support/store.ts'
import { rowsOf } from '../engine/transfer/fixture.ts'
import { listsOf } from './paths.ts'
import { change, newRecord, newWholeRecord, nextSeed } from './records.ts'
import { fixtureOf, openShop, type Shop, type Stage } from './stage.ts'

/** What the contract's statuses are tried on: `home` of the stage takes every change, `quiet` none. */
export interface Scene extends Stage {
  /** A store in which every request is a read or a refusal, so that nothing in it may ever change. */
  readonly quiet: Shop
  /** A record of `quiet` with every field set. */
  readonly whole: number
  /** The ids of the records that belong to it, by related sub-resource. */
  readonly related: ReadonlyMap<string, readonly number[]>
  /** A record of `quiet` whose lists are empty, and that no other belongs to. */
  readonly bare: number
  /** A record of `home` with every field set. */
  readonly busy: number
  /** A record of another store. */
  readonly foreign: number
  /** The quiet store, called with an application of these privileges; the same one for the same privileges. */
  readonly allowed: (privileges: NonNullable<StoreOptions['privileges']>) => Promise<TestStore['call']>
  /** The quiet store, called with an application whose bucket is full. */
  readonly throttled: TestStore['call']
  /** Every row that a refused request could have changed. */
  readonly rows: () => Promise<string[]>
}

export async function openScene(stage: Stage): Promise<Scene> {
  const { server, resource, full, fullIds } = stage
  const quiet = await openShop(server, stage.fixture)
  const { id: whole } = await newWholeRecord({ ...stage, home: quiet })
  const bare = await newRecord(stage, quiet, stage.fixture.minimal(nextSeed('odd')))
  const lists = listsOf(resource.fields).map(({ name }) => [name, []])
  if (resource.methods.includes('PUT')) await change(stage, quiet, bare, Object.fromEntries(lists))
  const related = new Map<string, number[]>()
  for (const [name, sub] of Object.entries(resource.subResources)) {
    if (sub.kind === 'related') related.set(name, await addRelated(stage, quiet, name, sub, whole))
  }
  const { id: busy } = await newWholeRecord(stage)
  const callers = new Map<string, Promise<TestStore['call']>>()
  return {
    ...stage,
    quiet,
    whole,
    related,
    bare,
    busy,
    foreign: fullIds.at(-1) as number,
    allowed: (privileges) => {
      const key = JSON.stringify(privileges)
      const call = callers.get(key) ?? quiet.as({ privileges }).then(({ call }) => call)
      callers.set(key, call)
      return call
    },
    throttled: await withFullBucket(stage, quiet),
    rows: async () => [...(await rowsOf(server, quiet)), ...(await rowsOf(server, full))],
  }
}

/** Two records of the other service that belong to the record. */
async function addRelated(
  { server, resource }: Stage,
  shop: Shop,
  name: string,
  sub: RelatedSubResource,
  id: number,
): Promise<number[]> {
  const other = sub.resource()
  const ground = { server, resource: other, fixture: fixtureOf(other) }
  const added: number[] = []
  for (const seed of [nextSeed('odd'), nextSeed('odd')]) {
    added.push(await newRecord(ground, shop, { ...ground.fixture.minimal(seed), ...belonging(resource, name, id) }))
  }
  return added
}

/** What makes a record of a related service one of the record with this id. */
export function belonging(resource: Resource, name: string, id: number) {
  const belong = fixtureOf(resource).related?.[name]
  if (belong === undefined) throw new Error(`The fixture of ${resource.service} does not say what belongs to /${name}`)
  return belong(id)
}

/** It leaks one request in a thousand seconds, and is filled anew each time. */
async function withFullBucket({ resource }: Stage, shop: Shop): Promise<TestStore['call']> {
  const { call } = await shop.as({ throttle: { capacity: 1, leakPerSecond: 0.001 } })
  return async (...request) => {
    await call('GET', `/${resource.service}?countonly=1`)
    return call(...request)
  }
}
