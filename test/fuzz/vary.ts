import type { Part } from '../support/openapi.ts'
import { documentedValue, isWritable, type SchemaValues } from './from-schema.ts'
import type { Ground } from './surface-openapi.ts'

/**
 * A documented body with other values that are as good: identifiers of records that there are, texts that no record has yet,
 * a few more members. Addresses that the server would call lead to the receiver on this machine.
 */
export function vary(values: SchemaValues, ground: Ground, body: unknown, schema: Part): unknown {
  const { draw, api } = values
  const one = api.member(schema, 'oneOf', '0') ?? schema
  const whole = draw.happens(20) && !Array.isArray(body) && one !== schema ? [body] : body
  const list = [whole].flat()
  for (const record of list) if (draw.happens(40)) addMembers(values, record, one)
  return variedValue(values, ground, whole, '')
}

function addMembers(values: SchemaValues, record: unknown, schema: Part): void {
  const { api, draw } = values
  const properties = api.members(api.member(schema, 'properties')).filter(([, part]) => isWritable(part))
  if (properties.length === 0 || record === null || typeof record !== 'object') return
  for (let count = draw.int(1, 3); count > 0; count--) {
    const [name, part] = draw.oneOf(properties)
    const value = documentedValue(values, part, name)
    const members = record as Record<string, unknown>
    if (!(name in members)) members[name] = value
  }
}

function variedValue(values: SchemaValues, ground: Ground, value: unknown, name: string): unknown {
  const { draw, identifier } = values
  if (Array.isArray(value)) return value.map((item) => variedValue(values, ground, item, name))
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([member, inside]) => [member, variedValue(values, ground, inside, member)]),
    )
  }
  if (/^(url|callbackurl)$/i.test(name))
    return `${ground.installation.receiver}/${draw.oneOf(['ok', 'fail'])}/${draw.int(1, 9)}`
  if (/^redirect_?uris?$/i.test(name)) return value
  if (/^publickey$/i.test(name)) return draw.oneOf([ground.installation.home, ground.installation.other]).publicKey
  if (typeof value === 'number') return /id$/i.test(name) && draw.happens(70) ? (identifier(name) ?? value) : value
  if (typeof value !== 'string' || !/sku|name|email|secureurl|key/i.test(name) || !draw.happens(70)) return value
  const serial = draw.int(1, 1_000_000).toString(36)
  if (value.includes('@')) return `${serial}${value}`
  if (/^https?:/.test(value)) return value.replace('//', `//${serial}.`)
  return `${value.slice(0, 30)} ${serial}`
}
