import { retryAfter } from '../server/openapi.ts'
import {
  commonRefusals,
  idParameter,
  limitParameter,
  refusal,
  routesOf,
  startParameter,
} from '../server/openapi-words.ts'

// What the descriptions of the operator's routes alone are made of.

export const { operation, answers, refused, responses } = routesOf('Operator', 'OperatorKey', {
  ...commonRefusals,
  401: refusal('The key is not that of the operator.', {
    'WWW-Authenticate': { description: 'Bearer', required: true, schema: { type: 'string' } },
  }),
  403: refusal('The request came over plain http, and the server takes https alone.'),
  404: refusal('No such store, application, subscription or account.'),
  409: refusal(
    'What is stored contradicts it: another store has the host, another account the e-mail address, or the goods are out of stock; it is the last account of a store; or another request is asking the application for very long.',
  ),
  429: refusal('Too many requests without the key came from the address.', retryAfter),
  502: refusal('The application did not answer 200, or not in time: `Server not Responding`.'),
})

export const storeId = idParameter('id', 'The store.')

export const paging = [
  limitParameter('The most records of the page.'),
  startParameter('offset', 'The records to pass over.'),
] as const
