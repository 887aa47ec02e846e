// Reads JSON from callers: counts before it builds, and pauses between pieces.

import { StoreFailure } from './failure.ts'
import { parseExactly } from './long-number.ts'
import { PIECE_LENGTH, runInSlices, type Steps } from './slices.ts'

export const jsonBounds = {
  /** Values of one record: members and items at all depths. The records are the items of a list, or the whole document. */
  recordValuesMax: 40_000,
  /** Values of the whole document. */
  valuesMax: 500_000,
}

/** Nested objects and lists; a record needs four levels. */
const DEPTH_MAX = 32
/** Members of one object; a product has 116. */
const MEMBERS_MAX = 1_000

/**
 * Parses JSON by `parseExactly`, in slices. Throws a 400 for a document beyond the bounds, before anything is
 * built, and for a syntax error with its position. `subject` begins the messages, such as `The body`.
 */
export function parseJson(text: string, subject: string, bounds = jsonBounds): Promise<unknown> {
  return runInSlices(jsonSteps(text, subject, bounds))
}

/** The steps of `parseJson`. `pieceLength`: the text that one call of `parseExactly` gets, apart from a long string. */
export function* jsonSteps(
  text: string,
  subject: string,
  bounds = jsonBounds,
  pieceLength = PIECE_PARSED_LENGTH,
): Steps<unknown> {
  yield* boundsSteps(text, subject, bounds)
  try {
    if (text.length <= pieceLength) return parseWhole(text)
    const builder = new Builder(text, pieceLength)
    yield* scan(text, (code, at) => builder.take(code, at))
    return builder.finish()
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
    throw yield* describe(text, error)
  }
}

function parseWhole(text: string): unknown {
  try {
    return parseExactly(text)
  } catch {
    throw new SyntaxProblem(0, '', text.length)
  }
}

const nameStart = /[ \t\r\n]*(?=")/y

/** Calls `repeat` with each name that an object of a valid document has a second time, in whatever case. */
export function* repeatedNames(text: string, repeat: (name: string) => void): Steps<void> {
  /** Names of the open objects; null: a list. */
  const open: (Set<string> | null)[] = []
  yield* scan(text, (code, at) => {
    if (code === CLOSE_LIST || code === CLOSE_OBJECT) return void open.pop()
    if (code !== COMMA) open.push(code === OPEN_OBJECT ? new Set() : null)
    const names = open.at(-1)
    nameStart.lastIndex = at + 1
    if (!names || !nameStart.test(text)) return
    const start = nameStart.lastIndex
    const name: string = JSON.parse(text.slice(start, endOfString(text, start) + 1))
    if (names.has(name.toLowerCase())) repeat(name)
    names.add(name.toLowerCase())
  })
}

/** The value at a path of names; undefined where there is none. */
export function valueIn(object: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, name) => (inner as Record<string, unknown> | null | undefined)?.[name], object)
}

/** Sets the value at a path of names, with objects above it where there are none. */
export function setIn(object: Record<string, unknown>, [name = '', ...inner]: readonly string[], value: unknown): void {
  if (inner.length === 0) object[name] = value
  else {
    object[name] ??= {}
    setIn(object[name] as Record<string, unknown>, inner, value)
  }
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Calls `take` for each bracket, brace and comma outside of strings, whether or not the text is valid. */
function* scan(text: string, take: (code: number, at: number) => void): Steps<void> {
  let pauseAt = PIECE_LENGTH
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COMMA || (code >= OPEN_LIST && code <= CLOSE_OBJECT && isBracket(code))) take(code, at)
    if (at < pauseAt) continue
    pauseAt = at + PIECE_LENGTH
    yield
  }
}

function isBracket(code: number): boolean {
  return code === OPEN_LIST || code === CLOSE_LIST || code === OPEN_OBJECT || code === CLOSE_OBJECT
}

/** The index of the closing quote; the text's length if there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let first = end
    while (text.charCodeAt(first - 1) === BACKSLASH) first--
    if ((end - first) % 2 === 0) return end
  }
  return text.length
}

/**
 * Throws a 400 for a text beyond the bounds, whether or not it is JSON. Counts every container and every comma,
 * which is as many as there are members and items, and one for an empty container.
 */
export function* boundsSteps(text: string, subject: string, bounds = jsonBounds): Steps<void> {
  const { recordValuesMax, valuesMax } = bounds
  const refuse = (problem: string) => new StoreFailure('malformed-body', `${subject} ${problem}`)
  /** Of the open containers: members so far; lists have no bound of their own. */
  const members: number[] = []
  let isList: boolean | null = null
  let values = 0
  let earlier = 0
  yield* scan(text, (code, at) => {
    if (code === CLOSE_LIST || code === CLOSE_OBJECT) return void members.pop()
    if (code === COMMA) {
      const count = (members.pop() ?? 1) + 1
      if (count > MEMBERS_MAX) throw refuse(`has an object with more than ${MEMBERS_MAX} members, at position ${at}`)
      members.push(count)
    } else {
      if (members.length === DEPTH_MAX) throw refuse(`is nested deeper than ${DEPTH_MAX} levels`)
      members.push(code === OPEN_OBJECT ? 1 : Number.NEGATIVE_INFINITY)
      isList ??= code === OPEN_LIST
    }
    if (++values > valuesMax) throw refuse(`has more than ${valuesMax} values`)
    if (isList && members.length === 1) earlier = values
    if (values - earlier <= recordValuesMax) return
    const whose = isList ? 'has a record with' : 'has'
    throw refuse(`${whose} more than ${recordValuesMax} values, at position ${at}`)
  })
}

/** JSON.parse takes a few milliseconds for it, whatever it is. */
const PIECE_PARSED_LENGTH = 32_768

/** An open container. Its members before `from` are in `value`. */
interface Container {
  readonly isList: boolean
  readonly start: number
  from: number
  /** Where the current member begins. */
  memberFrom: number
  /** `from` follows a member, so that a comma must be next. */
  isAfterMember: boolean
  /** Null: no member was parsed yet; the container is a part of a piece. */
  value: unknown[] | Record<string, unknown> | null
  /** The name in the outer container, once that has a value. */
  name: string
}

/** Parses pieces of whole members and puts them together. */
class Builder {
  readonly #text: string
  readonly #pieceLength: number
  readonly #open: Container[] = []
  #root: Container | null = null
  #rootEnd = 0

  constructor(text: string, pieceLength: number) {
    this.#text = text
    this.#pieceLength = pieceLength
  }

  take(code: number, at: number): void {
    // What follows the document, or precedes it, is for JSON.parse to name.
    if (this.#rootEnd > 0 || (this.#open.length === 0 && code !== OPEN_LIST && code !== OPEN_OBJECT)) {
      throw this.#outside()
    }
    if (code === COMMA) this.#takeComma(at)
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      const outer = this.#open.at(-1)
      if (outer?.isAfterMember) throw this.#problem(outer, at)
      const isList = code === OPEN_LIST
      const from = at + 1
      this.#open.push({ isList, start: at, from, memberFrom: from, isAfterMember: false, value: null, name: '' })
    } else this.#takeClose(code, at)
  }

  #takeComma(at: number): void {
    const container = this.#open.at(-1) as Container
    if (container.isAfterMember) {
      this.#requireBlank(container, at)
      container.isAfterMember = false
      container.from = at + 1
    } else if (at - container.from >= this.#pieceLength) {
      this.#enter(this.#open.length - 1)
      this.#parse(container, at)
      container.from = at + 1
    }
    container.memberFrom = at + 1
  }

  #takeClose(code: number, at: number): void {
    const container = this.#open.at(-1) as Container
    if (container.value !== null) {
      if (container.isAfterMember) this.#requireBlank(container, at)
      else this.#parse(container, at)
      if ((code === CLOSE_LIST) !== container.isList) throw this.#problem(container, at)
    }
    this.#open.pop()
    const outer = this.#open.at(-1)
    if (outer === undefined) {
      this.#root = container
      this.#rootEnd = at + 1
    } else if (container.value !== null) {
      put(outer, container.name, container.value)
      outer.from = at + 1
      outer.isAfterMember = true
    }
  }

  /** Gives the container a value, and all around it, which get their members before it. */
  #enter(depth: number): void {
    const container = this.#open[depth] as Container
    if (container.value !== null) return
    container.value = container.isList ? [] : {}
    const outer = this.#open[depth - 1]
    if (outer === undefined) {
      if (!isBlank(this.#text.slice(0, container.start))) throw new SyntaxProblem(0, '', this.#text.length)
      return
    }
    this.#enter(depth - 1)
    if (outer.memberFrom > outer.from) this.#parse(outer, outer.memberFrom - 1)
    outer.from = outer.memberFrom
    const before = this.#text.slice(outer.from, container.start)
    if (outer.isList ? !isBlank(before) : !before.includes('"')) throw this.#problem(outer, container.start + 1)
    if (!outer.isList) container.name = Object.keys(this.#parsed(outer, `{${before}[]}`, container.start + 1))[0] ?? ''
  }

  /** Parses the members from `from` to `end`, of which there must be at least one. */
  #parse(container: Container, end: number): void {
    const piece = this.#text.slice(container.from, end)
    if (isBlank(piece)) throw this.#problem(container, end)
    const members = this.#parsed(container, container.isList ? `[${piece}]` : `{${piece}}`, end)
    for (const name of Object.keys(members)) put(container, name, members[name])
  }

  #parsed(container: Container, piece: string, end: number): Record<string, unknown> {
    try {
      return parseExactly(piece) as Record<string, unknown>
    } catch {
      throw this.#problem(container, end)
    }
  }

  #requireBlank(container: Container, end: number): void {
    if (!isBlank(this.#text.slice(container.from, end))) throw this.#problem(container, end)
  }

  /** The value, once all was taken. */
  finish(): unknown {
    const container = this.#open.at(-1)
    if (container !== undefined) throw this.#problem(container, this.#text.length)
    // A document without a container that is longer than a piece.
    if (!this.#root?.value) return parseWhole(this.#text)
    if (!isBlank(this.#text.slice(this.#rootEnd))) throw this.#outside()
    return this.#root.value
  }

  #outside(): SyntaxProblem {
    const isLong = Boolean(this.#root?.value)
    return new SyntaxProblem(isLong ? this.#rootEnd : 0, isLong ? '[]' : '', this.#text.length)
  }

  /** A problem between `from` of the container, or of one around it that has a value, and the character at `end`. */
  #problem(container: Container, end: number): SyntaxProblem {
    const built = container.value === null ? this.#open.findLast(({ value }) => value !== null) : container
    if (built === undefined) return new SyntaxProblem(0, '', this.#text.length)
    const { isList, from, isAfterMember, start } = built
    const member = isList ? '[]' : `"":[]`
    const before = from === start + 1 ? '' : isAfterMember ? member : `${member},`
    return new SyntaxProblem(from, (isList ? '[' : '{') + before, end + 1)
  }
}

/** JSON has fewer blanks than JavaScript. */
function isBlank(text: string): boolean {
  return /^[ \t\r\n]*$/.test(text)
}

/** Unlike an assignment, JSON.parse makes an own property of any name. */
function put({ value }: Container, name: string, member: unknown): void {
  if (Array.isArray(value)) value.push(member)
  else Object.defineProperty(value, name, { value: member, writable: true, enumerable: true, configurable: true })
}

/** The part of the text that JSON.parse refuses, and what stands for the text before it. */
class SyntaxProblem extends Error {
  readonly from: number
  readonly prefix: string
  readonly to: number

  constructor(from: number, prefix: string, to: number) {
    super('invalid JSON')
    this.from = from
    this.prefix = prefix
    this.to = to
  }
}

const EXCERPT_LENGTH = 40

/** V8's message has the position, or a few characters around it, which the caller sent. */
function* describe(text: string, { from, prefix, to }: SyntaxProblem): Steps<StoreFailure> {
  const message = messageOf(prefix + text.slice(from, to + EXCERPT_LENGTH))
  const earlier = from - prefix.length
  let lines = 0
  let lineStart = 0
  for (let at = 0; at < from; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a || (code === 0x0d && text.charCodeAt(at + 1) !== 0x0a)) {
      lines++
      lineStart = at + 1
    }
    if (at % PIECE_LENGTH === 0) yield
  }
  const moved = message.replace(
    /position (\d+) \(line (\d+) column (\d+)\)/,
    (_all, position, line, column) =>
      `position ${Number(position) + earlier} (line ${Number(line) + lines} column ${
        Number(column) + (line === '1' ? from - lineStart - prefix.length : 0)
      })`,
  )
  return new StoreFailure('malformed-body', `Invalid JSON: "${moved}"`)
}

function messageOf(text: string): string {
  try {
    JSON.parse(text)
    return 'Unexpected token'
  } catch (error) {
    return (error as Error).message
  }
}
