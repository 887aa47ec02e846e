import type { LightMyRequestResponse } from 'fastify'

/** What a product needs, and what else a test gives. */
export function productBody(sku: string, others: Record<string, unknown> = {}) {
  const { SKUInfo, ...fields } = others as { SKUInfo?: object }
  return { SKUInfo: { SKU: sku, Name: `Product ${sku}`, ...SKUInfo }, ...fields }
}

/** Status and the only result item of a refusal. */
export function refusalOf(answer: LightMyRequestResponse) {
  const [item, ...others] = answer.json<Record<string, string>[]>()
  if (!item || others.length > 0) throw new Error('A refusal has one result item')
  if (item.Key !== 'Error') throw new Error('The key of a refusal is Error')
  return { statusCode: answer.statusCode, field: item.Value, status: item.Status, message: item.Message }
}

export interface Result {
  Key: string
  Value: string
  Status: string
  Message: string
}
