import { TextDecoder } from 'node:util'
import { StoreFailure } from '../values/failure.ts'

/** Enough for every byte order mark. */
const MARK_BYTES = 3
/** Stands in decoded text for bytes that are none. */
const UNREADABLE = '\uFFFD'

/**
 * The text of a file, in pieces, with only line feeds as line ends. UTF-8, or UTF-16 where the file begins with its byte order mark. Throws
 * `bad-request` that names the first line which is neither.
 */
export async function* textOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const lines = new LineFeeds()
  let decoder: TextDecoder | null = null
  let held = Buffer.alloc(0)
  for await (const chunk of bytes) {
    held = Buffer.concat([held, chunk])
    if (decoder === null && held.length < MARK_BYTES) continue
    decoder ??= decoderFor(held)
    yield lines.read(decoder.decode(held, { stream: true }))
    held = Buffer.alloc(0)
  }
  decoder ??= decoderFor(held)
  yield lines.read(decoder.decode(held)) + lines.end()
}

function decoderFor(start: Buffer): TextDecoder {
  if (start.subarray(0, 4).equals(Buffer.from('PK\x03\x04'))) {
    throw notText('This is a spreadsheet, not a CSV file.', 'Save it as "CSV UTF-8"')
  }
  const mark = start.subarray(0, 2).toString('hex')
  return new TextDecoder(mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8')
}

function notText(problem: string, advice: string): StoreFailure {
  return new StoreFailure('bad-request', `${problem} ${advice}, and import that file.`)
}

/** Refuses a file of another encoding by the line that shows it. */
export function notUtf8(line: number): StoreFailure {
  return notText(`Line ${line} has characters that are not UTF-8.`, 'Save the file as "CSV UTF-8"')
}

/** What DOS programs fill the end of a file with. */
const DOS_END = '\x1A'
/** Half of a line break, and the end of a DOS file: the next piece says what it is. */
const UNDECIDED = new RegExp(`\\r?${DOS_END}{0,128}$`)

/** Makes a line feed of each line break, counts them, and leaves the end mark of DOS out. */
class LineFeeds {
  #line = 1
  #held = ''
  #last = '\n'

  read(decoded: string): string {
    const whole = this.#held + decoded
    const end = whole.search(UNDECIDED)
    this.#held = whole.slice(end)
    const text = whole.slice(0, end).replaceAll(/\r\n?/g, '\n')
    const wrong = text.indexOf(UNREADABLE)
    this.#line += (wrong === -1 ? text : text.slice(0, wrong)).split('\n').length - 1
    if (wrong !== -1) throw notUtf8(this.#line)
    if (text !== '') this.#last = text.slice(-1)
    return text
  }

  /** The end of the last line, if it has none. */
  end(): string {
    return this.#held.startsWith('\r') || this.#last !== '\n' ? '\n' : ''
  }
}
