import { readFileSync } from 'node:fs'
import { openApiDocument } from '../../../../src/app.ts'

// What an OpenAPI document leaves out, counted. As a program, `gaps.ts [openapi.json]` prints the numbers of a document, by default of
// this server's.

interface Described {
  readonly description?: string
  readonly name?: string
  readonly example?: unknown
  readonly $ref?: string
  readonly schema?: { readonly [keyword: string]: unknown }
}

interface Media {
  readonly example?: unknown
}

interface Answer {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, Media>>
}

interface Operation extends Described {
  readonly operationId: string
  readonly summary?: string
  readonly parameters?: readonly Described[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, Answer>>
}

interface Document {
  readonly paths: Readonly<Record<string, object>>
  readonly webhooks?: Readonly<Record<string, object>>
  readonly components: object
}

type Components = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** By what they lack, where that is. Files, pages and streams need no example. */
export function gapsOf(document: Document) {
  const resolved = <T extends { readonly $ref?: string }>(one: T): T => {
    const [name = '', kind = ''] = one.$ref?.split('/').toReversed() ?? []
    return one.$ref === undefined ? one : ((document.components as Components)[kind]?.[name] as T)
  }
  const operations = [...Object.values(document.paths), ...Object.values(document.webhooks ?? {})]
    .flatMap((item) => Object.entries(item) as [string, Operation][])
    .filter(([name]) => name !== 'servers')
    .map(([, operation]) => operation)
  const parameters = operations.flatMap(({ operationId, parameters = [] }) =>
    parameters.map(resolved).map((parameter) => ({ ...parameter, at: `${operationId} ${parameter.name}` })),
  )
  const answers = operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).map(([status, answer]) => ({ ...resolved(answer), at: `${operationId} ${status}` })),
  )
  const contents = [
    ...answers,
    ...operations.map(({ operationId, requestBody }) => ({ content: requestBody?.content, at: operationId })),
  ].flatMap(({ content = {}, at }) =>
    Object.entries(content).map(([type, media]) => ({ ...media, at: `${at} ${type}` })),
  )
  return {
    numbers: {
      operations: operations.length,
      parameters: parameters.length,
      contents: contents.length,
    },
    operationsWithoutDescription: operations.filter((one) => !one.description).map(({ operationId }) => operationId),
    operationsThatRepeatTheirSummary: operations
      .filter(({ summary, description }) => summary === description)
      .map(({ operationId }) => operationId),
    parametersWithoutDescription: parameters.filter((one) => !one.description).map(({ at }) => at),
    parametersWithoutExample: parameters.filter((one) => !hasExample(one)).map(({ at }) => at),
    contentsWithoutExample: contents
      .filter(
        ({ example, at }) => example === undefined && !/(text\/|x-ndjson|showRecordSchema|image\/|form-data)/.test(at),
      )
      .map(({ at }) => at),
    textsOfSeveralParameters: sharedTexts(parameters.map(({ name = '', description = '' }) => [description, name])),
    textsOfSeveralOperations: sharedTexts(
      operations.map(({ operationId, description = '' }) => [description, operationId]),
    ),
  }
}

/** What a schema allows is as good as an example where that is a few values. */
function hasExample({ example, schema = {} }: Described): boolean {
  return example !== undefined || ['examples', 'enum', 'const', 'default'].some((keyword) => keyword in schema)
}

function sharedTexts(described: readonly (readonly [text: string, name: string])[]): string[] {
  const names = Map.groupBy(
    described.filter(([text]) => text !== ''),
    ([text]) => text,
  )
  return [...names]
    .map(([text, all]) => ({ text, names: [...new Set(all.map(([, name]) => name))] }))
    .filter(({ names: of }) => of.length > 1)
    .map(({ text, names: of }) => `${of.join(', ')}: ${text}`)
}

if (import.meta.main) {
  const [file] = process.argv.slice(2)
  const document =
    file === undefined
      ? openApiDocument({ publicUrl: 'http://localhost:3000', restPrefixes: ['/StoreWebAPI'] })
      : JSON.parse(readFileSync(file, 'utf8'))
  const { numbers, ...gaps } = gapsOf(document)
  console.table({ ...numbers, ...Object.fromEntries(Object.entries(gaps).map(([what, of]) => [what, of.length])) })
}
