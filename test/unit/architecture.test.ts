import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Field, FieldSet } from '../../src/engine/definition/fields.ts'
import { servedResources } from '../../src/registry.ts'

const protocols = ['rest', 'soap', 'oauth', 'pages', 'operator', 'reference']
/** Who may enter, and what is written to them: data and rules. They refer to one another, so that they count as one part. */
const domains = ['stores', 'applications', 'people', 'audit', 'mail']

/**
 * Who may import whom: a part imports parts of the lines below it, and never one of its own line.
 * What is not named here (process/, database/, embedded/, outbound/, values/) is the ground under all of them.
 */
const lines = [
  ['start.js'],
  ['main.ts', 'cli'],
  ['parts'],
  ['app.ts'],
  protocols,
  ['html'],
  ['server', 'xml', 'sandbox', 'csv'],
  ['installation', 'alerts'],
  ['staff'],
  ['registry.ts'],
  ['webhooks'],
  ['resources'],
  ['domains'],
  ['engine'],
]

/** What only some parts may import: everything below them works with plain values. */
const reserved: Readonly<Record<string, readonly string[]>> = {
  fastify: ['main.ts', 'app.ts', 'server', 'html', ...protocols],
  '@fastify/': ['server', 'html', ...protocols],
  eta: ['html', 'mail'],
  marked: ['reference'],
  nodemailer: ['mail'],
  saxes: ['xml'],
  'fast-xml-parser': ['xml'],
  'strong-soap': ['soap'],
  pg: ['database', 'embedded', 'installation'],
  '@prisma/': ['database'],
  './generated/': ['database'],
}

interface Source {
  /** Below src, such as `rest/routes.ts`. */
  readonly file: string
  /** The folder below src (`domains` for several), or the file itself where it lies directly in src. */
  readonly part: string
  /** Without comments. */
  readonly text: string
  readonly imports: readonly string[]
}

const statement = /^\s*(?:import|export)\s[^'"`;]*?from\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]/gm
const call = /\b(?:import|require)\s*\(\s*['"]([^'"]+)['"]/g

const sources = readSources()

describe('imports go one way', () => {
  test('every source was read, with its imports', () => {
    expect(sources.map(({ file }) => file)).toEqual(
      expect.arrayContaining(['app.ts', 'engine/definition/define.ts', 'start.js']),
    )
    expect(sources.find(({ file }) => file === 'app.ts')?.imports).toContain('./process/settings.ts')
    expect(sources.find(({ file }) => file === 'start.js')?.imports).toContain('./main.ts')
    for (const { file, imports } of sources) {
      for (const specifier of imports.filter((each) => each.startsWith('.'))) {
        expect({ file, specifier, exists: fileOf({ file }, specifier) !== undefined }).toMatchObject({ exists: true })
      }
    }
  })

  test('main → parts → app → protocols → html → server → installation → registry → webhooks → resources → domains → engine → ground', () => {
    const wrong = innerImports().filter(([from, to]) => {
      return from.part !== to.part && lineOf(from.part) >= lineOf(to.part) && lineOf(to.part) < lines.length
    })

    expect(told(wrong)).toEqual([])
  })

  test('within the engine: definition → reading → recording → changing → transfer, types aside', () => {
    const rooms = ['definition', 'reading', 'recording', 'changing', 'transfer']
    const roomOf = ({ file }: Source) => rooms.indexOf(file.split('/')[1] ?? '')
    const within = innerImports(valueImports).filter((each) => each.every(({ part }) => part === 'engine'))
    const wrong = within.filter(([from, to]) => roomOf(to) > roomOf(from))

    expect(within.length).toBeGreaterThan(100)
    expect(told(wrong)).toEqual([])
  })

  test('no part imports itself by way of others', () => {
    expect(cycles(partsImported())).toEqual([])
  })

  test('no file imports itself by way of others, types aside', () => {
    const graph = new Map<string, Set<string>>()
    for (const [from, to] of innerImports(valueImports)) add(graph, from.file, to.file)

    expect(cycles(graph)).toEqual([])
  })

  test.each(Object.entries(reserved))('%s is imported only by %j', (name, parts) => {
    const isAmong = ({ file, part }: Source) =>
      parts.includes(part) || parts.some((each) => file.startsWith(`${each}/`))
    const wrong = sources
      .filter((source) => !isAmong(source))
      .flatMap(({ file, imports }) =>
        imports.filter((each) => isOf(each, name)).map((each) => `${file} imports ${each}`),
      )

    expect(wrong).toEqual([])
  })

  test('nothing in src imports a test', () => {
    const wrong = sources.flatMap(({ file, imports }) =>
      imports
        .filter(
          (each) => each.startsWith('.') && posix.normalize(posix.join(posix.dirname(file), each)).startsWith('..'),
        )
        .map((each) => `${file} imports ${each}`),
    )

    expect(wrong).toEqual([])
  })
})

test('the environment is read in process/settings.ts alone; programs hand it over whole', () => {
  const programs = ['main.ts', 'cli']
  const wrong = sources.flatMap(({ file, part, text }) => {
    const uses = text.match(/process\s*\.\s*env\b\s*[.[]?|import\.meta\.env/g) ?? []
    return uses
      .filter((use) => file !== 'process/settings.ts' && (/[.[]$/.test(use) || !programs.includes(part)))
      .map((use) => `${file}: ${use}`)
  })

  expect(wrong).toEqual([])
})

test('fields’ wire names stand in definitions alone: the engine, the access rules and REST know none', () => {
  const names = new Set(servedResources.flatMap(({ fields }) => namesOf(fields)).filter(isOfSeveralWords))
  expect(names.size).toBeGreaterThan(200)

  const wrong = sources
    .filter(({ part }) => ['engine', 'domains', 'rest'].includes(part))
    .flatMap(({ file, text }) => {
      return [...new Set(text.match(/\b[A-Za-z]\w+\b/g))]
        .filter((word) => names.has(word))
        .map((word) => `${file}: ${word}`)
    })

  expect(wrong).toEqual([])
})

function readSources(): Source[] {
  const folder = new URL('../../src/', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => file.replaceAll('\\', '/'))
  return files
    .filter((file) => /\.[cm]?[jt]s$/.test(file) && !file.startsWith('database/generated/'))
    .map((file) => {
      const text = withoutComments(readFileSync(new URL(file, folder), 'utf8'))
      const top = file.split('/')[0] ?? file
      return { file, part: domains.includes(top) ? 'domains' : top, text, imports: importsIn(text) }
    })
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(?<=^|\s)\/\/.*$/gm, '')
}

function importsIn(text: string): string[] {
  return [...text.matchAll(statement), ...text.matchAll(call)].map(([, from, bare]) => from ?? bare ?? '')
}

/** Those that are there when the program runs: `import type` is not. */
function valueImports({ text }: Source): string[] {
  return importsIn(text.replace(/^\s*(?:import|export)\s+type\s[^'"`;]*?from\s*['"][^'"]+['"]/gm, ''))
}

type Import = readonly [from: Source, to: Source]

function innerImports(importsOf = ({ imports }: Source) => imports): Import[] {
  return sources.flatMap((from) =>
    importsOf(from).flatMap((specifier) => {
      const to = specifier.startsWith('.') ? fileOf(from, specifier) : undefined
      return to === undefined ? [] : [[from, to] as const]
    }),
  )
}

function fileOf({ file }: { file: string }, specifier: string): Source | undefined {
  const path = posix.join(posix.dirname(file), specifier)
  const isGenerated = path.startsWith('database/generated/')
  return isGenerated
    ? { file: path, part: 'database', text: '', imports: [] }
    : sources.find((each) => each.file === path)
}

function lineOf(part: string): number {
  const index = lines.findIndex((parts) => parts.includes(part))
  return index === -1 ? lines.length : index
}

function isOf(specifier: string, name: string): boolean {
  return specifier === name || (name.endsWith('/') ? specifier.startsWith(name) : specifier.startsWith(`${name}/`))
}

function told(imports: readonly Import[]): string[] {
  return imports.map(([from, to]) => `${from.file} imports ${to.file}`)
}

function partsImported(): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const [from, to] of innerImports()) if (from.part !== to.part) add(graph, from.part, to.part)
  return graph
}

function add(graph: Map<string, Set<string>>, from: string, to: string): void {
  graph.set(from, (graph.get(from) ?? new Set()).add(to))
}

/** Every way that leads back to where it began, once. */
function cycles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const found = new Set<string>()
  const done = new Set<string>()
  const walk = (node: string, path: readonly string[]): void => {
    const start = path.indexOf(node)
    if (start !== -1) found.add([...path.slice(start), node].join(' → '))
    if (start !== -1 || done.has(node)) return
    for (const next of graph.get(node) ?? []) walk(next, [...path, node])
    done.add(node)
  }
  for (const node of graph.keys()) walk(node, [])
  return [...found]
}

function namesOf(fields: FieldSet): string[] {
  return fields.entries.flatMap(([name, field]) => [name, ...namesWithin(field)])
}

function namesWithin(field: Field): string[] {
  return field.kind === 'object' || field.kind === 'list' ? namesOf(field.fields) : []
}

/** Words such as Name and Email stand for other things elsewhere. */
function isOfSeveralWords(name: string): boolean {
  return /^[A-Z]\w*[a-z][A-Z]/.test(name)
}
