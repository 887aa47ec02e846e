import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'

// Comments and documents cite a section as `name §4.2`. Each section cited must exist, and each link must lead somewhere.

/** The documents with numbered sections, by the names under which they are cited. */
const numbered: Readonly<Record<string, string>> = {
  contract: 'docs/contract.md',
  'order-statuses': 'docs/api/order-statuses.md',
  'rest-protocol': 'docs/api/rest-protocol.md',
  'rest-resources': 'docs/api/rest-resources.md',
  'soap-cartapi': 'docs/api/soap-cartapi.md',
  webhooks: 'docs/api/webhooks.md',
}

const root = join(import.meta.dirname, '../..')
const self = 'test/unit/references.test.ts'
const files = [
  ...['docs', 'clients/typescript', 'prisma', 'src', 'test', 'tools/sandbox-data', 'wsdl'].flatMap(filesIn),
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
].filter((file) => file !== self)
const known = new Set(files)
const sections = new Map(Object.entries(numbered).map(([name, file]) => [name, sectionsOf(read(file))]))

describe('citations', () => {
  test('every document has numbered sections', () => {
    for (const [name, numbers] of sections) expect(numbers.size, name).toBeGreaterThan(5)
  })

  test('name sections that exist', () => {
    expect(files.flatMap((file) => citationFaults(file, read(file)).map((fault) => `${file}: ${fault}`))).toEqual([])
  })

  test('there are many', () => {
    const cited = files.flatMap((file) => [...oneLine(read(file)).matchAll(citation)])
    expect(cited.length).toBeGreaterThan(100)
  })

  test.each([
    ['// See contract §99.', 'contract has no §99'],
    ['/** Dates (rest-protocol §8.2,\n * §8.9). */', 'rest-protocol has no §8.9'],
    ['// rest-resources §0.5 to §0.99', 'rest-resources has no §0.99'],
    ['// As §4 says.', '§4 follows no document'],
    ['// rest-protocol 9.3', 'rest-protocol 9 lacks a §'],
    ['// RFC 9110 8.8.3', 'RFC 9110 8 lacks a §'],
    ['// contract §4.1, 4.2', '§4.1, 4.2 lacks a §'],
    ['// docs/nowhere.md', 'docs/nowhere.md does not exist'],
    ['// docs/architecture.md#nowhere', 'docs/architecture.md has no #nowhere'],
  ])('%s is a fault', (text, fault) => {
    expect(citationFaults('src/any.ts', text)).toEqual([fault])
  })

  test('of other documents and of sections in their own document are none', () => {
    expect(citationFaults('src/any.ts', '// RFC 9110 §8.8.3 and §13; SOAP 1.2 part 1 §5.4.7')).toEqual([])
    expect(citationFaults('docs/contract.md', 'The credentials of §5')).toEqual([])
    expect(citationFaults('docs/contract.md', 'The credentials of §99')).toEqual(['contract has no §99'])
  })
})

describe('links', () => {
  test('lead somewhere', () => {
    const documents = files.filter((file) => file.endsWith('.md') && !file.startsWith('src/'))
    expect(documents.flatMap((file) => linkFaults(file, read(file)).map((fault) => `${file}: ${fault}`))).toEqual([])
  })

  test('and paths below src, test and prisma in documents exist', () => {
    const documents = files.filter((file) => file.endsWith('.md'))
    expect(documents.flatMap((file) => pathFaults(read(file)).map((fault) => `${file}: ${fault}`))).toEqual([])
  })

  test('that lead nowhere are faults', () => {
    const text =
      '[a](architecture.md) [b](#the-contract) [c](nowhere.md) [d](api/webhooks.md#99-nothing) [e](https://site.example)'
    expect(linkFaults('docs/contract.md', text)).toEqual([
      'docs/nowhere.md does not exist',
      'docs/api/webhooks.md has no #99-nothing',
    ])
  })
})

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(eta|js|md|prisma|sql|ts|wsdl)$/.test(entry.name))
    .map((entry) => posix.relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith('src/foundation/database/generated/'))
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** `4` and `4.1` out of `## 4. Addresses` and `### 4.1 REST`. */
function sectionsOf(markdown: string): ReadonlySet<string> {
  return new Set(headingsOf(markdown).flatMap((heading) => /^(\d+(?:\.\d+)*)\.? /.exec(heading)?.[1] ?? []))
}

function headingsOf(markdown: string): string[] {
  return [...withoutCode(markdown).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
}

function withoutCode(markdown: string): string {
  return markdown.replace(/^```.*?^```/gms, '')
}

/** A citation may go on in the next line of a comment. */
function oneLine(text: string): string {
  return text.replace(/\s*\n\s*(?:\*(?!\/)|\/\/+|--|#+)?\s*/g, ' ')
}

const number = String.raw`§\d+(?:\.\d+)*`
const list = `${number}(?:(?:,? and|,? or| to|,) ${number})*`
const names = Object.keys(numbered).join('|')
const citation = new RegExp(String.raw`\b(${names}) (${list})`, 'gi')
/** Documents that are not the project's. */
const others = String.raw`RFC \d{4}|SOAP 1\.[12](?: part 1)?`
const external = new RegExp(String.raw`\b(?:${others}) ${list}`, 'g')
const unmarkedDocument = String.raw`\b(?:${names.replace('webhooks', 'webhooks\\.md')}),? \d+`
const unmarkedOther = String.raw`\b(?:${others})(?: \d+|, \d+\.\d+)`
const unmarkedNext = String.raw`${number}(?:,| and| to) \d+\.\d+`
const unmarked = new RegExp(String.raw`(?:${unmarkedDocument}|${unmarkedOther}|${unmarkedNext})\b`, 'gi')

function citationFaults(file: string, text: string): string[] {
  const line = oneLine(text)
  const own = Object.keys(numbered).find((name) => numbered[name] === file)
  const cited = [...line.matchAll(citation)].flatMap(([, name = '', found = '']) => missing(name.toLowerCase(), found))
  const rest = line.replace(citation, '').replace(external, '')
  const bare = [...rest.matchAll(new RegExp(number, 'g'))].flatMap(([found]) =>
    own === undefined ? `${found} follows no document` : missing(own, found),
  )
  const lacking = [...line.matchAll(unmarked)].map(([found]) => `${found} lacks a §`)
  return [...cited, ...bare, ...lacking, ...(file.endsWith('.md') ? [] : mentionFaults(line))]
}

function missing(name: string, found: string): string[] {
  const wanted = [...found.matchAll(/\d+(?:\.\d+)*/g)].map(([each]) => each)
  return wanted.filter((each) => !sections.get(name)?.has(each)).map((each) => `${name} has no §${each}`)
}

/** Documents that code names: `docs/decisions/sync.md`, `design.md`. */
function mentionFaults(line: string): string[] {
  return [...line.matchAll(/(?<![\w/.$}-])((?:[\w-]+\/)*[\w-]+\.md)(#[\w-]+)?/g)].flatMap(([, file = '', anchor]) =>
    targetFaults(file, anchor?.slice(1)),
  )
}

function linkFaults(file: string, markdown: string): string[] {
  const targets = [...withoutCode(markdown).matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target)
  return (
    targets
      // Guides and the policy are pages of the server, and name addresses there.
      .filter(
        (target) => !/^[a-z]+:/.test(target) && !(/^docs\/(?:guides\/|policy)/.test(file) && target.startsWith('/')),
      )
      .flatMap((target) => {
        const [path = '', anchor] = target.split('#')
        return targetFaults(path === '' ? file : posix.join(posix.dirname(file), path), anchor)
      })
  )
}

/** Names in capitals, such as `src/shop/resources/NAME/`, and patterns stand for many paths. */
function pathFaults(markdown: string): string[] {
  const paths = [...markdown.matchAll(/`((?:src|test|prisma)\/[\w./-]*)`/g)].map(([, path = '']) => path)
  // A clone has no empty folders.
  const exists = (path: string) =>
    isFolder(path) ? readdirSync(join(root, path)).length > 0 : existsSync(join(root, path))
  return paths.filter((path) => !path.includes('NAME') && !exists(path)).map((path) => `${path} does not exist`)
}

/** `file` is a path below the project. */
function targetFaults(file: string, anchor: string | undefined): string[] {
  if (!known.has(file) && !isFolder(file)) return [`${file} does not exist`]
  if (anchor === undefined || headingsOf(read(file)).some((heading) => anchorOf(heading) === anchor)) return []
  return [`${file} has no #${anchor}`]
}

function isFolder(path: string): boolean {
  return statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** As GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}
