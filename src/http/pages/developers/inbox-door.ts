import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Throttle, tooMany } from '../../../access/applications/limits/throttle.ts'
import type { DataServices } from '../../../foundation/database/client.ts'
import { type SetTimer, startTimer } from '../../../foundation/process/timer.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { Semaphore } from '../../../foundation/values/semaphore.ts'
import type { AllowedServices } from '../../../operations/sandbox/allowed.ts'
import { type AnswerKind, BODY_BYTES_MAX, inboxToSendTo, keepMessage } from '../../../operations/sandbox/inbox.ts'
import { textIn } from '../../html/request.ts'
import { plainHttpFault } from '../../server/requests/plain-http.ts'
import { receiveBytes } from '../../server/requests/receive.ts'

export type InboxDoorServices = DataServices &
  AllowedServices & {
    readonly config: { readonly publicUrl: string }
    throttle: Throttle
    setTimer?: SetTimer
  }

/** Of one inbox: enough for everything that a test store does by itself, and its retries. */
const inboxRateLimit = { capacity: 100, leakPerSecond: 5 }
/** Within the 15 s that a webhook waits for its answer, and beyond the 10 s of a callback. */
const SLOW_MS = 12_000
/** Longer than any of them waits. */
const NONE_MS = 20_000
/** Senders that are kept waiting at a time, in this process and of one inbox. Others are answered 503. */
const heldMax = { capacity: 100, capacityOfKey: 20 }

/**
 * Adds the door of inboxes, where anybody who knows the address leaves a message. It is outside the guard of pages: bodies are bytes that
 * nobody reads here, and no session counts.
 */
export function inboxDoor(app: FastifyInstance, services: InboxDoorServices): void {
  const { throttle, config } = services
  const waiting = createWaiting(services)
  // Nobody waits for a turn to be kept waiting, and `busy` says so.
  const turns = new Semaphore({ ...heldMax, waitingMax: 0, waitingOfKeyMax: 0, waitMs: 0, message: '' })
  app.addHook('preClose', async () => waiting.endAll())
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request: FastifyRequest, payload: Readable) => receiveBytes(payload, BODY_BYTES_MAX))

  app.post('/developers/inbox/:name', {
    config: { roles: ['anyone'] },
    onRequest: async (request) => {
      const fault = plainHttpFault(config.publicUrl, request)
      if (fault !== null) throw new StoreFailure('insecure-transport', fault)
      const inbox = await inboxToSendTo(services, textIn(request.params, 'name'))
      if (inbox === null) {
        throttle.requireAnonymous(request.ip)
        throw new StoreFailure('not-found', 'There is no such inbox')
      }
      const reading = await throttle.take(`inbox ${inbox.id}`, inboxRateLimit)
      if (!reading.accepted) throw tooMany(reading)
    },
    handler: async (request, reply) => {
      // Read anew: what it answers may have been changed while the body arrived.
      const inbox = await inboxToSendTo(services, textIn(request.params, 'name'))
      if (inbox === null) throw new StoreFailure('not-found', 'There is no such inbox')
      const answer = inbox.answer as AnswerKind
      const isHeld = answer === 'slow' || answer === 'none'
      const endTurn = isHeld ? await turns.acquire(String(inbox.id), 1).catch(() => null) : null
      const isBusy = isHeld && endTurn === null
      const status = { ok: 200, error: 500, slow: 200, none: 0 }[answer]
      try {
        await keepMessage(services, inbox, messageIn(request), isBusy ? 503 : status)
        if (isBusy) return busy(reply)
        if (isHeld) await waiting.wait(request, answer === 'slow' ? SLOW_MS : NONE_MS)
      } finally {
        endTurn?.()
      }
      if (answer === 'none') {
        reply.hijack()
        request.raw.socket.destroy()
        return reply
      }
      if (answer === 'error') return reply.code(500).type('text/plain; charset=utf-8').send('This inbox answers 500.\n')
      if (inbox.postBackUrl !== '') return reply.send({ PostBackURL: inbox.postBackUrl })
      return reply.type('text/plain; charset=utf-8').send('OK\n')
    },
  })
}

function messageIn({ method, headers, raw, url, body }: FastifyRequest) {
  const [, query = ''] = /\?(.*)$/s.exec(url) ?? []
  return { method, query, rawHeaders: raw.rawHeaders, headers, body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) }
}

function busy(reply: FastifyReply) {
  reply.code(503).header('retry-after', '30').type('text/plain; charset=utf-8')
  return reply.send('Too many senders are kept waiting here.\n')
}

/** Keeps senders waiting, without anything but a timer each, and none once the server stops. */
function createWaiting({ setTimer = startTimer }: Pick<InboxDoorServices, 'setTimer'>) {
  const ends = new Set<() => void>()
  let isClosing = false
  return {
    wait({ raw }: FastifyRequest, ms: number): Promise<void> {
      if (isClosing || raw.socket.destroyed) return Promise.resolve()
      return new Promise((resolve) => {
        const end = () => {
          cancel()
          ends.delete(end)
          raw.socket.off('close', end)
          resolve()
        }
        const cancel = setTimer(end, ms)
        ends.add(end)
        raw.socket.once('close', end)
      })
    },
    endAll(): void {
      isClosing = true
      for (const end of ends) end()
    },
  }
}
