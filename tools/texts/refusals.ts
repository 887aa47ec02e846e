import {
  type ArrayLiteralExpression,
  type CallExpression,
  type Expression,
  isArrayBindingPattern,
  isArrayLiteralExpression,
  isArrowFunction,
  isAsExpression,
  isAwaitExpression,
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isConditionalExpression,
  isConstructorDeclaration,
  isElementAccessExpression,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isMethodDeclaration,
  isNewExpression,
  isNonNullExpression,
  isNoSubstitutionTemplateLiteral,
  isNumericLiteral,
  isObjectLiteralExpression,
  isParameterDeclaration,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isPropertyDeclaration,
  isPropertySignatureDeclaration,
  isReturnStatement,
  isSatisfiesExpression,
  isShorthandPropertyAssignment,
  isSpreadElement,
  isStringLiteral,
  isTemplateExpression,
  isVariableDeclaration,
  type NewExpression,
  type Node,
  type ParameterDeclaration,
  SyntaxKind,
} from 'typescript-compiler/unstable/ast'
import { API, type Project, SymbolFlags, TypeFlags } from 'typescript-compiler/unstable/sync'
import { errorCodes } from '../../src/foundation/values/failure.ts'
import { resources } from '../../src/shop/registry.ts'
import { administrationPrivileges } from '../../src/shop/staff/roles.ts'

// Finds what the server says of what it refuses: the texts that reach a StoreFailure, the problem of a field or a check of zod, followed
// back through constants, conditions, functions and their callers.

/** Modules whose refusals only programs and operators of a command line get. */
const ELSEWHERE =
  /\/src\/(http\/soap|cli|http\/rest|access\/audit|access\/people\/audit|foundation\/process\/(?!bytes)|http\/oauth\/(?!authorize|parameters)|foundation\/database\/(?!outage|pool|health)|http\/server\/(figures|json\/problem|requests\/(limits|setting))|http\/reference|foundation\/embedded|operations\/installation|foundation\/xml|engine\/transfer|http\/operator\/transfer)/
/** Of more than these, a value stays a value, and its texts are messages of their own. */
const ALTERNATIVES_MAX = 6
/** The same of single words, of which more are names. */
const WORDS_MAX = 3

/** A text: what it says as it stands, and for each value whether it is a number. */
type Pieces = readonly (string | { readonly isNumber: boolean })[]

const VALUE: Pieces = [{ isNumber: false }]
const NUMBER: Pieces = [{ isNumber: true }]

let known: ReadonlySet<string> | undefined

/** Returns what the server says of what it refuses, in English, with `{1}` for each value. */
export function refusals(): ReadonlySet<string> {
  known ??= findRefusals()
  return known
}

/** Values of messages that are words, not data: what records are called, and what stands between them. */
const VALUES = [
  ...resources.map(({ typeName }) => typeName),
  ...Object.values(administrationPrivileges).map(({ key }) => key),
  'Webhook',
  'Delivery',
  'Add',
  'Choose',
  'read',
  'write',
  'none',
  '{1} or {2}',
  '{1} and {2}',
]

function findRefusals(): ReadonlySet<string> {
  const api = new API({ cwd: new URL('../../', import.meta.url).pathname })
  try {
    const [project] = api.updateSnapshot({ openProjects: ['tsconfig.json'] }).getProjects()
    if (project === undefined) throw new Error('tsconfig.json opens no project')
    return new Set([...VALUES, ...new Finder(project).find()])
  } finally {
    api.close()
  }
}

type Call = CallExpression | NewExpression

class Finder {
  readonly #project: Project
  readonly #calls = new Map<string, Call[]>()
  /** What is said there, or what notes it. */
  readonly #seeds: (Node | undefined | (() => void))[] = []
  readonly #properties = new Map<string, Node[]>()
  readonly #followed = new Set<string>()
  readonly #found = new Set<string>()
  /** The fields that refusals name. */
  readonly #fields = new Set<string>()

  constructor(project: Project) {
    this.#project = project
  }

  find(): ReadonlySet<string> {
    const { program } = this.#project
    const files = program
      .getSourceFileNames()
      .filter((file) => /\/src\//.test(file) && !/node_modules|generated|clients/.test(file))
    for (const file of files) {
      const source = program.getSourceFile(file)
      if (source !== undefined) this.#index(source)
    }
    for (const property of this.#properties.get('field') ?? []) {
      const field = initializerOf(property)
      if (field !== undefined && isStringLiteral(field)) this.#fields.add(field.text)
    }
    for (const [name, calls] of this.#calls) for (const call of calls) if (!isElsewhere(call)) this.#ofCall(name, call)
    for (const seed of this.#seeds) {
      if (typeof seed === 'function') seed()
      else this.#message(seed)
    }
    for (const property of this.#properties.get('problem') ?? [])
      if (!isElsewhere(property)) this.#message(initializerOf(property))
    return this.#found
  }

  #index(node: Node): void {
    if (isCallExpression(node) || isNewExpression(node)) add(this.#calls, nameOf(node.expression), node)
    else if (isPropertyAssignment(node) || isShorthandPropertyAssignment(node) || isMethodDeclaration(node)) {
      add(this.#properties, textOf(node.name), node)
    }
    if (!isElsewhere(node)) this.#seed(node)
    node.forEachChild((child) => {
      this.#index(child)
    })
  }

  /** Notes where refusals are by how they are made or what they are called. */
  #seed(node: Node): void {
    if (isArrayLiteralExpression(node)) this.#ofTuple(node)
    else if (isParameterDeclaration(node) && isSaid(node)) this.#seeds.push(() => this.#callers(node))
    else if (
      isFunctionDeclaration(node) &&
      (isIn(node, WITH_REASONS) ? /problem|fault|reason/i : /problem|fault/i).test(textOf(node.name))
    )
      this.#seeds.push(node)
    else if (isVariableDeclaration(node) && isSaid(node)) this.#seeds.push(node.initializer)
    else if (isPropertyAssignment(node) && isIn(node, WITH_REASONS) && /^(reason|question)$/.test(textOf(node.name))) {
      this.#seeds.push(node.initializer)
    }
  }

  /** `['not-unique', 'Already there', …]`: what a StoreFailure is made of. Of a file, the column, what it has, and what is wrong. */
  #ofTuple(tuple: ArrayLiteralExpression): void {
    const [kind, message, problem, mark] = tuple.elements
    if (kind === undefined || message === undefined) return
    if (isIn(tuple, WITH_MARKS) && isSpreadElement(kind) && /^(change|difference)$/.test(nameOf(kind.expression))) {
      this.#seeds.push(message)
    }
    if (isIn(tuple, /\/src\/shop\/csv\//)) this.#seeds.push(mark ?? problem)
    if (!isStringLiteral(kind) || !CODES.has(kind.text) || (isStringLiteral(message) && CODES.has(message.text))) return
    this.#seeds.push(message)
  }

  #ofCall(name: string, call: Call): void {
    const given = [...(call.arguments ?? [])]
    if (isNewExpression(call)) {
      if (name === 'StoreFailure' || name === 'OAuthRefusal') this.#message(given[1])
      if (name === 'OutboundFailure') this.#message(given[0])
      return
    }
    if (call.expression.kind === SyntaxKind.SuperKeyword) {
      const [kind, message] = given
      if (kind !== undefined && isStringLiteral(kind) && CODES.has(kind.text)) this.#message(message)
    }
    if (ofZod.has(name)) this.#ofZod(name, call, given)
  }

  #ofZod(name: string, call: CallExpression, given: readonly Expression[]): void {
    const at = ofZod.get(name) ?? 0
    const params = given[at === -1 ? given.length - 1 : at]
    if (params === undefined || isNumericLiteral(params)) return
    const declaration = this.#project.checker.getResolvedSignature(call)?.declaration
    if (declaration === undefined || !declaration.path.includes('node_modules/zod')) return
    if (!isObjectLiteralExpression(params)) {
      this.#message(params)
      return
    }
    for (const property of params.properties) {
      if (/^(error|message)$/.test(textOf((property as { name?: Node }).name))) this.#message(initializerOf(property))
    }
  }

  /** Notes the messages that an expression may be. */
  #message(expression: Node | undefined): void {
    if (expression === undefined) return
    const key = keyOf(expression)
    if (this.#followed.has(key)) return
    this.#followed.add(key)
    for (const pieces of this.#textsOf(expression, 0)) this.#note(pieces)
  }

  #note(pieces: Pieces): void {
    const message = written(pieces, this.#fields)
    if (isMessage(message)) this.#found.add(message)
  }

  #textsOf(node: Node | undefined, depth: number): Pieces[] {
    if (node === undefined || depth > 12) return [VALUE]
    if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return [[node.text]]
    if (isTemplateExpression(node)) {
      const spans = node.templateSpans.flatMap(({ expression, literal }) => [
        this.#partsOf(expression, depth),
        [[literal.text]],
      ])
      return product([[[node.head.text]], ...spans])
    }
    if (isConditionalExpression(node))
      return [...this.#textsOf(node.whenTrue, depth), ...this.#textsOf(node.whenFalse, depth)]
    if (isBinaryExpression(node)) {
      const { left, right, operatorToken } = node
      if (operatorToken.kind === SyntaxKind.PlusToken)
        return product([this.#partsOf(left, depth), this.#partsOf(right, depth)])
      if (operatorToken.kind === SyntaxKind.AmpersandAmpersandToken) return this.#textsOf(right, depth)
      return [...this.#textsOf(left, depth), ...this.#textsOf(right, depth)]
    }
    if (
      isParenthesizedExpression(node) ||
      isSpreadElement(node) ||
      isAsExpression(node) ||
      isSatisfiesExpression(node) ||
      isNonNullExpression(node) ||
      isAwaitExpression(node)
    )
      return this.#textsOf(node.expression, depth)
    if (isArrowFunction(node) || isFunctionExpression(node) || isFunctionDeclaration(node))
      return this.#returned(node, depth)
    if (isObjectLiteralExpression(node)) {
      const properties = node.properties.filter((each) => !isMethodDeclaration(each))
      return properties.flatMap((each) => this.#textsOf(initializerOf(each), depth + 1))
    }
    if (isArrayLiteralExpression(node)) return node.elements.flatMap((each) => this.#textsOf(each, depth + 1))
    if (isIdentifier(node)) return node.text === 'undefined' ? [] : this.#ofSymbol(node, depth)
    if (isPropertyAccessExpression(node)) return this.#ofSymbol(node.name, depth)
    if (isElementAccessExpression(node)) return this.#textsOf(node.expression, depth)
    if (isCallExpression(node)) return this.#ofResult(node, depth)
    return [VALUE]
  }

  /** The same of a part of a longer text: a value if it may be much. */
  #partsOf(node: Node, depth: number): Pieces[] {
    const texts = unique(this.#textsOf(node, depth + 1))
    if (isInline(texts)) return texts
    for (const pieces of texts) this.#note(pieces)
    const empty = texts.filter((pieces) => pieces.every((piece) => piece === ''))
    return [this.#isNumber(node) ? NUMBER : VALUE, ...empty]
  }

  #isNumber(node: Node): boolean {
    const type = this.#project.checker.getTypeAtLocation(node)
    return type !== undefined && (type.flags & TypeFlags.NumberLike) !== 0
  }

  #ofSymbol(name: Node, depth: number): Pieces[] {
    const { checker } = this.#project
    const symbol = isShorthand(name.parent)
      ? checker.getShorthandAssignmentValueSymbol(name.parent)
      : checker.getSymbolAtLocation(name)
    if (symbol === undefined) return [VALUE]
    const real = symbol.flags & ALIAS ? checker.getAliasedSymbol(symbol) : symbol
    const texts = real.declarations.flatMap((handle) =>
      isOurs(handle) ? this.#ofDeclaration(handle.resolve(), depth + 1) : [VALUE],
    )
    return texts.length === 0 ? [VALUE] : texts
  }

  #ofDeclaration(node: Node | undefined, depth: number): Pieces[] {
    if (node === undefined) return [VALUE]
    if (isVariableDeclaration(node)) {
      const { initializer } = node
      if (initializer === undefined) return this.#assigned(node)
      return isNumericLiteral(initializer) ? [VALUE] : this.#textsOf(initializer, depth)
    }
    if (isParameterDeclaration(node)) {
      if (this.#isNumber(node)) return [NUMBER]
      this.#callers(node)
      return node.initializer === undefined ? [VALUE] : [VALUE, ...this.#textsOf(node.initializer, depth)]
    }
    if (isBindingElement(node)) return this.#ofBinding(node, depth)
    if (isPropertyAssignment(node)) return this.#textsOf(node.initializer, depth)
    if (isShorthandPropertyAssignment(node)) return this.#ofSymbol(node.name, depth)
    if (isPropertySignatureDeclaration(node) || isPropertyDeclaration(node)) {
      if (this.#isNumber(node)) return [NUMBER]
      this.#membersOf(node)
      return [VALUE]
    }
    if (isFunctionDeclaration(node) || isMethodDeclaration(node)) return this.#returned(node, depth)
    return [VALUE]
  }

  #ofBinding(node: Node & { propertyName?: Node; name?: Node; initializer?: Node }, depth: number): Pieces[] {
    const { checker } = this.#project
    const pattern = node.parent
    if (isArrayBindingPattern(pattern)) {
      return isVariableDeclaration(pattern.parent) ? this.#textsOf(pattern.parent.initializer, depth) : [VALUE]
    }
    const name = textOf(node.propertyName ?? node.name)
    const type = checker.getTypeAtLocation(pattern)
    const property = type && checker.getPropertyOfType(checker.getNonNullableType(type) ?? type, name)
    const ofDefault = node.initializer === undefined ? [] : this.#textsOf(node.initializer, depth)
    for (const handle of property?.declarations ?? []) {
      const declaration = isOurs(handle) ? handle.resolve() : undefined
      if (declaration !== undefined) return [...ofDefault, ...this.#ofDeclaration(declaration, depth + 1)]
    }
    return [VALUE, ...ofDefault]
  }

  /** What a `let` is set to. */
  #assigned(declaration: Node & { name: Node }): Pieces[] {
    const texts: Pieces[] = [VALUE]
    const name = textOf(declaration.name)
    const visit = (node: Node): void => {
      if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.EqualsToken) {
        if (isIdentifier(node.left) && node.left.text === name) this.#message(node.right)
      }
      node.forEachChild((child) => {
        visit(child)
      })
    }
    visit(declaration.getSourceFile())
    return texts
  }

  /** Notes what the callers of a function give for the parameter. */
  #callers(parameter: ParameterDeclaration): void {
    const key = `callers ${keyOf(parameter)}`
    if (this.#followed.has(key)) return
    this.#followed.add(key)
    const made = parameter.parent as Node & { parameters: readonly Node[]; name?: Node }
    const place = made.parameters.findIndex((each) => keyOf(each) === keyOf(parameter))
    const around = made.parent
    // A callback of a list.
    if (isCallExpression(around) && isPropertyAccessExpression(around.expression)) {
      this.#message(around.expression.expression)
      return
    }
    for (const call of this.#callsOf(made)) {
      if (isElsewhere(call)) continue
      const given = [...(call.arguments ?? [])]
      if (given.some(isSpreadElement)) continue
      const argument = given[place]
      if (argument !== undefined) this.#message(argument)
    }
  }

  #callsOf(made: Node & { name?: Node }): Call[] {
    const named = isArrowFunction(made) || isFunctionExpression(made) ? (made.parent as { name?: Node }) : made
    const ofClass = isConstructorDeclaration(made) ? (made.parent as { name?: Node }) : named
    const name = textOf(ofClass.name)
    if (name === '') return []
    const target = keyOf(ofClass as Node)
    return (this.#calls.get(name) ?? []).filter((call) => this.#declares(call.expression, target))
  }

  #declares(callee: Node, target: string): boolean {
    const { checker } = this.#project
    const symbol = checker.getSymbolAtLocation(isPropertyAccessExpression(callee) ? callee.name : callee)
    if (symbol === undefined) return false
    const real = symbol.flags & ALIAS ? checker.getAliasedSymbol(symbol) : symbol
    return real.declarations.some((handle) => isOurs(handle) && keyOf(handle.resolve() as Node) === target)
  }

  /** Notes what objects have in a member of a type. */
  #membersOf(declaration: Node & { name: Node }): void {
    const key = `members ${keyOf(declaration)}`
    const name = textOf(declaration.name)
    if (this.#followed.has(key) || isElsewhere(declaration) || DATA.has(name)) return
    this.#followed.add(key)
    for (const property of this.#properties.get(name) ?? []) {
      if (isElsewhere(property) || !this.#declarationsOf(property, name).has(keyOf(declaration))) continue
      this.#message(isMethodDeclaration(property) ? property : initializerOf(property))
    }
  }

  /** The declarations of the member that a property of an object is of. */
  #declarationsOf(property: Node, name: string): ReadonlySet<string> {
    const key = keyOf(property)
    const known = this.#declarations.get(key)
    if (known !== undefined) return known
    const { checker } = this.#project
    const type = isObjectLiteralExpression(property.parent) ? checker.getContextualType(property.parent) : undefined
    const symbol = type && checker.getPropertyOfType(checker.getNonNullableType(type) ?? type, name)
    const handles = (symbol?.declarations ?? []).filter(isOurs)
    const made = new Set(handles.flatMap((handle) => handle.resolve() ?? []).map(keyOf))
    this.#declarations.set(key, made)
    return made
  }

  readonly #declarations = new Map<string, ReadonlySet<string>>()

  #ofResult(call: CallExpression, depth: number): Pieces[] {
    const { expression } = call
    if (isPropertyAccessExpression(expression)) {
      const method = expression.name.text
      // `Map.get`, and what is found in a list.
      if (['get', 'find', 'at'].includes(method)) return this.#textsOf(expression.expression, depth + 1)
      if (['map', 'flatMap'].includes(method)) return call.arguments.flatMap((each) => this.#textsOf(each, depth + 1))
      if (['slice', 'trim', 'replace', 'toString', 'join', 'filter', 'toWellFormed', 'replaceAll'].includes(method))
        return [VALUE]
      return this.#ofSymbol(expression.name, depth)
    }
    if (isElementAccessExpression(expression)) return this.#textsOf(expression.expression, depth)
    return isIdentifier(expression) ? this.#ofSymbol(expression, depth) : [VALUE]
  }

  #returned(made: Node & { body?: Node | undefined }, depth: number): Pieces[] {
    const { body } = made
    if (body === undefined) return [VALUE]
    const key = `returned ${keyOf(made)}`
    if (this.#returning.has(key)) return [VALUE]
    this.#returning.add(key)
    const results: Node[] = []
    if (body.kind !== SyntaxKind.Block) results.push(body)
    const visit = (node: Node): void => {
      if (isArrowFunction(node) || isFunctionExpression(node) || isFunctionDeclaration(node)) return
      if (isReturnStatement(node) && node.expression !== undefined) results.push(node.expression)
      node.forEachChild((child) => {
        visit(child)
      })
    }
    if (body.kind === SyntaxKind.Block) visit(body)
    const texts = results.flatMap((each) => this.#textsOf(each, depth + 1))
    this.#returning.delete(key)
    return texts
  }

  readonly #returning = new Set<string>()
}

const ALIAS = SymbolFlags.Alias

/** Members whose texts are names of things, not messages. */
const DATA: ReadonlySet<string> = new Set(['email', 'field', 'id', 'key', 'label', 'name', 'path', 'storeId', 'typed'])

/** The import of files, which keeps why columns are left out, and notifications, which keep why they did not arrive. */
/** Changes of many records, which mark what somebody should look at. */
const WITH_MARKS = /\/src\/http\/pages\/shop\/(orders|products)\/bulk\.ts/
const WITH_REASONS =
  /\/src\/(shop\/csv|access\/mail|foundation\/outbound|shop\/webhooks|shop\/pictures|shop\/resources\/(order-mails|.*\/former-file))/

const CODES: ReadonlySet<string> = new Set(errorCodes)

/** The functions of zod that take a message, and the place of it; -1: the last. */
const ofZod: ReadonlyMap<string, number> = new Map([
  ...['string', 'number', 'int', 'int32', 'boolean', 'null', 'nonnegative', 'positive', 'date', 'trim'].map(
    (name) => [name, 0] as const,
  ),
  ...[
    'min',
    'max',
    'length',
    'regex',
    'refine',
    'union',
    'literal',
    'enum',
    'array',
    'object',
    'strictObject',
    'record',
    'multipleOf',
    'custom',
    'check',
    'startsWith',
    'gt',
    'gte',
    'lt',
    'lte',
    'maxLength',
    'minLength',
  ].map((name) => [name, 1] as const),
  ...['discriminatedUnion', 'superRefine', 'addIssue', 'tuple'].map((name) => [name, -1] as const),
])

function isElsewhere(node: Node): boolean {
  return isIn(node, ELSEWHERE)
}

function isOurs({ path }: { readonly path: string }): boolean {
  return path.includes('/src/') && !path.includes('/node_modules/')
}

/** Whether it is called a refusal, is the message of an error page, or says what is ignored of a file. */
function isSaid(node: Node & { readonly name: Node }): boolean {
  const name = textOf(node.name)
  return (
    /^(problem|fault|refusal)$/.test(name) ||
    (name === 'message' && isIn(node, /\/src\/(http\/html|http\/server\/requests\/errors)/)) ||
    (name === 'ignored' && isIn(node, WITH_REASONS))
  )
}

function isIn(node: Node, files: RegExp): boolean {
  return files.test(node.getSourceFile().fileName)
}

function textOf(name: Node | undefined): string {
  return (name as { text?: string } | undefined)?.text ?? ''
}

function isShorthand(node: Node): boolean {
  return isShorthandPropertyAssignment(node)
}

function initializerOf(property: Node): Node | undefined {
  if (isPropertyAssignment(property)) return property.initializer
  if (isShorthandPropertyAssignment(property)) return property.name
  return undefined
}

function nameOf(callee: Node): string {
  if (isIdentifier(callee)) return callee.text
  return isPropertyAccessExpression(callee) ? callee.name.text : ''
}

function add<T>(lists: Map<string, T[]>, name: string, item: T): void {
  const list = lists.get(name)
  if (list === undefined) lists.set(name, [item])
  else list.push(item)
}

function keyOf(node: Node): string {
  return `${node.getSourceFile().fileName} ${node.pos} ${node.end}`
}

function unique(texts: readonly Pieces[]): Pieces[] {
  return [...new Map(texts.map((pieces) => [JSON.stringify(pieces), pieces])).values()]
}

function product(parts: readonly Pieces[][]): Pieces[] {
  return parts.reduce<Pieces[]>(
    (all, part) => all.flatMap((before) => part.map((after) => [...before, ...after])),
    [[]],
  )
}

/** Whether a part of a text is written out in it, each of its alternatives in a message of its own. */
function isInline(texts: readonly Pieces[]): boolean {
  if (texts.length > ALTERNATIVES_MAX) return false
  const isEach = (has: (pieces: Pieces) => boolean) => texts.every(has)
  const isFixed = (pieces: Pieces) => pieces.every((piece) => typeof piece === 'string')
  const isPath = (pieces: Pieces) => String(pieces[0]).startsWith('/')
  if (isEach((pieces) => isFixed(pieces) && !isPath(pieces)) && texts.length <= WORDS_MAX) return true
  const isWordy = (pieces: Pieces) => pieces.some((piece) => typeof piece === 'string' && piece.includes(' '))
  const isBare = (pieces: Pieces) => pieces.every((piece) => piece === '' || typeof piece === 'object')
  return texts.some(isWordy) && isEach((pieces) => isWordy(pieces) || isBare(pieces))
}

/** Writes a message, with a number for each value; values beside each other are one. Without the field at its beginning, of which it is. */
function written(pieces: Pieces, fields: ReadonlySet<string>): string {
  const [first] = pieces.filter((piece) => piece !== '')
  const isOfNumber = typeof first === 'object' && first.isNumber
  let text = ''
  for (const piece of pieces)
    if (typeof piece === 'string' || !text.endsWith(MARK)) text += typeof piece === 'string' ? piece : MARK
  const [, field = '', problem = ''] = /^(\S+) ([a-z\0].*)$/s.exec(text) ?? []
  const isField = field !== '' && (fields.has(field) || (!isOfNumber && /^[\w.[\]\0]*\0[\w.[\]\0]*$/.test(field)))
  let count = 0
  return (isField && VERB.test(problem) ? problem : text).replaceAll(MARK, () => `{${++count}}`)
}

const MARK = '\0'
/** How a problem of a field begins. */
const VERB =
  /^(is|are|was|were|has|have|must|may|can|cannot|does|do|would|names?|needs|holds?|fits|makes|means|begins|asks|adds|amounts|refers|leaves|filters|belongs) /

/** Whether it is a sentence, and neither a name nor an address. */
function isMessage(text: string): boolean {
  const words = text.replace(/\{\d\}/g, '')
  return (
    /\S \S| \S|\S /.test(words) &&
    !/ {2}| [,;]|""| $/.test(text) &&
    /(^|[\s(“"])[a-z]{2}/.test(words) &&
    !/^((\{1\})?\/|(code|response|grant|client|redirect)_)/.test(text)
  )
}
