import { type ApiPart, type Operation, type Response, ref } from '../openapi.ts'

/** The routes of the reference itself. */
export function describeReference(): ApiPart {
  return {
    tags: [],
    paths: {
      '/openapi.json': {
        get: route('showDescription', 'This reference, as OpenAPI 3.1', {
          200: {
            ...found('The document.', 'application/json', { type: 'object' }),
            headers: { 'X-Request-Id': ref('headers', 'X-Request-Id'), ETag: ref('headers', 'ETag') },
          },
          304: { description: 'The caller has it already.', headers: { ETag: ref('headers', 'ETag') } },
        }),
      },
      '/docs': {
        get: route('browse', 'This reference, as a page', {
          200: found('The page.', 'text/html', { type: 'string' }),
          302: { description: 'To its https address, where PUBLIC_URL is one.' },
        }),
      },
    },
    components: {},
  }
}

function route(operationId: string, summary: string, responses: Operation['responses']): Operation {
  return { operationId, summary, tags: ['Server'], security: [], responses }
}

function found(description: string, type: string, schema: Readonly<Record<string, unknown>>): Response {
  return {
    description,
    headers: { 'X-Request-Id': ref('headers', 'X-Request-Id') },
    content: { [type]: { schema } },
  }
}
