import { expect, test } from 'vitest'
import { resultItem } from '../../../../src/foundation/values/failure.ts'
import { operatorRoute } from '../../../../src/http/html/route-groups.ts'
import { done } from '../../../../src/http/server/json/json-routes.ts'

const named = { id: 'example', summary: 'An example', description: 'It shows a route.' } as const
const answers = { 200: done('It is done.') }
const run = async () => resultItem('Id', 1, 200, 'done')

/** Each line compiles only while the next one does not. */
test('a route without roles, answers or the names of its identifiers does not compile', () => {
  const routes = [
    operatorRoute('GET /example', { ...named, roles: ['operator-key'], answers, run }),
    // @ts-expect-error: no roles
    operatorRoute('GET /example', { ...named, answers, run }),
    // @ts-expect-error: nobody
    operatorRoute('GET /example', { ...named, roles: [], answers, run }),
    // @ts-expect-error: no answers
    operatorRoute('GET /example', { ...named, roles: ['operator-key'], run }),
    // @ts-expect-error: nothing that answers
    operatorRoute('GET /example', { ...named, roles: ['operator-key'], answers: {}, run }),
    // @ts-expect-error: what does id identify?
    operatorRoute('GET /example/:id', { ...named, roles: ['operator-key'], answers, run }),
    // @ts-expect-error: the function returns something else than the answer holds
    operatorRoute('GET /example', { ...named, roles: ['operator-key'], answers, run: async () => 5 }),
    // @ts-expect-error: a refusal that the operator's routes do not describe
    operatorRoute('GET /example', { ...named, roles: ['operator-key'], answers, refusals: [418], run }),
  ]
  expect(routes).toHaveLength(8)
})
