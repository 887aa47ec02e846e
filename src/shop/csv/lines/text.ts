import { isAscii, isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { StoreFailure } from '../../../foundation/values/failure.ts'

/** Enough for every byte order mark. */
const MARK_BYTES = 3
/** Stands in decoded text for bytes that are none. */
const UNREADABLE = '\uFFFD'

/** How the letters of a file were read. */
export interface Letters {
  /** The first line that is not UTF-8, and was read as Windows-1252; null: there is none. */
  windowsLine: number | null
}

/**
 * The text of a file, in pieces, with only line feeds as line ends: UTF-8, or UTF-16 where the file begins with its byte order mark, or
 * Windows-1252 where no line before the first that is not UTF-8 has letters beyond ASCII. Notes in `letters` that it is Windows-1252:
 * the caller says whether that will do. Without `letters`, Windows-1252 is refused. Throws a 400 that names the first line which is
 * none of these.
 */
export async function* textOf(bytes: AsyncIterable<Uint8Array>, letters?: Letters): AsyncGenerator<string> {
  const lines = new LineFeeds()
  let decode: Decode | null = null
  let held = Buffer.alloc(0)
  const decoded = (piece: Buffer, isLast: boolean) => {
    const { text, isWindows } = (decode as Decode)(piece, isLast)
    if (isWindows && letters === undefined) throw notUtf8(lines.lineOf(piece))
    if (isWindows && letters) letters.windowsLine ??= lines.lineOf(piece)
    return lines.read(text)
  }
  for await (const chunk of bytes) {
    held = Buffer.concat([held, chunk])
    if (decode === null && held.length < MARK_BYTES) continue
    decode ??= decoderFor(held)
    const length = wholeLength(held)
    const text = decoded(held.subarray(0, length), false)
    held = held.subarray(length)
    yield text
  }
  decode ??= decoderFor(held)
  yield decoded(held, true) + lines.end()
}

type Decode = (piece: Buffer, isLast: boolean) => { readonly text: string; readonly isWindows?: boolean }

function decoderFor(start: Buffer): Decode {
  if (start.subarray(0, 4).equals(Buffer.from('PK\x03\x04'))) {
    throw notText('This is a spreadsheet, not a CSV file. Save it as "CSV UTF-8", and import that file.')
  }
  const mark = start.subarray(0, 2).toString('hex')
  if (mark !== 'fffe' && mark !== 'feff') return eightBits(start)
  const decoder = new TextDecoder(mark === 'fffe' ? 'utf-16le' : 'utf-16be')
  return (piece, isLast) => ({ text: decoder.decode(piece, { stream: !isLast }) })
}

/** Decodes UTF-8 whose pieces end with a whole character, or from the first piece on that is none, Windows-1252. */
function eightBits(start: Buffer): Decode {
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  const windows = new TextDecoder('windows-1252')
  let isMarked = start.subarray(0, 3).toString('hex') === 'efbbbf'
  let isUtf8Only = isMarked
  let isWindows = false
  return (given) => {
    const piece = isMarked ? given.subarray(3) : given
    isMarked = false
    if (isAscii(piece)) return { text: piece.toString('latin1') }
    const text = utf8.decode(piece)
    const isValid = isUtf8(piece)
    // Letters of both make neither likely.
    const isDecided = isUtf8Only || (isValid ? !isWindows : beyondAscii.test(text))
    if (isDecided) isUtf8Only = true
    else if (isValid) return { text: UNREADABLE }
    else isWindows = true
    return isUtf8Only ? { text } : { text: windows.decode(piece), isWindows }
  }
}

/** Letters that are well-formed UTF-8. */
const beyondAscii = /[^\p{ASCII}\uFFFD]/u

/** The length without a character of UTF-8 at the end that goes on in the next piece. */
function wholeLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte >= 0xc0) return bytes.length - (back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0)
  }
  return bytes.length
}

function notText(message: string): StoreFailure {
  return new StoreFailure('malformed-body', message)
}

/** Refuses a file of another encoding by the line that shows it. */
export function notUtf8(line: number): StoreFailure {
  return notText(`Line ${line} has characters that are not UTF-8. Save the file as "CSV UTF-8", and import that file.`)
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

  /** The line of the first byte of a piece that is not UTF-8. */
  lineOf(piece: Buffer): number {
    const text = (this.#held + new TextDecoder('utf-8').decode(piece)).replaceAll(/\r\n?/g, '\n')
    return this.#line + text.slice(0, text.indexOf(UNREADABLE)).split('\n').length - 1
  }

  /** The end of the last line, if it has none. */
  end(): string {
    return this.#held.startsWith('\r') || this.#last !== '\n' ? '\n' : ''
  }
}
