import { createHash } from 'node:crypto'

// The text of a record consists of slices of a template, in which every member has its default, and of its own values.

/** The text of a record, or of an item of its lists, in which every member has its default. */
export interface Region {
  text: string
  /** Its position in the template. */
  base: number
}

/** All regions of a record. */
export interface Template {
  /** A 64-bit number made from the text: equal numbers, equal texts. */
  readonly id: string
  readonly text: string
}

/** In ASCII, so that lengths are bytes. */
export function templateOf(regions: readonly Region[]): Template {
  let text = ''
  for (const region of regions) {
    region.base = text.length
    text += region.text
  }
  if (Buffer.byteLength(text) !== text.length) throw new Error('A default is not in ASCII')
  if (text.length > POSITION_MAX) throw new Error('A record has too many fields to be abridged')
  return { id: createHash('sha256').update(text).digest().readBigInt64BE().toString(), text }
}

type WriteMembers<Row, Details> = (out: Composed, row: Row, details: Details) => void

const nowhere: Region = { text: '', base: 0 }

/** A text while it is being written. */
export class Composed {
  text = ''
  #region = nowhere
  /** Up to here the region is written or skipped. */
  #done = 0

  write(text: string): void {
    this.text += text
  }

  /** Writes what stands before the position. */
  copyTo(position: number): void {
    this.copy(this.#region, this.#done, position)
    this.#done = position
  }

  skipTo(position: number): void {
    this.#done = position
  }

  /** Writes the region, with what `write` writes in its place. */
  writeOver<Row, Details>(region: Region, write: WriteMembers<Row, Details>, row: Row, details: Details): void {
    const outer = this.#region
    const outerDone = this.#done
    this.#region = region
    this.#done = 0
    write(this, row, details)
    this.copyTo(region.text.length)
    this.#region = outer
    this.#done = outerDone
  }

  protected copy({ text }: Region, from: number, to: number): void {
    this.text += text.slice(from, to)
  }
}

export interface Abridged {
  readonly text: string
  /** Of the whole text. */
  readonly bytes: number
}

/** Stands before a slice in an abridged text, since JSON texts have no control characters. */
const MARK = 0x1f
const mark = String.fromCharCode(MARK)
/** The position of a slice has three digits and its length two, each of 6 bits. */
const POSITION_MAX = 64 ** 3 - 1
const LENGTH_MAX = 64 ** 2 - 1
const SLICE_LENGTH = 6
/** A slice that is hardly longer than what names it is written out. */
const SLICE_MIN = 9
const ZERO = '0'.charCodeAt(0)

function sliceAt(position: number, length: number): string {
  const [high, middle, low] = [(position >> 12) & 63, (position >> 6) & 63, position & 63]
  return String.fromCharCode(MARK, ZERO + high, ZERO + middle, ZERO + low, ZERO + (length >> 6), ZERO + (length & 63))
}

/** Writes the positions of slices in the place of the slices. */
export class Abridging extends Composed {
  #saved = 0

  protected override copy(region: Region, from: number, to: number): void {
    const length = to - from
    if (length < SLICE_MIN) {
      super.copy(region, from, to)
      return
    }
    const now = Math.min(length, LENGTH_MAX)
    this.write(sliceAt(region.base + from, now))
    this.#saved += now - SLICE_LENGTH
    if (now < length) this.copy(region, from + now, to)
  }

  abridged(): Abridged {
    return { text: this.text, bytes: Buffer.byteLength(this.text) + this.#saved }
  }
}

/** The whole text of an abridged one. */
export function inFull(abridged: string, template: string): string {
  let whole = ''
  let end = 0
  for (let at = abridged.indexOf(mark); at !== -1; at = abridged.indexOf(mark, end)) {
    const digit = (place: number) => abridged.charCodeAt(at + place) - ZERO
    const position = (digit(1) << 12) | (digit(2) << 6) | digit(3)
    whole += abridged.slice(end, at) + template.slice(position, position + ((digit(4) << 6) | digit(5)))
    end = at + SLICE_LENGTH
  }
  return whole + abridged.slice(end)
}
