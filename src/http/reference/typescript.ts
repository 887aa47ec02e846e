import { inspect } from 'node:util'
import type { ParameterRow } from './operations.ts'

interface Called {
  readonly method: string
  readonly parameters: readonly ParameterRow[]
}

/** Returns the example of an operation of a service as a call of the client (clients/typescript). `path` is below the version. */
export function typescriptOf(path: string, { method, parameters }: Called, json: string | undefined): string {
  const valuesIn = (place: string) => {
    const of = parameters.filter((each) => each.in === place && each.isRequired)
    return of.length === 0 ? {} : { [place]: Object.fromEntries(of.map((each) => [each.name, exampleValue(each)])) }
  }
  const given = { ...valuesIn('path'), ...valuesIn('query'), ...(json !== undefined && { body: JSON.parse(json) }) }
  const options = Object.keys(given).length === 0 ? '' : `, ${inspect(given, { depth: null })}`
  const isPaged = method === 'GET' && parameters.some(({ name }) => name === 'cursor')
  if (isPaged) return `for await (const record of store.list('${path}'${options})) {\n  console.log(record)\n}`
  return `const { data } = await store.${method.toLowerCase()}('${path}'${options})\nconsole.log(data)`
}

function exampleValue({ type, example }: ParameterRow): string | number {
  return /^(?:whole )?number/.test(type) ? Number(example) : example
}
