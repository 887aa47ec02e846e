import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NumberedLine, readLines } from './lines.ts'

export interface WaitingLine extends NumberedLine {
  readonly reason: string
}

/** Waiting lines in an unlinked temporary file: no other process can open it, and it disappears with this one. */
export class Spool {
  #file: FileHandle | null = null
  #count = 0

  get count(): number {
    return this.#count
  }

  async add({ number, content, reason }: WaitingLine): Promise<void> {
    this.#file ??= await openNameless()
    await this.#file.appendFile(`${JSON.stringify({ number, reason, content })}\n`)
    this.#count++
  }

  /** In the order of `add`. */
  async *read(): AsyncGenerator<WaitingLine> {
    if (!this.#file) return
    const chunks = this.#file.createReadStream({ start: 0, autoClose: false })
    for await (const { bytes, content } of readLines(chunks, Number.POSITIVE_INFINITY)) {
      yield { ...(content as WaitingLine), bytes }
    }
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = null
  }
}

async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'store-platform-'))
  try {
    return await open(join(folder, 'waiting'), 'wx+', 0o600)
  } finally {
    await rm(folder, { recursive: true })
  }
}
