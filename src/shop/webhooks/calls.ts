import {
  BODY_BYTES_MAX,
  IGNORED_BYTES_MAX,
  LISTED_MAX,
  type LoggedCall,
  newestCalls,
} from '../../access/applications/calls/call-log.ts'
import type { Endpoint, Operation } from '../../engine/definition/endpoints.ts'
import { date, integer, long, text } from '../../engine/definition/fields.ts'
import { readFlag } from '../../engine/definition/filters.ts'
import { limitOf, onlyValue } from '../../engine/reading/paging.ts'
import { limitParameter, parameter, shown } from './endpoints.ts'
import { shownType } from './shown-type.ts'

const CALLS_DEFAULT = 100

/** A call as the application itself reads it. */
const callType = shownType<LoggedCall>(
  'Call',
  'A request that the application sent to the store, and what it was answered.',
  {
    Id: [long({ description: 'Later calls have higher numbers, except those of the same two seconds.' }), 'id'],
    Date: [date({ description: 'When the call was answered.' }), 'at'],
    Method: [text(20, { description: 'The method of the request, such as `PUT`.' }), 'method'],
    Path: [
      text(200, {
        description:
          'The path of the request without its query. What is no number stands as in the route (`/Products/:id`), because it may be a key in the wrong place.',
      }),
      'path',
    ],
    Status: [integer({ min: 0, max: 999, description: 'The HTTP status of the answer.' }), 'status'],
    Message: [
      text(300, {
        description:
          'What was wrong, without text repeated from the request; empty where nothing was. For a 401 it has the reason, which the answer does not say.',
      }),
      'message',
    ],
    RequestID: [text(100, { description: 'The `X-Request-Id` of the answer.' }), 'requestId'],
    Ignored: [
      text(2 * IGNORED_BYTES_MAX, {
        description:
          'The names of members and parameters that were passed over, separated by a comma and a space. Empty: none was.',
      }),
      ({ ignored }) => ({ json: JSON.stringify(ignored.join(', ')) }),
    ],
    Body: [
      text(BODY_BYTES_MAX, {
        description:
          'What a refused request sent, as JSON that may be cut at 16 kB: only where the merchant allows it, for 7 days, without passwords, card data and values of unknown members. Empty: nothing was kept.',
      }),
      'body',
    ],
  },
)

const listCalls: Operation = {
  named: {
    id: 'listCalls',
    description:
      'The last calls of the application in the store, the newest first: at most 100 that were answered and 100 that were refused (a status from 400 on, except 404 to a read). It needs no privilege. A call appears within a few seconds; calls of this address are not listed.',
  },
  gives: {
    kind: 'own',
    type: callType,
    size: 'many',
    parameters: [
      parameter('refused', '1: only refusals. 0 and -1: all calls (also `true` and `false`).', {
        type: 'integer',
        enum: [1, 0, -1],
        default: 0,
      }),
      limitParameter('calls', LISTED_MAX, CALLS_DEFAULT),
    ],
  },
  run: async (call) => {
    const { caller, query } = call
    const subscriptionId = caller.application?.subscriptionId ?? 0
    const limit = limitOf(query, LISTED_MAX, CALLS_DEFAULT)
    const onlyRefused = readFlag(onlyValue(query, 'refused') ?? '0', 'refused') === true
    return shown(call, callType, await newestCalls(caller, { subscriptionId, limit, onlyRefused }))
  },
}

/** `GET /Calls`: the log of the caller's own calls. Its own calls would displace what they ask for, so they are left out. */
export const callsEndpoint: Endpoint = {
  params: {},
  privileges: [],
  root: 'Calls',
  path: '',
  tag: {
    name: 'Calls',
    description: 'What the calls of the application to the store were answered. No privilege is needed; `Call` in XML.',
  },
  isUnlogged: true,
  operations: { GET: listCalls },
}
