import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openApiDocument } from '../../src/app.ts'

// `npm run client-types`: writes `lib` anew, which the server packs: the types of the REST services, from the document that it answers, and
// what the compiler makes of `src`.

export const schemaFile = new URL('./lib/schema.d.ts', import.meta.url)
const compiler = new URL('../../node_modules/.bin/tsc', import.meta.url)
const generator = new URL('../../tools/node_modules/openapi-typescript/bin/cli.js', import.meta.url)

/** Returns the TypeScript of the types. Needs the tools (`npm --prefix tools ci`). */
export async function clientTypes(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'client-types-'))
  try {
    const [from, to] = [join(folder, 'openapi.json'), join(folder, 'schema.ts')]
    await writeFile(from, JSON.stringify(clientDocument()))
    await promisify(execFile)(process.execPath, [fileURLToPath(generator), from, '-o', to], { cwd: folder })
    return await readFile(to, 'utf8')
  } finally {
    await rm(folder, { recursive: true })
  }
}

type Tree = { readonly [name: string]: unknown }

/**
 * What a client of the services needs: their operations in JSON, with what succeeds, and the webhooks. Examples and refusals would
 * make the types four times as long.
 */
function clientDocument(): Tree {
  const whole = openApiDocument({ publicUrl: 'http://localhost:3000', restPrefixes: ['/StoreWebAPI'] })
  const services = Object.fromEntries(Object.entries(whole.paths).filter(([, { servers }]) => servers === undefined))
  const { openapi, info, webhooks } = whole
  const reduced = withoutRest({ paths: services, webhooks }) as Tree
  const components = whole.components as Readonly<Record<string, Tree>>
  const needed = new Map<string, unknown>()
  const waiting = refsIn({ reduced, problem: { $ref: '#/components/schemas/Problem' } })
  for (const ref of waiting) {
    if (needed.has(ref)) continue
    const [name = '', kind = ''] = ref.split('/').toReversed()
    const component = withoutRest(components[kind]?.[name])
    needed.set(ref, component)
    waiting.push(...refsIn(component))
  }
  const kept: Record<string, Record<string, unknown>> = {}
  for (const [ref, component] of [...needed].toSorted(([one], [other]) => one.localeCompare(other))) {
    const [name = '', kind = ''] = ref.split('/').toReversed()
    kept[kind] = { ...kept[kind], [name]: component }
  }
  // The generator refuses a document that says nothing of servers and security.
  const said = { openapi, info: { title: info.title, version: info.version }, servers: [{ url: '/' }], security: [] }
  return { ...said, ...reduced, components: kept }
}

function withoutRest(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRest)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name, member]) => {
    const isExample = (name === 'example' || name === 'examples') && !('type' in Object(member))
    return !isExample && name !== 'application/xml' && !/^[45]\d\d$|^default$/.test(name) && name !== 'headers'
  })
  return Object.fromEntries(members.map(([name, member]) => [name, withoutRest(member)]))
}

function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === '$ref' && typeof member === 'string' ? [member] : refsIn(member),
  )
}

/** Compiles `src` into a folder. */
export async function compileClient(folder: string): Promise<void> {
  await promisify(execFile)(fileURLToPath(compiler), ['-p', import.meta.dirname, '--outDir', folder])
}

if (import.meta.main) {
  await writeFile(schemaFile, await clientTypes())
  await compileClient(fileURLToPath(new URL('./lib', import.meta.url)))
}
