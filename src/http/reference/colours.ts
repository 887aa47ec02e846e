import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { escapeAttribute } from '../../foundation/xml/text.ts'

/** Written by `npm run colours`: by the digest of a code its parts, such as `k5 1 s12`. */
export const coloursFile = new URL('../../../docs/guides/colours.json', import.meta.url)
let colours: Readonly<Record<string, string>> | undefined

export function digestOf(code: string): string {
  return hash('sha256', code, 'base64url').slice(0, 16)
}

/** Returns code as HTML, with its colours where the file has them. */
export function colouredHtml(code: string): string {
  colours ??= JSON.parse(readFileSync(coloursFile, 'utf8')) as Readonly<Record<string, string>>
  let place = 0
  const parts = (colours[digestOf(code)] ?? `${code.length}`).split(' ').map((run) => {
    const [, colour = '', length = ''] = /^(\D?)(\d+)$/.exec(run) ?? []
    const text = escapeAttribute(code.slice(place, place + Number(length)))
    place += Number(length)
    return colour === '' ? text : `<span class="code-${colour}">${text}</span>`
  })
  return parts.join('')
}
