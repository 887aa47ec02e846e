import { readFileSync } from 'node:fs'
import type { ApiPart, Components, OpenApiDocument, PathItem, Server } from '../server/openapi.ts'

export interface DocumentOptions {
  /** PUBLIC_URL */
  readonly publicUrl: string
  readonly restPrefixes: readonly string[]
}

/** Merges the parts. Throws when two parts describe one thing differently, and for a duplicate operationId. */
export function assembleDocument(
  { publicUrl, restPrefixes }: DocumentOptions,
  parts: readonly ApiPart[],
): OpenApiDocument {
  const program = JSON.parse(textOf('../../package.json'))
  const servers: Server[] = [{ url: publicUrl, description: 'The server' }]
  const ownPaths = parts.flatMap((part) =>
    Object.entries(part.paths).map(([path, item]): [string, PathItem] => [path, { servers, ...item }]),
  )
  const paths = merge([...parts.map(({ servicePaths = {} }) => servicePaths), Object.fromEntries(ownPaths)])
  checkOperationIds(Object.values(paths))
  return {
    openapi: '3.1.1',
    info: {
      title: program.name,
      version: program.version,
      summary: program.description,
      description: textOf('./introduction.md'),
    },
    servers: restPrefixes.map((prefix, index) => restServer(publicUrl + prefix, index === 0 ? '' : ` at ${prefix}`)),
    security: [
      { SecureURL: [], PrivateKey: [], Token: [] },
      { Bearer: [] },
      { SecureURL: [], PrivateKey: [], Bearer: [] },
    ],
    tags: parts.flatMap(({ tags }) => tags),
    paths,
    components: mergeComponents(parts.map(({ components }) => components)),
  }
}

function textOf(file: string): string {
  return readFileSync(new URL(file, import.meta.url), 'utf8')
}

/** The descriptions differ, because generators name servers after them. */
function restServer(address: string, where: string): Server {
  return {
    url: `${address}/{version}`,
    description: `The REST services${where}`,
    variables: { version: { enum: ['v1', 'v2'], default: 'v1', description: 'Both are the same.' } },
  }
}

function mergeComponents(all: readonly Components[]): Components {
  const kinds = new Set(all.flatMap((components) => Object.keys(components) as (keyof Components)[]))
  return Object.fromEntries([...kinds].map((kind) => [kind, merge(all.map((components) => components[kind] ?? {}))]))
}

function merge<T>(all: readonly Readonly<Record<string, T>>[]): Readonly<Record<string, T>> {
  const merged: Record<string, T> = {}
  for (const [name, value] of all.flatMap(Object.entries<T>)) {
    const known = merged[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(value))
      throw new Error(`${name} is described twice`)
    merged[name] = value
  }
  return merged
}

function checkOperationIds(items: readonly PathItem[]): void {
  const seen = new Set<string>()
  for (const { get, put, post, delete: remove } of items) {
    for (const operation of [get, put, post, remove]) {
      if (operation === undefined) continue
      if (seen.has(operation.operationId)) throw new Error(`two operations are named ${operation.operationId}`)
      seen.add(operation.operationId)
    }
  }
}
