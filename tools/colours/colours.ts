import { readdirSync, readFileSync } from 'node:fs'
import hljs from 'highlight.js'
import { digestOf } from '../../src/http/reference/colours.ts'

const docs = new URL('../../docs/', import.meta.url)

/** The classes of highlight.js that get a colour, by the first part of their names. */
const colours: Readonly<Record<string, string>> = {
  comment: 'c',
  string: 's',
  regexp: 's',
  keyword: 'k',
  literal: 'k',
  built_in: 'k',
  type: 'k',
  number: 'n',
  title: 'f',
}
const languages: Readonly<Record<string, string>> = {
  sh: 'bash',
  ts: 'typescript',
  py: 'python',
  cs: 'csharp',
  http: 'http',
}
const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', '#x27': "'" }

/** Returns the code of the guides: whole files of examples, and blocks that name their language. */
export function codeOfGuides(): { readonly language: string; readonly code: string }[] {
  const files = readdirSync(docs, { recursive: true, encoding: 'utf8' }).toSorted()
  const read = (file: string) => readFileSync(new URL(file, docs), 'utf8')
  const examples = files
    .filter((file) => /^guides\/examples\/.*\.\w+$/.test(file))
    .map((file) => ({ language: file.split('.').at(-1) ?? '', code: read(file).trimEnd() }))
  const guides = files.filter((file) => /^(?:guides\/[\w-]+|policy)\.md$/.test(file))
  const pages = [...guides, '../clients/typescript/README.md']
  const blocks = pages.flatMap((file) =>
    Array.from(read(file).matchAll(/^ *```(\w+)\n([\s\S]*?)\n *```$/gm), ([, language = '', code = '']) => {
      return { language, code: code.replace(/^ {3}/gm, '') }
    }),
  )
  return [...examples, ...blocks]
}

/** Returns the file of colours: of each code its parts in turn, each as the colour and the number of characters. */
export function coloursText(): string {
  const entries = codeOfGuides().map(({ language, code }) => [digestOf(code), runsOf(code, language)] as const)
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`
}

function runsOf(code: string, language: string): string {
  const { value } = hljs.highlight(code, { language: languages[language] ?? language, ignoreIllegals: true })
  const runs: [colour: string, length: number][] = []
  const open: string[] = []
  for (const [part, begun, text = ''] of value.matchAll(/<span class="hljs-(\w+)[^>]*>|<\/span>|([^<]+)/g)) {
    if (begun !== undefined) open.push(begun === 'subst' ? '' : (colours[begun] ?? open.at(-1) ?? ''))
    else if (part === '</span>') open.pop()
    else runs.push([open.at(-1) ?? '', text.replace(/&([\w#]+);/g, (_, name) => entities[name] ?? '?').length])
  }
  const joined: typeof runs = []
  for (const [colour, length] of runs) {
    const last = joined.at(-1)
    if (last?.[0] === colour) last[1] += length
    else joined.push([colour, length])
  }
  return joined.map(([colour, length]) => colour + length).join(' ')
}
