import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

type Node = { readonly [name: string]: unknown }

/** A part of a document, with the JSON pointer to it. References are followed. */
export interface Part {
  readonly pointer: string
  readonly value: Node
}

/** One address of the document, with what each method does there. */
export interface Address {
  /** As the document writes it, such as `/Products/{catalogid}`. */
  readonly path: string
  readonly item: Part
  /** By method, in capitals. */
  readonly operations: ReadonlyMap<string, Part>
}

export interface Found {
  readonly address: Address
  /** The identifiers as they were sent. */
  readonly params: Readonly<Record<string, string>>
}

/** A document that is asked by parts. Its schemas are compiled once, when they are first needed. */
export interface OpenApi {
  readonly addresses: readonly Address[]
  /** The address that a URL of a server names, without regard to case. */
  readonly find: (url: string) => Found | undefined
  /** The member of a member and so on, by their names; undefined where there is none. */
  readonly member: (part: Part | undefined, ...names: readonly string[]) => Part | undefined
  /** A response of the components; throws where there is none of the name. */
  readonly response: (name: string) => Part
  readonly members: (part: Part | undefined) => readonly (readonly [name: string, part: Part])[]
  /** What a schema says against a value; empty: valid. In a part of a value no member is required. */
  readonly faults: (schema: Part, value: unknown, isPart: boolean) => readonly string[]
  /** The same of a text that stands for a value of the schema's type, as in headers and addresses. */
  readonly textFaults: (schema: Part, text: string) => readonly string[]
}

const methods = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE']

/** Reads an OpenAPI 3.1 document. Throws for a reference to nothing, and later for a schema that is none. */
export function readOpenApi(document: object): OpenApi {
  const root = document as Node
  const whole = once(() => compiler(root, { coerceTypes: false }))
  const part = once(() => compiler(withoutRequired(root) as Node, { coerceTypes: false }))
  const text = once(() => compiler(root, { coerceTypes: true }))
  const member = (part: Part | undefined, ...names: readonly string[]): Part | undefined =>
    names.reduce<Part | undefined>((within, name) => memberOf(root, within, name), part)
  const members = (part: Part | undefined) =>
    Object.keys(part?.value ?? {}).map((name) => [name, member(part, name) as Part] as const)
  const paths = members(memberOf(root, { pointer: '', value: root }, 'paths'))
  const addresses = paths.map(([path, item]) => addressOf(path, item, members(item)))
  return {
    addresses,
    find: finder(addresses, root),
    member,
    members,
    response: (name) => referred(root, `#/components/responses/${name}`),
    faults: (schema, value, isPart) => faultsOf((isPart ? part() : whole())(schema), value),
    textFaults: (schema, value) => faultsOf(text()(schema), value),
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

function memberOf(root: Node, part: Part | undefined, name: string): Part | undefined {
  if (part === undefined || !Object.hasOwn(part.value, name)) return undefined
  const pointer = `${part.pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  const value = part.value[name] as Node
  // With other keywords beside it, it stands in `allOf`.
  const [only] = (value?.allOf ?? []) as readonly Node[]
  const reference = (value?.$ref ?? only?.$ref) as string | undefined
  return reference === undefined ? { pointer, value } : referred(root, reference)
}

function referred(root: Node, reference: string): Part {
  let part: Part | undefined = { pointer: '', value: root }
  for (const name of reference.replace(/^#\//, '').split('/')) {
    part = memberOf(root, part, name.replaceAll('~1', '/').replaceAll('~0', '~'))
  }
  if (part === undefined) throw new Error(`The document refers to nothing: ${reference}`)
  return part
}

function addressOf(path: string, item: Part, members: readonly (readonly [string, Part])[]): Address {
  const operations = members.map(([name, part]) => [name.toUpperCase(), part] as const)
  return { path, item, operations: new Map(operations.filter(([name]) => methods.includes(name))) }
}

/** The paths of an address's servers, with each value that their variables may have. */
function basesOf({ item }: Address, root: Node): string[] {
  const servers = (item.value.servers ?? root.servers ?? [{ url: '' }]) as readonly Server[]
  return servers.flatMap(({ url, variables = {} }) => {
    let urls = [url]
    for (const [name, { enum: values, default: value }] of Object.entries(variables)) {
      urls = urls.flatMap((one) => (values ?? [value]).map((each) => one.replaceAll(`{${name}}`, each)))
    }
    return urls.map((one) => normal(new URL(one, 'http://server').pathname))
  })
}

interface Server {
  readonly url: string
  readonly variables?: Readonly<Record<string, Variable>>
}

interface Variable {
  readonly default: string
  readonly enum?: readonly string[]
}

/** Without empty segments, as the server takes addresses. */
function normal(path: string): string {
  return path.replace(/\/+/g, '/').replace(/\/$/, '')
}

/** Of several patterns that fit, the one with fewest identifiers is meant. */
function finder(addresses: readonly Address[], root: Node): OpenApi['find'] {
  const patterns = addresses
    .flatMap((address) =>
      basesOf(address, root).map((base) => ({ address, ...patternOf(base + normal(address.path)) })),
    )
    .toSorted((one, other) => one.names.length - other.names.length)
  return (url) => {
    const path = normal(url.split('?', 1)[0] as string)
    for (const { address, pattern, names } of patterns) {
      const [matched, ...values] = pattern.exec(path) ?? []
      if (matched === undefined) continue
      return { address, params: Object.fromEntries(names.map((name, index) => [name, values[index] as string])) }
    }
    return undefined
  }
}

function patternOf(path: string): { pattern: RegExp; names: string[] } {
  const names: string[] = []
  const pattern = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{([^}]+)\}/g, (_braces, name: string) => {
    names.push(name)
    return '([^/]+)'
  })
  return { pattern: new RegExp(`^${pattern}$`, 'i'), names }
}

/** Members of schema objects that are OpenAPI's own. */
const vocabulary = ['discriminator', 'xml', 'externalDocs', 'example', 'x-enum-varnames', 'x-enumNames']

function compiler(root: Node, { coerceTypes }: { coerceTypes: boolean }): (schema: Part) => ValidateFunction {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true, coerceTypes })
  addFormats.default(ajv)
  // The document itself is taken for a schema, of which its parts are.
  ajv.addVocabulary([...new Set([...Object.keys(root), ...vocabulary])])
  ajv.addSchema(root, 'document')
  const validators = new Map<string, ValidateFunction>()
  return ({ pointer }) => {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `document#${encodeURI(pointer)}` })
    validators.set(pointer, known)
    return known
  }
}

function withoutRequired(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRequired)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name, member]) => name !== 'required' || !Array.isArray(member))
  return Object.fromEntries(members.map(([name, member]) => [name, withoutRequired(member)]))
}

function faultsOf(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${instancePath} ${message} ${JSON.stringify(params)}`.trim()
  })
}
