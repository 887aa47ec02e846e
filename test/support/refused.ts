import type { LightMyRequestResponse } from 'fastify'

/** Status and the only result item of a refusal. */
export function refused({ statusCode, json }: LightMyRequestResponse) {
  const [item, ...others] = json<Record<string, string>[]>()
  if (!item || others.length > 0) throw new Error('A refusal has one result item')
  return { statusCode, field: item.Value, message: item.Message, key: item.Key, status: item.Status }
}
