import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DEFINITIONS, messages } from './messages.ts'
import { refusals } from './refusals.ts'

// The catalogues of a language: one file for each part of the pages, and one for what is refused.

export const languages = ['de'] as const

export type Catalogue = Readonly<Record<string, string>>

const directoryOf = (language: string) => new URL(`../../src/foundation/texts/${language}/`, import.meta.url)

/** Returns the files of a language as they are, by name. */
export function readCatalogues(language: string): Record<string, Catalogue> {
  const directory = directoryOf(language)
  const files = readdirSync(directory).sort()
  return Object.fromEntries(files.map((file) => [file, JSON.parse(readFileSync(new URL(file, directory), 'utf8'))]))
}

/** Returns the files of a language as they should be: what is said, each message in the file of its part; '': nobody has said it yet. */
export function tidyCatalogues(language: string): Record<string, Catalogue> {
  const { [REFUSALS]: ofRefusals = {}, ...others } = readCatalogues(language)
  const known: Catalogue = Object.assign({}, ...Object.values(others))
  const parts = new Map<string, Record<string, string>>()
  for (const [message, files] of [...messages()].sort(byMessage)) {
    const part = partOf(files)
    const entries = parts.get(part) ?? {}
    entries[message] = known[message] ?? ''
    parts.set(part, entries)
  }
  parts.set(REFUSALS, Object.fromEntries([...refusals()].sort().map((message) => [message, ofRefusals[message] ?? ''])))
  return Object.fromEntries([...parts].sort(byMessage))
}

/** Writes the catalogues as they should be. */
export function writeCatalogues(language: string): void {
  const directory = directoryOf(language)
  const parts = tidyCatalogues(language)
  for (const file of readdirSync(directory)) if (!Object.hasOwn(parts, file)) rmSync(new URL(file, directory))
  for (const [file, entries] of Object.entries(parts)) {
    writeFileSync(new URL(file, directory), `${JSON.stringify(entries, null, 2)}\n`)
  }
}

const REFUSALS = 'refusals.json'

function byMessage([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}

/** The file of a message: that of the directory of pages that says it, or one for what several say. */
function partOf(files: ReadonlySet<string>): string {
  const parts = new Set(
    [...files].map((file) => {
      if (file === DEFINITIONS) return 'fields'
      const [, part] = /^src\/http\/pages\/(?:shop\/)?([\w-]+)\//.exec(file) ?? []
      return part ?? 'common'
    }),
  )
  const [only = 'common'] = parts
  return `${parts.size === 1 ? only : 'common'}.json`
}
