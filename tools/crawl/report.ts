import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Answer } from './browser.ts'
import { linesOf } from './html.ts'

/** Headers that differ between two requests alike, or belong to the connection. */
const LEFT_OUT = ['date', 'content-length', 'connection', 'keep-alive', 'x-request-id', 'transfer-encoding']
/** A body of this length that came before is named instead of repeated. */
const REPEATED_LENGTH = 1_000

/** What is different in each crawl, as the word that stands for it. Records' ids, amounts, counts and texts are not masked. */
const masks: readonly (readonly [RegExp, string])[] = [
  [/(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/(name="_csrf" value=")[^"]*/g, '$1<csrf>'],
  // Of records that have the time of their last change in them.
  [/(name="etag" value=")[^"]*/g, '$1<etag>'],
  [/\b((?:token|code|client_secret)=)[\w.~-]{16,}/g, '$1<token>'],
  [/(developers(\/|%2F)inbox(\/|%2F))[\w-]{8,}/g, '$1<name>'],
  [/("Milliseconds":|<Milliseconds>)\d+/g, '$1<ms>'],
  [/("(?:access|refresh)_token":\s*")[^"]+/g, '$1<token>'],
  [/(<Token>)[\w-]+/g, '$1<token>'],
  [/\bwhsec_[\w+/=-]+/g, '<signing secret>'],
  [/\bv1a?,[\w+/-]{40,}=*/g, '<signature>'],
  [/(?<![0-9a-z])[0-9a-f]{32,}(?![0-9a-z])/gi, '<hex>'],
  [/^(x-ratelimit-remaining: |ratelimit: "default";r=)\d+(;t=\d+)?/gm, '$1<n>'],
  [/(>| )\d+ ms\b/g, '$1<ms>'],
  [/\btest-[0-9a-f]{12}\b/g, 'test-<hex>'],
  // The server's clock runs through less than a minute of one day.
  [/\b(20\d\d-\d\d-\d\dT\d\d:00:)\d\d(\.\d+)?/g, '$1<s>'],
  [/\$argon2id\$[\w$+/=,]+/g, '<password hash>'],
  [/\d[\d.,]* [kMGT]B (free|frei)/g, '<size> $1'],
  [/\b(\d\d?:00:)[0-5]\d(\.\d+)?(?=\D)/g, '$1<s>'],
  [/\b17950212\d\d(\d{3})?\b/g, '<epoch>'],
  [/\b\d+ seconds? ago|\bvor \d+ Sekunden?/g, '<seconds ago>'],
]

/** Gathers answers in files that a diff can read. */
export class Report {
  readonly #files = new Map<string, string[]>()
  readonly #bodies = new Map<string, string>()
  readonly #own: readonly (readonly [text: string, word: string])[]

  /** `own`: addresses and secrets of this crawl, and the words that stand for them. */
  constructor(own: readonly (readonly [string, string])[]) {
    this.#own = own
  }

  masked(text: string): string {
    const known = this.#own.reduce((masked, [secret, word]) => masked.replaceAll(secret, word), text)
    return masks.reduce((masked, [pattern, word]) => masked.replace(pattern, word), known)
  }

  /** Adds an answer to a file, below the name of what was asked. */
  add(file: string, name: string, answer: Answer): void {
    const title = this.masked(name)
    this.note(file, `=== ${title}\n${this.masked(headOf(answer))}\n${this.#body(`${file}: ${title}`, answer)}\n`)
  }

  note(file: string, text: string): void {
    const lines = this.#files.get(file) ?? []
    this.#files.set(file, lines)
    lines.push(text)
  }

  #body(name: string, answer: Answer): string {
    const text = this.masked(readable(answer))
    if (text.length < REPEATED_LENGTH) return text
    const digest = createHash('sha256').update(text).digest('base64')
    const first = this.#bodies.get(digest)
    if (first !== undefined) return `(the body of ${first})`
    this.#bodies.set(digest, name)
    return text
  }

  async write(folder: string): Promise<void> {
    for (const [file, lines] of this.#files) {
      const path = join(folder, file)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, `${lines.join('\n')}\n`)
    }
  }
}

function headOf({ status, headers }: Answer): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => {
    if (LEFT_OUT.includes(name)) return []
    if (name === 'etag') return ['etag: present']
    if (name === 'set-cookie')
      return [value ?? ''].flat().map((line) => `${name}: ${line.replace(/=[^;]+/, '=<cookie>')}`)
    return [`${name}: ${[value].flat().join(', ')}`]
  })
  return [String(status), ...lines.sort()].join('\n')
}

/** The body, in lines: a backslash stands at the end of those that the body does not end itself. */
function readable({ headers, bytes, text }: Answer): string {
  const type = String(headers['content-type'] ?? '')
  if (/html/.test(type)) return linesOf(text)
  if (/xml|svg/.test(type)) return text.replaceAll('><', '>\\\n<')
  if (/json/.test(type)) return text.replace(/([,{[])(?=["{[])/g, '$1\\\n')
  if (/^text|javascript|csv/.test(type) || bytes.length === 0) return text
  return `${bytes.length} bytes ${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`
}
