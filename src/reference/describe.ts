import { type ApiPart, type Operation, type Response, ref, requestId } from '../server/openapi.ts'

/** The routes of the reference itself. */
export function describeReference(): ApiPart {
  return {
    tags: [],
    paths: {
      '/openapi.json': {
        get: route('showDescription', 'This reference, as OpenAPI 3.1', {
          200: found('The document.', 'application/json', { type: 'object' }),
          304: unmodified,
        }),
      },
      '/docs': {
        get: route('browse', 'This reference, as a page', {
          200: found('The page.', 'text/html', { type: 'string' }),
          302: { description: 'To its https address, where PUBLIC_URL is one.' },
          304: unmodified,
        }),
      },
    },
    components: {},
  }
}

const headers = { ...requestId, ETag: ref('headers', 'ETag') }
const unmodified: Response = { description: 'The caller has it already.', headers }

function route(operationId: string, summary: string, responses: Operation['responses']): Operation {
  return { operationId, summary, tags: ['Server'], security: [], responses }
}

function found(description: string, type: string, schema: Readonly<Record<string, unknown>>): Response {
  return {
    description,
    headers,
    content: { [type]: { schema } },
  }
}
