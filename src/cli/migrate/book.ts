import { constants, createReadStream } from 'node:fs'
import { appendFile, type FileHandle, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readLines } from '../../engine/transfer/lines.ts'
import { isAlive } from '../../foundation/embedded/server.ts'
import { makeFolder, PRIVATE } from '../../foundation/process/data-folder.ts'
import { StartupError } from '../../foundation/process/startup-error.ts'
import { writeWholeFile } from '../../foundation/process/whole-file.ts'

/** The state of a copied record. */
export interface Entry {
  /** The fingerprint of the source's record. */
  readonly there: string
  /** The fingerprint of the copy after its write; a different one now means a change in the target. Empty: not copied. */
  readonly here: string
  /** The last whole pass in which the source had the record. */
  readonly pass: number
}

/** The progress of a pass, stored after every page. */
export interface PassState {
  /** From 1. */
  readonly number: number
  /** When the pass began, by the source's clock, in ISO form. */
  readonly beganAt: string
  /** Finished services, by name. */
  readonly done: readonly string[]
  /** The position up to which the current service's list is read. */
  readonly place: number
  readonly sums: Readonly<Record<string, number>>
}

export interface State {
  /** The source's address and interface. */
  readonly from: string
  /** Null: no pass is in progress. */
  readonly pass: PassState | null
  /** The number of the last whole pass; 0: none. */
  readonly lastPass: number
  /** Changes in the source up to this time are copied, in ISO form; null: before the first whole pass. */
  readonly knownUntil: string | null
}

/** The records of a batch being written, so that the run after a kill recognises its own writes. */
interface Pending {
  readonly service: string
  readonly entries: readonly (readonly [id: number, there: string, pass: number])[]
}

const FILE_MODE = 0o600

/**
 * The state of a copy between runs, in a folder that only its owner may read: an entry per record, the progress, and the waiting and
 * refused lines. Survives a kill at any point. Locked by one process at a time.
 */
export class Book {
  readonly folder: string
  readonly #entries = new Map<string, Map<number, Entry>>()
  #journal: FileHandle
  #lock: FileHandle
  #state: State

  private constructor(folder: string, files: { journal: FileHandle; lock: FileHandle }, state: State) {
    this.folder = folder
    this.#journal = files.journal
    this.#lock = files.lock
    this.#state = state
  }

  /** Throws StartupError if another process has it open, or if it belongs to another source. */
  static async open(folder: string, from: string): Promise<Book> {
    await makeFolder(folder, PRIVATE)
    const lock = await lockFolder(folder)
    try {
      const begun: State = { from, pass: null, lastPass: 0, knownUntil: null }
      const state = (await readJson<State>(join(folder, 'state.json'))) ?? begun
      if (sourceOf(state.from) !== sourceOf(from)) {
        throw new StartupError(`${folder} belongs to a copy of ${state.from}. Remove it to begin anew with ${from}`)
      }
      const journal = await open(join(folder, 'records.ndjson'), 'a', FILE_MODE)
      const book = new Book(folder, { journal, lock }, state)
      await book.#load()
      return book
    } catch (error) {
      await lock.close()
      throw error
    }
  }

  get state(): State {
    return this.#state
  }

  entry(service: string, id: number): Entry | undefined {
    return this.#entries.get(service)?.get(id)
  }

  entriesOf(service: string): ReadonlyMap<number, Entry> {
    return this.#entries.get(service) ?? new Map()
  }

  /** Announces a write. Call `note` after it. */
  async intend(service: string, entries: Pending['entries']): Promise<void> {
    await this.#replace('pending.json', JSON.stringify({ service, entries } satisfies Pending))
  }

  /** Returns the write that a killed run announced and did not note; null: none. */
  intended(): Promise<Pending | null> {
    return readJson<Pending>(join(this.folder, 'pending.json'))
  }

  /** Leaves out records without an id. */
  async note(service: string, noted: readonly (readonly [id: number, entry: Entry | null])[]): Promise<void> {
    const entries = noted.filter(([id]) => id > 0)
    if (entries.length > 0) {
      await this.#journal.appendFile(entries.map((each) => lineOf(service, ...each)).join(''))
      await this.#journal.datasync()
    }
    for (const [id, entry] of entries) this.#take(service, id, entry)
    await rm(join(this.folder, 'pending.json'), { force: true })
  }

  async keep(changed: Partial<State>): Promise<void> {
    this.#state = { ...this.#state, ...changed }
    await this.#replace('state.json', JSON.stringify(this.#state))
  }

  /** The path of a file in the folder. */
  path(name: string): string {
    return join(this.folder, name)
  }

  /** Appends lines to a file in the folder. */
  async append(name: string, lines: readonly object[]): Promise<void> {
    if (lines.length === 0) return
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    await appendFile(this.path(name), text, { mode: FILE_MODE })
  }

  async remove(...names: string[]): Promise<void> {
    for (const name of names) await rm(this.path(name), { force: true })
  }

  async close(): Promise<void> {
    await this.#journal.close()
    await rm(this.path('lock'), { force: true })
    await this.#lock.close()
  }

  #take(service: string, id: number, entry: Entry | null): void {
    const entries = this.#entries.get(service) ?? new Map<number, Entry>()
    this.#entries.set(service, entries)
    if (entry === null) entries.delete(id)
    else entries.set(id, entry)
  }

  /** Reads the journal and rewrites it with one line per record. */
  async #load(): Promise<void> {
    const path = this.path('records.ndjson')
    let lines = 0
    for await (const { content } of readLines(createReadStream(path))) {
      // A kill may have truncated a line; its record is compared again.
      if (!Array.isArray(content)) continue
      const [service, id, there, here, pass] = content as [string, number, string?, string?, number?]
      this.#take(service, id, there === undefined ? null : { there, here: here ?? '', pass: pass ?? 0 })
      lines++
    }
    const entries = [...this.#entries].flatMap(([service, byId]) =>
      Array.from(byId, ([id, entry]) => ({ service, id, entry })),
    )
    // Appending to a truncated line would lose the next one.
    const text = entries.map(({ service, id, entry }) => lineOf(service, id, entry)).join('')
    if (lines === 0 && text === '') return
    await this.#replace('records.ndjson', text)
    await this.#journal.close()
    this.#journal = await open(path, 'a', FILE_MODE)
  }

  #replace(name: string, text: string): Promise<void> {
    return writeWholeFile(this.path(name), async (target) => void target.end(text))
  }
}

/** What tells sources apart: the address without the path of the interface, which it may be written with and without. */
function sourceOf(from: string): string {
  return from.replace(/\/+[^/\s]*webapi(?= by )/, '')
}

function lineOf(service: string, id: number, entry: Entry | null): string {
  const fields = entry === null ? [service, id] : [service, id, entry.there, entry.here, entry.pass]
  return `${JSON.stringify(fields)}\n`
}

/** Locks a folder; takes over the lock of a process that no longer runs. */
async function lockFolder(folder: string): Promise<FileHandle> {
  const path = join(folder, 'lock')
  const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY
  for (;;) {
    try {
      const file = await open(path, flags, FILE_MODE)
      await file.writeFile(String(process.pid))
      return file
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const holder = Number(await readFile(path, 'utf8').catch(() => ''))
    if (holder > 0 && holder !== process.pid && isAlive(holder)) {
      throw new StartupError(`Another npm run migrate (process ${holder}) is at work on this copy, in ${folder}`)
    }
    await rm(path, { force: true })
  }
}

async function readJson<T>(path: string): Promise<T | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  try {
    return JSON.parse(text) as T
  } catch {
    throw new StartupError(`${path} is damaged. Remove its folder to begin the copy anew`)
  }
}
