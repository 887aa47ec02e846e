import type { LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import type { CallOptions, TestStore } from '../../support/store.ts'
import { at } from './paths.ts'
import type { Wire } from './samples.ts'
import type { Stage } from './stage.ts'

/** The id in the one result item of an answer that created something. */
export function resultId(answer: LightMyRequestResponse): number {
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(201)
  return Number(answer.json()[0].Value)
}

/** A refusal as rest-protocol §5.2 says: an array of one result item, whose Value names what is wrong. */
export function expectRefusal(answer: LightMyRequestResponse, status: number, value?: string): void {
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(status)
  expect(answer.json()).toEqual([
    { Key: 'Error', Value: value ?? expect.any(String), Status: String(status), Message: expect.stringMatching(/\S/) },
  ])
}

/** Nothing there: 404 without a body. */
export function expectNothing(answer: LightMyRequestResponse): void {
  expect({ status: answer.statusCode, body: answer.body.slice(0, 500) }).toEqual({ status: 404, body: '' })
}

export async function countOf(
  { resource }: Pick<Stage, 'resource'>,
  shop: TestStore,
  query = '',
  options: CallOptions = {},
): Promise<number> {
  const answer = await shop.call('GET', `/${resource.service}?countonly=1${query}`, options)
  expect(answer.statusCode, answer.body).toBe(200)
  expect(Object.keys(answer.json())).toEqual(['TotalCount'])
  const counted = await shop.call('GET', `/${resource.service}/Count?${query.slice(1)}`, {
    ...options,
    tolerated: true,
  })
  expect(counted.body).toBe(answer.body)
  return answer.json().TotalCount
}

/** The identifiers in a list. */
export function idsIn({ resource }: Pick<Stage, 'resource'>, answer: LightMyRequestResponse): number[] {
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(200)
  return (answer.json() as Wire[]).map((record) => idIn({ resource }, record))
}

export function idIn({ resource }: Pick<Stage, 'resource'>, record: Wire): number {
  return at(record, idPath(resource)) as number
}

/** Where the identifier stands in a record, such as `SKUInfo.CatalogID`. */
export function idPath({ fields, resultKey }: Resource): string {
  if (fields.get(resultKey) !== undefined) return resultKey
  const [holder] = fields.entries.find(([, field]) => field.kind === 'object' && field.fields.get(resultKey)) ?? []
  return `${holder}.${resultKey}`
}

/** The methods that a 405 names; HEAD goes with GET. */
export function allowHeader({ headers }: LightMyRequestResponse): string[] {
  const names = String(headers.allow).split(/\s*,\s*/)
  return names.filter((name) => name !== 'HEAD').sort()
}
