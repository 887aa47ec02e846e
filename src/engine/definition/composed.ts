// The text of a record consists of slices of a text in which every member has its default, and of its own values.

/** The text of a record, or of an item of its lists, in which every member has its default. */
export interface Region {
  text: string
}

type WriteMembers<Row, Details> = (out: Composed, row: Row, details: Details) => void

const nowhere: Region = { text: '' }

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
    this.text += this.#region.text.slice(this.#done, position)
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
}
