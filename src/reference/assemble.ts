import { readFileSync } from 'node:fs'
import type { ApiPart, Components, PathItem } from '../server/openapi.ts'

export interface DocumentOptions {
  /** PUBLIC_URL */
  readonly publicUrl: string
  readonly restPrefixes: readonly string[]
}

/** Merges the parts. Throws when two parts describe one thing differently, and for a duplicate operationId. */
export function assembleDocument({ publicUrl, restPrefixes }: DocumentOptions, parts: readonly ApiPart[]) {
  const program = JSON.parse(textOf('../../package.json'))
  const servers = [{ url: publicUrl, description: 'The server' }]
  const ownPaths = parts.flatMap(({ paths }) =>
    Object.entries(paths).map(([path, item]) => ({ [path]: { servers, ...item } })),
  )
  const paths = merge<PathItem>([...parts.map(({ servicePaths = {} }) => servicePaths), ...ownPaths])
  checkOperationIds(Object.values(paths))
  const all = parts.map(({ components }) => components)
  const kinds = new Set(all.flatMap((components) => Object.keys(components) as (keyof Components)[]))
  return {
    openapi: '3.1.1',
    info: {
      title: program.name,
      version: program.version,
      summary: program.description,
      description: textOf('./introduction.md'),
    },
    // The descriptions differ, because generators name servers after them.
    servers: restPrefixes.map((prefix, index) => ({
      url: `${publicUrl}${prefix}/{version}`,
      description: `The REST services${index === 0 ? '' : ` at ${prefix}`}`,
      variables: {
        version: {
          enum: ['v1', 'v2'],
          default: 'v1',
          description: 'They differ only past the last page of `offset`: 400 in v1, 404 in v2.',
        },
      },
    })),
    security: [
      { SecureURL: [], PrivateKey: [], Token: [] },
      { Bearer: [] },
      { SecureURL: [], PrivateKey: [], Bearer: [] },
    ],
    tags: parts.flatMap(({ tags }) => tags),
    paths,
    components: Object.fromEntries([...kinds].map((kind) => [kind, merge(all.map((part) => part[kind] ?? {}))])),
  }
}

function textOf(file: string): string {
  return readFileSync(new URL(file, import.meta.url), 'utf8')
}

function merge<T>(all: readonly Readonly<Record<string, T>>[]): Readonly<Record<string, T>> {
  const merged: Record<string, T> = {}
  for (const [name, value] of all.flatMap(Object.entries<T>)) {
    const known = merged[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(value)) {
      throw new Error(`${name} is described twice`)
    }
    merged[name] = value
  }
  return merged
}

function checkOperationIds(items: readonly PathItem[]): void {
  const ids = items.flatMap(({ get, put, post, delete: remove }) =>
    [get, put, post, remove].flatMap((operation) => operation?.operationId ?? []),
  )
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index)
  if (repeated !== undefined) throw new Error(`two operations are named ${repeated}`)
}
