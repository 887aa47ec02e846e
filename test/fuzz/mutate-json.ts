import type { Draw } from './draw.ts'
import { nastyJson, nastyText, RawJson } from './values.ts'

type Members = Record<string, unknown>

/** The value with one to three places changed: another value, a member more, less, twice or called otherwise. */
export function alterJson(draw: Draw, value: unknown): unknown {
  if (draw.happens(6)) return nastyJson(draw)
  let altered = value
  for (let count = draw.oneOf([1, 1, 1, 2, 3]); count > 0; count--) altered = alterAt(draw, altered, draw.int(0, 4))
  return altered
}

function alterAt(draw: Draw, value: unknown, depth: number): unknown {
  if (value === null || typeof value !== 'object' || value instanceof RawJson) return nastyJson(draw)
  const names = Object.keys(value)
  if (names.length === 0) return draw.happens(50) ? nastyJson(draw) : value
  const name = draw.oneOf(names)
  const inner = (value as Members)[name]
  if (depth > 0 && inner !== null && typeof inner === 'object')
    return withMember(value, name, alterAt(draw, inner, depth - 1))
  if (Array.isArray(value)) return alterList(draw, value, Number(name))
  return alterMembers(draw, value as Members, name)
}

function alterList(draw: Draw, list: readonly unknown[], index: number): unknown {
  const kind = draw.int(0, 4)
  if (kind === 0) return list.toSpliced(index, 1)
  if (kind === 1) return [...list, list[index]]
  if (kind === 2) return Array.from({ length: draw.oneOf([2, 100, 101, 1_000]) }, () => list[index])
  return list.with(index, nastyJson(draw))
}

function alterMembers(draw: Draw, members: Members, name: string): unknown {
  const { [name]: value, ...others } = members
  const kind = draw.int(0, 9)
  if (kind === 0) return others
  if (kind === 1) return { ...others, [name.toUpperCase()]: value }
  if (kind === 2) return { ...members, [name.toLowerCase()]: nastyJson(draw) }
  if (kind === 3) return { ...members, [nastyText(draw).slice(0, 300) || 'x']: nastyJson(draw) }
  if (kind === 4) return { ...members, [name]: [value, value] }
  if (kind === 5) return { ...members, ['__proto__']: { isAdmin: true }, constructor: { prototype: {} } }
  return { ...members, [name]: nastyJson(draw) }
}

function withMember(value: object, name: string, inner: unknown): unknown {
  return Array.isArray(value) ? value.with(Number(name), inner) : { ...value, [name]: inner }
}
