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
  const parts = (colours[digestOf(code)] ?? partsOf(code)).split(' ').map((run) => {
    const [, colour = '', length = ''] = /^(\D?)(\d+)$/.exec(run) ?? []
    const text = escapeAttribute(code.slice(place, place + Number(length)))
    place += Number(length)
    return colour === '' ? text : `<span class="code-${colour}">${text}</span>`
  })
  return parts.join('')
}

/** Names of JSON, texts, numbers and a few words. */
const tokens = /("(?:[^"\\]|\\.)*"(?=:))|("(?:[^"\\]|\\.)*"|'[^'\n]*')|\b(\d[\d.]*|true|false|null|const|await)\b/

/** The same of what the reference makes: of code that begins as JSON, curl or a call of the client does. Any other has no colours. */
function partsOf(code: string): string {
  if (!/^(?:[[{]|curl |const |for await )/.test(code)) return `${code.length}`
  const parts = code.split(tokens).map((part, at) => part && `${['', '', 's', 'n'][at % 4]}${part.length}`)
  return parts.filter(Boolean).join(' ')
}
