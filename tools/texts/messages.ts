import { globSync, readFileSync } from 'node:fs'
import { messagesOf } from '../../src/foundation/texts/template.ts'
import { spokenByDefinitions, spokenByEvents } from './definitions.ts'

const root = new URL('../../', import.meta.url)

/** Whose texts are not translated by messages: mails, whose templates each language has, and the documentation, which is code and English prose. */
const ENGLISH = /^src\/(access\/mail\/templates|http\/reference)\//

/** Returns what pages say, in English, with the files that say it. */
export function messages(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  const add = (message: string, file: string) => {
    const files = found.get(message) ?? new Set()
    found.set(message, files.add(file))
  }
  for (const file of filesOf('src/**/*.eta')) {
    const source = sourceOf(file)
    for (const { message } of messagesOf(source)) add(message, file)
    for (const message of inCode(source)) add(message, file)
  }
  for (const file of filesOf('src/**/*.ts')) for (const message of inCode(sourceOf(file))) add(message, file)
  for (const message of spokenByDefinitions()) add(message, DEFINITIONS)
  for (const message of spokenByEvents()) add(message, EVENTS)
  found.delete('')
  return found
}

/** The pages that name events most. */
const EVENTS = 'src/http/pages/shop/webhooks/'

/** Where labels and descriptions of fields come from. */
export const DEFINITIONS = 'src/shop/resources/'

export function filesOf(pattern: string): string[] {
  return globSync(pattern, { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !ENGLISH.test(file))
    .sort()
}

export function sourceOf(file: string): string {
  return readFileSync(new URL(file, root), 'utf8')
}

/** The literals in calls of `t`. */
function inCode(source: string): string[] {
  const calls = source.matchAll(/(?<![\w.$])t\(\s*(?:'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\$]|\\.)*)`)/g)
  return [...calls].map(([, quoted, template]) => (quoted ?? template ?? '').replace(/\\(.)/g, '$1'))
}
