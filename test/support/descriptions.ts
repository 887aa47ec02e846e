// What of a document lacks a description that says something of its own.

export interface Described {
  /** Where it stands, for messages. */
  readonly path: string
  readonly name: string
  readonly description: string
  /** What the reader knows of it besides: words for its type. */
  readonly type: readonly string[]
}

type Node = Readonly<Record<string, unknown>>

const methods = ['get', 'put', 'post', 'delete']

/** The properties (at any depth of any schema), parameters and operations of an OpenAPI document. */
export function describedIn(document: object) {
  const properties: Described[] = []
  const parameters: Described[] = []
  const operations: Described[] = []
  const visit = (node: unknown, path: string): void => {
    if (typeof node !== 'object' || node === null) return
    const { properties: own, in: place, operationId, ...rest } = node as Node
    if (typeof own === 'object') {
      for (const [name, member] of Object.entries(own as Node))
        properties.push(describedAs(name, member, `${path}.${name}`))
    }
    if (typeof place === 'string' && typeof rest.name === 'string' && 'schema' in rest) {
      parameters.push(describedAs(rest.name, { ...(rest.schema as Node), description: rest.description }, path))
    }
    if (typeof operationId === 'string' && methods.some((method) => path.endsWith(`/${method}`))) {
      operations.push(describedAs(operationId, { description: rest.description, title: rest.summary }, path))
    }
    for (const [name, member] of Object.entries(node)) if (!isExample(name, path)) visit(member, `${path}/${name}`)
  }
  visit(document, '')
  return { properties, parameters, operations }
}

function isExample(name: string, path: string): boolean {
  return (name === 'example' || name === 'examples') && !path.endsWith('/properties')
}

function describedAs(name: string, node: unknown, path: string): Described {
  const { description, type, format, title, $ref, allOf } = node as Node
  const known = [
    type,
    format,
    title,
    String($ref ?? (allOf as readonly Node[] | undefined)?.[0]?.$ref ?? '')
      .split('/')
      .at(-1),
  ]
  return { path, name, description: String(description ?? ''), type: known.flat().map((word) => String(word ?? '')) }
}

/** Words that say nothing by themselves, and those for types. */
const empty =
  'a an and are as be been by do for has have in is it its no not of on one or that the there this to value values with field member record whole number numbers text date time true false yes list object identifier id ids integer string boolean decimal array'

const emptyWords = new Set(empty.split(' '))

function wordsOf(text: string): string[] {
  const apart = text.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
  return (apart.toLowerCase().match(/[\p{L}\d]+/gu) ?? []).map((word) => word.replace(/(?<=..)(?:es|s)$/, ''))
}

/** What is wrong with the descriptions: none, one that repeats name and type, and one text for different names. Empty: nothing. */
export function descriptionFaults(described: readonly Described[]): string[] {
  const namesOf = new Map<string, Set<string>>()
  for (const { name, description } of described) {
    namesOf.set(description, (namesOf.get(description) ?? new Set()).add(name.toLowerCase()))
  }
  const shared = [...namesOf].filter(([text, names]) => text !== '' && names.size > 1)
  return [
    ...described.filter(({ description }) => description.trim() === '').map(({ path }) => `${path} has none`),
    ...described.filter(repeats).map(({ path, description }) => `${path} says only: ${description}`),
    ...shared.map(([text, names]) => `${[...names].join(', ')} share: ${text}`),
  ]
}

function repeats({ name, type, description }: Described): boolean {
  const known = new Set([name, ...type].flatMap(wordsOf))
  const words = wordsOf(description).filter((word) => !emptyWords.has(word))
  return description.trim() !== '' && words.every((word) => known.has(word))
}
