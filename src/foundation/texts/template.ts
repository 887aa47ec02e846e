// What a template says, found in its source: the text of an element with the elements of a line in it (`<a>`, `<strong>`), and
// attributes that people read. What is printed stands in the message as `{1}`, elements as tags without attributes.

/** A message of a template, and where it stands. */
export interface TemplateMessage {
  /** Such as `Paid by <strong>{1}</strong>.`. White space counts as one blank. */
  readonly message: string
  readonly start: number
  readonly end: number
  /** The source of what stands between braces and of each tag, by how it is written in the message. */
  readonly parts: ReadonlyMap<string, string>
}

interface Piece {
  readonly kind: 'text' | 'output' | 'open' | 'close' | 'break'
  readonly start: number
  readonly end: number
  readonly name: string
}

const READ_ATTRIBUTES = new Set('alt aria-description aria-label data-label data-link placeholder title'.split(' '))
const LINE_ELEMENTS = new Set(
  'a abbr b bdi cite del dfn em i ins mark q s small span strong sub sup time u var'.split(' '),
)
/** In a sentence one of these is a name that is the same in all languages. */
const CODE_ELEMENTS = new Set(['code', 'kbd', 'samp'])
const SILENT_ELEMENTS = new Set(['pre', 'script', 'style', 'svg', 'textarea'])

/** Returns the messages of a template in the order of the source. Throws for a read attribute with a condition in it. */
export function messagesOf(source: string): TemplateMessage[] {
  const { pieces, attributes } = piecesOf(source)
  const found = [...attributes.flatMap((range) => attributeMessage(source, range)), ...inRun(source, pieces)]
  return found.sort((one, other) => one.start - other.start)
}

/** Returns the template with each message as `translate` says it. Null: it stays. */
export function translateTemplate(source: string, translate: (message: string) => string | null): string {
  let translated = ''
  let from = 0
  for (const { message, start, end, parts } of messagesOf(source)) {
    // An attribute of an element in a sentence is translated with the sentence's part.
    const said = start < from ? null : translate(message)
    if (said === null) continue
    const filled = said.replace(/\{\d+\}|<\/?[a-z]+\d*>/g, (mark) => withAttributes(parts.get(mark) ?? '', translate))
    translated += source.slice(from, start) + filled
    from = end
  }
  return translated + source.slice(from)
}

/** The source of a tag, with its attributes translated too. */
function withAttributes(tag: string, translate: (message: string) => string | null): string {
  return /^<[a-z]/.test(tag) ? translateTemplate(tag, translate) : tag
}

/** Splits a template at its tags, with the values of the attributes that people read. */
function piecesOf(source: string): { pieces: Piece[]; attributes: (readonly [number, number])[] } {
  const pieces: Piece[] = []
  const attributes: (readonly [number, number])[] = []
  const token = /<%[-_]?([=~]?)[\s\S]*?%>|<!--[\s\S]*?-->|<(\/?)([a-zA-Z][\w-]*)|<!/g
  let textFrom = 0
  const add = (kind: Piece['kind'], start: number, end: number, name = '') => {
    if (start > textFrom) pieces.push({ kind: 'text', start: textFrom, end: start, name: '' })
    pieces.push({ kind, start, end, name })
    textFrom = end
    token.lastIndex = end
  }
  for (let found = token.exec(source); found !== null; found = token.exec(source)) {
    const [whole, printed = '', slash = '', name = ''] = found
    const start = found.index
    if (whole.startsWith('<%')) {
      const isOutput = printed !== '' && !/^<%[-_]?~\s*include\(/.test(whole)
      add(isOutput ? 'output' : 'break', start, start + whole.length)
    } else if (name === '') {
      add('break', start, whole.startsWith('<!--') ? start + whole.length : source.indexOf('>', start) + 1)
    } else {
      const { end, values } = tagEnd(source, start + whole.length)
      const isOpen = slash === ''
      attributes.push(...values)
      const closing = isOpen && (SILENT_ELEMENTS.has(name) || CODE_ELEMENTS.has(name)) ? `</${name}>` : ''
      const closed = closing === '' ? -1 : source.indexOf(closing, end)
      if (closed !== -1) add(CODE_ELEMENTS.has(name) ? 'output' : 'break', start, closed + closing.length)
      else if (LINE_ELEMENTS.has(name)) add(isOpen ? 'open' : 'close', start, end, name)
      else add('break', start, end)
    }
  }
  if (source.length > textFrom) pieces.push({ kind: 'text', start: textFrom, end: source.length, name: '' })
  return { pieces, attributes }
}

/** Where a tag ends, behind its `>`, and where the values of its read attributes stand. */
function tagEnd(source: string, from: number): { end: number; values: (readonly [number, number])[] } {
  const values: (readonly [number, number])[] = []
  const token = /<%[\s\S]*?%>|([\w:-]+)="((?:<%[\s\S]*?%>|[^"])*)"|>/g
  token.lastIndex = from
  for (let found = token.exec(source); found !== null; found = token.exec(source)) {
    const [whole, name, value = ''] = found
    if (whole === '>') return { end: token.lastIndex, values }
    if (name !== undefined && READ_ATTRIBUTES.has(name)) {
      values.push([token.lastIndex - 1 - value.length, token.lastIndex - 1])
    }
  }
  return { end: source.length, values }
}

function attributeMessage(source: string, [start, end]: readonly [number, number]): TemplateMessage[] {
  const pieces: Piece[] = []
  const output = /<%[-_]?([=~]?)[\s\S]*?%>/g
  output.lastIndex = start
  let from = start
  for (let found = output.exec(source); found !== null && found.index < end; found = output.exec(source)) {
    if (found.index > from) pieces.push({ kind: 'text', start: from, end: found.index, name: '' })
    from = output.lastIndex
    pieces.push({ kind: found[1] === '' ? 'break' : 'output', start: found.index, end: from, name: '' })
  }
  if (end > from) pieces.push({ kind: 'text', start: from, end, name: '' })
  const isRead = pieces.some((piece) => hasLetters(source, piece))
  if (isRead && pieces.some(({ kind }) => kind === 'break')) {
    throw new Error(`Print the attribute as one text: ${source.slice(start, end)}`)
  }
  return isRead ? [messageOf(source, pieces)] : []
}

/** The messages between two tags of blocks, conditions or loops. */
function inRun(source: string, pieces: readonly Piece[]): TemplateMessage[] {
  const partner = partnersOf(pieces)
  const messages: TemplateMessage[] = []
  let run: Piece[] = []
  const end = () => {
    messages.push(...inSentence(source, run))
    run = []
  }
  for (const [at, piece] of pieces.entries()) {
    const isLoose = (piece.kind === 'open' || piece.kind === 'close') && !partner.has(at)
    if (piece.kind === 'break' || isLoose) end()
    else run.push(piece)
  }
  end()
  return messages
}

/** The places of tags and of those that close them, where nothing breaks the sentence between. */
function partnersOf(pieces: readonly Piece[]): ReadonlyMap<number, number> {
  const partners = new Map<number, number>()
  let open: number[] = []
  for (const [at, { kind, name }] of pieces.entries()) {
    if (kind === 'break') open = []
    else if (kind === 'open') open.push(at)
    else if (kind === 'close') {
      const opened = open.pop()
      if (opened === undefined || pieces[opened]?.name !== name) open = []
      else partners.set(opened, at).set(at, opened)
    }
  }
  return partners
}

/** A run with text of its own is one message; else each element in it is looked at alone. */
function inSentence(source: string, run: readonly Piece[]): TemplateMessage[] {
  const partner = partnersOf(run)
  const elements: Piece[][] = []
  let isOwn = false
  for (let at = 0; at < run.length; at++) {
    const piece = run[at]
    if (piece === undefined) break
    if (piece.kind === 'text') isOwn ||= hasLetters(source, piece)
    if (piece.kind !== 'open') continue
    const close = partner.get(at) ?? at
    elements.push(run.slice(at + 1, close))
    at = close
  }
  if (!isOwn) return elements.flatMap((inner) => inSentence(source, inner))
  const isBlank = (piece: Piece | undefined) =>
    piece?.kind === 'text' && source.slice(piece.start, piece.end).trim() === ''
  const from = isBlank(run[0]) ? 1 : 0
  return [messageOf(source, run.slice(from, isBlank(run.at(-1)) ? -1 : undefined))]
}

function messageOf(source: string, pieces: readonly Piece[]): TemplateMessage {
  const parts = new Map<string, string>()
  const opened: string[] = []
  let outputs = 0
  const counts = new Map<string, number>()
  const mark = ({ kind, name, start, end }: Piece): string => {
    const own = source.slice(start, end)
    if (kind === 'text') return own.replace(/\s+/g, ' ')
    let written = `{${outputs + 1}}`
    if (kind === 'output') outputs += 1
    else if (kind === 'open') {
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      opened.push(count === 1 ? name : `${name}${count}`)
      written = `<${opened.at(-1)}>`
    } else written = `</${opened.pop()}>`
    parts.set(written, own)
    return written
  }
  const whole = pieces.map(mark).join('')
  const first = pieces[0]?.start ?? 0
  const last = pieces.at(-1)?.end ?? 0
  const own = source.slice(first, last)
  const start = first + (own.length - own.trimStart().length)
  const end = last - (own.length - own.trimEnd().length)
  return { message: whole.trim(), start, end, parts }
}

function hasLetters(source: string, { kind, start, end }: Piece): boolean {
  return kind === 'text' && /\p{L}/u.test(source.slice(start, end).replace(/&\w+;/g, ''))
}
