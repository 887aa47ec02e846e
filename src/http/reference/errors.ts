// The pages of the codes that refusals have, made of one table: docs/guides/errors/codes.md.

import { readFileSync } from 'node:fs'
import { errorCodes } from '../../foundation/values/failure.ts'
import type { Guide } from './guides.ts'
import { renderMarkdown } from './markdown.ts'

const ERRORS = '/docs/errors'
const file = new URL('../../../docs/guides/errors/codes.md', import.meta.url)

/** What the third column says, in sentences. */
const repeats: Readonly<Record<string, string>> = {
  'yes, later':
    'Yes. Wait as long as `Retry-After` says, or a second and then twice as long each time, and send the same request.',
  'after a correction': 'No. The same request is refused each time. Correct it first.',
  'after a change': 'Not by itself. The same request succeeds only after something else has changed.',
}

/** Makes the page of all codes, and that of each. Throws for a code that the table lacks. */
export function errorPages(): { readonly index: Guide; readonly pages: readonly Guide[] } {
  const text = readFileSync(file, 'utf8')
  const rows = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const pages = errorCodes.map((code) => {
    const [, , statuses, again = '', meaning, action] = rows.find(([, name]) => name === code) ?? []
    const repeat = repeats[again]
    if (!statuses || !repeat || !meaning || !action)
      throw new Error(`docs/guides/errors/codes.md does not explain ${code}`)
    const about = [`# ${code}`, meaning, `HTTP status: ${statuses}`, '## What to do', action]
    const parts = [...about, '## May the same request succeed?', repeat, `[All codes](${ERRORS})`]
    return pageOf(`${ERRORS}/${code}`, parts.join('\n\n'))
  })
  const linked = text.replace(/^\| ([a-z][a-z-]+) \| (?=\d)/gm, `| [$1](${ERRORS}/$1) | `)
  return { index: pageOf(ERRORS, linked), pages }
}

function pageOf(address: string, markdown: string): Guide {
  return { address, markdown, ...renderMarkdown(markdown) }
}
