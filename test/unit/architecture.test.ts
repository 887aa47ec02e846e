import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Field, FieldSet } from '../../src/engine/definition/fields.ts'
import { servedResources } from '../../src/shop/registry.ts'

/** The houses of `src`, the entry first: a file imports from its own house and those behind it. */
const houses = ['entry', 'http', 'operations', 'shop', 'access', 'engine', 'foundation']

/** What lies in `src` itself: programs, and what they are put together from. */
const entry = ['main.ts', 'start.js', 'app.ts', 'parts', 'cli']

const doors = ['rest', 'soap', 'oauth', 'pages', 'operator', 'reference']

/** The rooms of each house: a room imports those of the lines behind it, and never one of its own line. */
const rooms: Readonly<Record<string, readonly (readonly string[])[]>> = {
  entry: [['start.js'], ['main.ts', 'cli'], ['parts'], ['app.ts']],
  http: [doors, ['html'], ['server']],
  operations: [['installation', 'sandbox']],
  shop: [['alerts', 'csv', 'erasure'], ['staff'], ['registry.ts'], ['webhooks'], ['resources'], ['pictures']],
  access: [['people'], ['applications'], ['stores'], ['audit', 'mail']],
  engine: [['transfer'], ['changing'], ['recording'], ['reading'], ['definition'], ['caller.ts']],
  foundation: [['embedded'], ['database', 'outbound', 'xml', 'texts', 'files', 'pictures'], ['process'], ['values']],
}

/** The same of the pages for browsers, below `http/pages`. */
const pageRooms = [['routes.ts'], ['account'], ['shop', 'developers', 'operator'], ['people'], ['records'], ['frame']]

/** What only some parts may import: everything below them works with plain values. */
const reserved: Readonly<Record<string, readonly string[]>> = {
  fastify: ['main.ts', 'app.ts', 'http'],
  '@fastify/': ['http'],
  eta: ['http/html', 'access/mail'],
  marked: ['http/reference'],
  nodemailer: ['access/mail'],
  saxes: ['foundation/xml'],
  'fast-xml-parser': ['foundation/xml'],
  'strong-soap': ['http/soap'],
  pg: ['foundation/database', 'foundation/embedded', 'operations/installation'],
  '@prisma/': ['foundation/database'],
  './generated/': ['foundation/database'],
}

/** What is loaded when it is first used, and what a start saves by it. Everything else is loaded by the start. */
const late = {
  './main.ts': 'a reason in one line where Node is too old',
  './documentation.ts': '15 ms',
  './client-package.ts': '60 kB and what packs them',
  '@simplewebauthn/server': '0.1 s of the processor and 6 MB',
  '@zxcvbn-ts/language-common': '20 MB',
  undici: '39 ms of the processor and 3 MB',
  'fast-xml-parser': '19 to 25 ms and 1 MB',
  'bwip-js': '0.1 s of the processor and 18 MB',
  aws4fetch: 'nothing much, but only S3_URL needs it',
  './readable-log.ts': '15 ms and 1 MB, for terminals alone',
}

interface Source {
  /** Below src, such as `http/rest/routes.ts`. */
  readonly file: string
  readonly house: string
  /** The folder below the house, or the file itself where it lies directly in the house. */
  readonly room: string
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
    expect(sources.find(({ file }) => file === 'app.ts')?.imports).toContain('./foundation/process/settings.ts')
    expect(sources.find(({ file }) => file === 'start.js')?.imports).toContain('./main.ts')
    for (const { file, imports } of sources) {
      for (const specifier of imports.filter((each) => each.startsWith('.'))) {
        expect({ file, specifier, exists: fileOf({ file }, specifier) !== undefined }).toMatchObject({ exists: true })
      }
    }
  })

  test(houses.join(' → '), () => {
    const wrong = innerImports().filter(([from, to]) => houses.indexOf(to.house) < houses.indexOf(from.house))

    expect(sources.filter(({ house }) => !houses.includes(house))).toEqual([])
    expect(told(wrong)).toEqual([])
  })

  test.each(Object.entries(rooms))('within %s: %j', (house, lines) => {
    const lineOf = ({ room }: Source) => lines.findIndex((line) => line.includes(room))
    const within = innerImports().filter((each) => each.every((source) => source.house === house))
    const wrong = within.filter(([from, to]) => from.room !== to.room && lineOf(to) <= lineOf(from))

    expect(sources.filter((source) => source.house === house && lineOf(source) === -1)).toEqual([])
    expect(within.length).toBeGreaterThan(5)
    expect(told(wrong)).toEqual([])
  })

  test(`within http/pages: ${pageRooms.map((line) => line.join(', ')).join(' → ')}`, () => {
    const pages = (source: Source) => source.house === 'http' && source.room === 'pages'
    const roomOf = ({ file }: Source) => file.split('/')[2] ?? ''
    const lineOf = (source: Source) => pageRooms.findIndex((line) => line.includes(roomOf(source)))
    const within = innerImports().filter((each) => each.every(pages))
    const wrong = within.filter(([from, to]) => roomOf(from) !== roomOf(to) && lineOf(to) <= lineOf(from))

    expect(sources.filter((source) => pages(source) && lineOf(source) === -1)).toEqual([])
    expect(within.length).toBeGreaterThan(100)
    expect(told(wrong)).toEqual([])
  })

  test('no file imports itself by way of others, types aside', () => {
    const graph = new Map<string, Set<string>>()
    for (const [from, to] of innerImports(valueImports)) add(graph, from.file, to.file)

    expect(cycles(graph)).toEqual([])
  })

  test('no file of the engine imports itself by way of others, types counted', () => {
    const graph = new Map<string, Set<string>>()
    for (const [from, to] of innerImports()) if (from.house === 'engine') add(graph, from.file, to.file)

    expect(cycles(graph)).toEqual([])
  })

  test.each(Object.entries(reserved))('%s is imported only by %j', (name, parts) => {
    const isAmong = ({ file }: Source) => parts.some((each) => file === each || file.startsWith(`${each}/`))
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

test('what is loaded late saves a start something', () => {
  const loaded = sources.flatMap(({ text }) => [...text.matchAll(call)].map(([, name]) => name))
  expect([...new Set(loaded)].toSorted()).toEqual(Object.keys(late).toSorted())
})

test('the environment is read in foundation/process/settings.ts alone; programs hand it over whole', () => {
  const programs = ['main.ts', 'cli']
  const wrong = sources.flatMap(({ file, room, text }) => {
    const uses = text.match(/process\s*\.\s*env\b\s*[.[]?|import\.meta\.env/g) ?? []
    return uses
      .filter((use) => file !== 'foundation/process/settings.ts' && (/[.[]$/.test(use) || !programs.includes(room)))
      .map((use) => `${file}: ${use}`)
  })

  expect(wrong).toEqual([])
})

test('fields’ wire names stand in definitions alone: the engine, the access rules and REST know none', () => {
  const names = new Set(servedResources.flatMap(({ fields }) => namesOf(fields)).filter(isOfSeveralWords))
  expect(names.size).toBeGreaterThan(200)

  const wrong = sources
    .filter(({ house, room }) => ['engine', 'access'].includes(house) || room === 'rest')
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
    .filter((file) => /\.[cm]?[jt]s$/.test(file) && !file.startsWith('foundation/database/generated/'))
    .map((file) => {
      const text = withoutComments(readFileSync(new URL(file, folder), 'utf8'))
      return { file, ...placeOf(file), text, imports: importsIn(text) }
    })
}

function placeOf(file: string): Pick<Source, 'house' | 'room'> {
  const [top = '', room = top] = file.split('/')
  return entry.includes(top) ? { house: 'entry', room: top } : { house: top, room }
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
  const isPlain = path.startsWith('foundation/database/generated/') || path.endsWith('.json')
  return isPlain ? { file: path, ...placeOf(path), text: '', imports: [] } : sources.find((each) => each.file === path)
}

function isOf(specifier: string, name: string): boolean {
  return specifier === name || (name.endsWith('/') ? specifier.startsWith(name) : specifier.startsWith(`${name}/`))
}

function told(imports: readonly Import[]): string[] {
  return imports.map(([from, to]) => `${from.file} imports ${to.file}`)
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
