import { expect } from 'vitest'
import type { CallOptions, TestStore } from '../../support/store.ts'
import { resultId } from './answers.ts'
import type { Fixture, References } from './fixtures.ts'
import { type Overrides, sample, type Wire } from './samples.ts'
import type { Shop, Stage } from './stage.ts'

type Ground = Pick<Stage, 'server' | 'resource' | 'fixture'>

/** A record with these values: posted, or where the service takes no POST made by the fixture and then changed, if it takes PUT. */
export async function newRecord(ground: Ground, shop: Shop, body: Wire): Promise<number> {
  const { server, resource, fixture } = ground
  if (resource.methods.includes('POST')) return resultId(await shop.call('POST', `/${resource.service}`, { body }))
  if (fixture.make === undefined) throw new Error(`The fixture of ${resource.service} makes no record`)
  const id = await fixture.make(server, shop, shop.references)
  if (resource.methods.includes('PUT') && Object.keys(body).length > 0) {
    const answer = await shop.call('PUT', `/${resource.service}/${id}`, { body })
    expect(answer.statusCode, answer.body).toBe(200)
  }
  return id
}

/** A record of `home` with every field set, each to another value than `fullBody` gives for an even seed. */
export async function newWholeRecord(stage: Stage): Promise<{ id: number; record: Wire }> {
  const { home } = stage
  const id = await newRecord(stage, home, fullBody(stage, home, nextSeed('odd')))
  return { id, record: await readRecord(stage, home, id) }
}

let seeds = 0

/** Seeds of samples, each used once in the whole suite: `odd` ones set booleans to the opposite of their default. */
export function nextSeed(parity: 'odd' | 'even'): number {
  seeds += 2
  return parity === 'odd' ? seeds + 1 : seeds
}

/** A body with every writable field. */
export function fullBody(
  { resource, fixture }: Ground,
  { references }: Shop,
  seed: number,
  textLengthMax?: number,
): Wire {
  return sample(resource.fields, {
    seed,
    overrides: overridesOf(fixture, references, seed),
    ...(textLengthMax !== undefined && { textLengthMax }),
  })
}

export function overridesOf(fixture: Fixture, references: References, seed: number): Overrides {
  return fixture.overrides?.(references, seed) ?? {}
}

/** The record as GET answers it. */
export async function readRecord(
  { resource }: Pick<Stage, 'resource'>,
  shop: TestStore,
  id: number | string,
): Promise<Wire> {
  const answer = await shop.call('GET', `/${resource.service}/${id}`)
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(200)
  const records = answer.json()
  expect(records).toHaveLength(1)
  return records[0]
}

/** Changes a record, and expects it to succeed. */
export async function change(
  { resource }: Pick<Stage, 'resource'>,
  shop: TestStore,
  id: number,
  body: unknown,
  options: CallOptions = {},
): Promise<void> {
  const answer = await shop.call('PUT', `/${resource.service}/${id}`, { body, ...options })
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(200)
}
