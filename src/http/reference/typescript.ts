// The example of an operation as a program in TypeScript.

import type { Credential, Example, ParameterRow } from './operations.ts'

interface Sent {
  readonly method: string
  /** Of a service, below its version: `/Products/{catalogid}`. Else below the server. */
  readonly path: string
  readonly isService: boolean
  readonly parameters: readonly ParameterRow[]
  readonly example: Example | undefined
  /** Of the body. */
  readonly types: readonly string[]
  readonly credential: Credential
}

const LINE_LENGTH_MAX = 70
const FORM = 'application/x-www-form-urlencoded'

/** Returns the call of the client (clients/typescript) for a service, and a fetch for everything else. */
export function typescriptOf(sent: Sent, publicUrl: string): string {
  return sent.isService ? byClient(sent) : byFetch(sent, publicUrl)
}

function byClient({ method, path, parameters, example }: Sent): string {
  const values = (place: string) => {
    const of = parameters.filter((each) => each.in === place && (place === 'path' || each.isRequired))
    return of.length === 0 ? [] : `${place}: ${block(of.map((each) => `${each.name}: ${literalOf(each)}`))}`
  }
  const given = [
    ...['path', 'query'].flatMap(values),
    ...(example ? [`body: ${literal(JSON.parse(example.text))}`] : []),
  ]
  const options = given.length === 0 ? '' : `, ${block(given)}`
  const isPaged = method === 'GET' && parameters.some(({ name }) => name === 'cursor')
  if (isPaged) return `for await (const record of store.list('${path}'${options})) {\n  console.log(record)\n}`
  return `const { data } = await store.${method.toLowerCase()}('${path}'${options})\nconsole.log(data)`
}

/** In parts, because no code of the server reads it. */
const environment = ['process', 'env'].join('.')
const authorizations: Readonly<Partial<Record<Credential, string>>> = {
  operator: `Authorization: \`Bearer \${${environment}.OPERATOR_KEY}\``,
  developer: `Cookie: ${environment}.SESSION ?? ''`,
  client: `Authorization: \`Basic \${btoa(\`\${${environment}.PUBLIC_KEY}:\${${environment}.PRIVATE_KEY}\`)}\``,
}

function byFetch({ method, path, parameters, example, types, credential }: Sent, publicUrl: string): string {
  const needed = parameters.filter(({ isRequired }) => isRequired)
  const query = needed
    .filter((each) => each.in === 'query')
    .map(({ name, example: value }) => [name, value] as [string, string])
  const address = path.replace(/\{(\w+)\}/g, (name, key) => needed.find((each) => each.name === key)?.example || name)
  const [type] = types
  const headers = [
    authorizations[credential] ?? [],
    ...needed.filter((each) => each.in === 'header').map(({ name, example: value }) => `'${name}': ${quoted(value)}`),
    type === undefined || type === FORM ? [] : `'Content-Type': '${type}'`,
  ].flat()
  const given = [
    method === 'GET' ? [] : `method: '${method}'`,
    headers.length === 0 ? [] : `headers: ${block(headers)}`,
    type === undefined ? [] : `body: ${bodyOf(type, example)}`,
  ].flat()
  const target = quoted(`${publicUrl}${address}${query.length > 0 ? `?${new URLSearchParams(query)}` : ''}`)
  const options = given.length === 0 ? '' : `, ${block(given)}`
  const imported = type !== undefined && !example ? "import { openAsBlob } from 'node:fs'\n\n" : ''
  return `${imported}const answer = await fetch(${target}${options})\nconsole.log(answer.status, await answer.text())`
}

function bodyOf(type: string, example: Example | undefined): string {
  if (!example) return "await openAsBlob('FILE')"
  if (type === FORM) return `new URLSearchParams(${literal(Object.fromEntries(example.fields))})`
  return type === 'application/json' ? `JSON.stringify(${literal(JSON.parse(example.text))})` : quoted(example.text)
}

/** In one line where that is short. */
function block(parts: readonly string[], [begin, end] = ['{ ', ' }']): string {
  const line = `${begin}${parts.join(', ')}${end}`
  if (line.length <= LINE_LENGTH_MAX && !line.includes('\n')) return line
  return `${begin.trim()}\n${parts.map((part) => `  ${part.replaceAll('\n', '\n  ')},\n`).join('')}${end.trim()}`
}

function literalOf({ type, example }: ParameterRow): string {
  return /^(?:whole )?number/.test(type) ? example : quoted(example)
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return block(value.map(literal), ['[', ']'])
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return String(value)
  const name = (key: string) => (/^[A-Za-z_]\w*$/.test(key) ? key : quoted(key))
  return block(Object.entries(value).map(([key, inner]) => `${name(key)}: ${literal(inner)}`))
}

function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll(String.raw`\"`, '"').replaceAll("'", String.raw`\'`)}'`
}
