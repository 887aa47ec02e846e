import type { Endpoint } from '../../../engine/definition/endpoints.ts'
import { ITEMS_MAX } from '../../../engine/reading/nested.ts'
import { listingAnswer } from '../../../engine/reading/shape.ts'
import { listRefunds, refundType } from './refunds.ts'

/** The refunds of an order (rest-resources §3.6). */
export const refundsEndpoint: Endpoint = {
  path: '/:id/Refunds',
  params: { id: { name: 'orderid', min: 1 } },
  privileges: ['Orders'],
  operations: {
    GET: {
      gives: { kind: 'list', type: refundType, maxRecords: ITEMS_MAX, filters: null },
      run: async ({ caller, id, query }) => listingAnswer(await listRefunds(caller, id, query), refundType, query),
    },
  },
}
