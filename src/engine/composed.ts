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
const MARK = '\u001f'
/** A shorter slice is written out. */
const SLICE_MIN = 12

/** Writes the positions of slices in the place of the slices. */
export class Abridging extends Composed {
  #saved = 0

  protected override copy(region: Region, from: number, to: number): void {
    const length = to - from
    if (length < SLICE_MIN) {
      super.copy(region, from, to)
      return
    }
    const slice = `${MARK}${(region.base + from).toString(36)},${length.toString(36)};`
    this.#saved += length - slice.length
    this.write(slice)
  }

  abridged(): Abridged {
    return { text: this.text, bytes: Buffer.byteLength(this.text) + this.#saved }
  }
}

const slices = new RegExp(`${MARK}(\\w+),(\\w+);`, 'g')

/** The whole text of an abridged one. */
export function inFull(abridged: string, template: string): string {
  return abridged.replace(slices, (_slice, from: string, length: string) => {
    const start = Number.parseInt(from, 36)
    return template.slice(start, start + Number.parseInt(length, 36))
  })
}
