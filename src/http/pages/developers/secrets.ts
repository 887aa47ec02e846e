import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Throttle } from '../../../access/applications/limits/throttle.ts'
import {
  type CallbackTest,
  findOwnApplication,
  rotateCallbackSecret,
  rotatePrivateKey,
  secretRotation,
  testCallback,
} from '../../../access/applications/own/own-applications.ts'
import { keyRotation } from '../../../access/applications/private-keys.ts'
import type { CallbackServices } from '../../../access/applications/subscriptions/callback.ts'
import type { AccessServices } from '../../../access/stores/access-changes.ts'
import type { DataServices } from '../../../foundation/database/client.ts'
import { numberIn } from '../../html/numbers.ts'
import { sendPage } from '../../html/page.ts'
import { orShowAgain } from '../../html/page-routes.ts'
import { actorOf, formOf, isForm, wantsHtml } from '../../html/request.ts'
import { developerRoute } from '../../html/route-groups.ts'
import { jsonBody, one, record } from '../../server/json/json-routes.ts'
import { writingOf } from '../frame/pages.ts'
import { applicationPage, ofApplication, orShowPage, ownApplication, ownIn } from './application-page.ts'

// New keys for an application. A form names the key it replaces, so that submitting it twice replaces the key once.

/** Returns the body, with a form's number converted from text. A program may omit the body. */
function sent(request: FastifyRequest): unknown {
  if (!isForm(request)) return request.body ?? {}
  const form = formOf(request)
  const hours = numberIn(form, 'KeepFormerForHours', writingOf(request))
  const { KeepFormerForHours, ...others } = form
  return { ...others, ...(KeepFormerForHours !== undefined && { KeepFormerForHours: hours ?? '' }) }
}

/** The page to show with an error, as it was sent. */
async function pageAgain(services: DataServices, request: FastifyRequest) {
  const application = await findOwnApplication(services, ownIn(request))
  const { KeepFormerForHours } = isForm(request) ? formOf(request) : {}
  return applicationPage(services, application, { values: KeepFormerForHours ? { KeepFormerForHours } : {} })
}

/** The result is only in the response; it is not stored. */
const callbackTest = record<CallbackTest>('CallbackTest')({
  MessageId: z.string().describe('The header `webhook-id` with which it was sent.'),
  Sent: [z.record(z.string(), z.string()).describe('The body that was sent.'), (from) => JSON.parse(from.sent)],
  Status: [
    z.int().nullable().describe('The HTTP status of the answer. Null: there was none.'),
    ({ result }) => result.status,
  ],
  Reason: [
    z.string().nullable().describe('The reason why a subscription would fail. Null: it would succeed.'),
    ({ result }) => (result.ok ? null : result.reason),
  ],
  Milliseconds: [
    z.int().min(0).describe('The duration until the answer, or until the attempt was abandoned, in milliseconds.'),
    ({ result }) => result.durationMs,
  ],
  Answer: [z.string().describe('The body of the answer, at most 4,096 characters of it.'), ({ result }) => result.body],
  PostBackURL: [
    z.string().nullable().describe('The address to which the answer asks to send the merchant next. Null: none.'),
    ({ result }) => (result.ok ? result.postBackUrl : null),
  ],
})

export const secretRoutes = [
  developerRoute('POST /developers/applications/:id/private-key', {
    ...ofApplication,
    id: 'rotatePrivateKey',
    summary: 'Make a new private key',
    description:
      'The former key still works for `KeepFormerForHours`; an earlier one stops working immediately. With `PrivateKey`, only that key is replaced, so a repeated request does not end a key in use.',
    body: jsonBody(keyRotation, { KeepFormerForHours: 24 }, { isOptional: true, sent }),
    answers: { 200: one('The application, with its new key.', ownApplication) },
    refusals: [409],
    run: ({ request, reply, body }, services: AccessServices) => {
      const rotate = async () => rotatePrivateKey(services, ownIn(request), body(), actorOf(request))
      return orShowPage(reply, 'key-rotated', rotate, () => pageAgain(services, request))
    },
  }),
  developerRoute('POST /developers/applications/:id/callback-secret', {
    ...ofApplication,
    id: 'rotateCallbackSecret',
    summary: 'Make a new callback secret',
    description:
      'For 24 hours callbacks carry the signatures of both. With `CallBackSecret`, only that secret is replaced.',
    body: jsonBody(secretRotation, {}, { isOptional: true, sent }),
    answers: { 200: one('The application, with its new secret.', ownApplication) },
    refusals: [409],
    run: ({ request, reply, body }, services: AccessServices) => {
      const rotate = async () => rotateCallbackSecret(services, ownIn(request), body(), actorOf(request))
      return orShowPage(reply, 'secret-rotated', rotate, () => pageAgain(services, request))
    },
  }),
  developerRoute('POST /developers/applications/:id/callback-test', {
    ...ofApplication,
    id: 'testCallback',
    summary: 'Send the CallBackURL a sample',
    description:
      'An AUTHORIZE of the store https://sample.store.example with a token of zeros, signed as a real one. It creates no subscription. Ten in a burst, then one every ten seconds.',
    answers: { 200: one('What came back.', callbackTest) },
    refusals: [409],
    run: ({ request, reply }, services: AccessServices & CallbackServices & { throttle: Throttle }) => {
      const own = ownIn(request)
      const work = async () => {
        const test = await testCallback(services, own, actorOf(request))
        if (!wantsHtml(request)) return test
        return sendPage(reply, applicationPage(services, await findOwnApplication(services, own), { test }))
      }
      return orShowAgain(reply, work, () => pageAgain(services, request))
    },
  }),
]
