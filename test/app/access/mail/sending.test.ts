import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Locale } from '../../../../src/foundation/texts/language.ts'
import { showShared } from '../../../../src/http/server/figures/figures.ts'
import { openMailReceiver, PASSWORD } from '../../../support/mail-receiver.ts'
import { figureOf } from '../../../support/metrics-text.ts'
import { openSocketReceiver } from '../../../support/receiver.ts'
import { shared } from '../../../support/shared.ts'
import { merchantAccount } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'
import { notice, prove, senderOf, write } from './fixture.ts'

const HOUR_MS = 3_600_000

let sender: ReturnType<typeof senderOf>

const receiver = await shared(openMailReceiver())
const server = await sharedServer({ SMTP_URL: receiver.url, MAIL_FROM: 'Garden “Shop” <mail@shop.example>' })
beforeEach(async () => {
  await server.services.db.mail.deleteMany()
  receiver.reset()
  server.log.length = 0
  sender = senderOf(server.services)
})
afterEach(() => sender.stop())

const mail = () => server.services.db.mail.findFirstOrThrow()

async function untilDue(): Promise<void> {
  server.clock.ms = (await mail()).nextAttemptAt.getTime()
}

describe('a mail', () => {
  test('is sent once, with its text and HTML, to its recipient alone, and then its content is forgotten', async () => {
    const { store } = await server.openStore({ timeZone: 'Europe/Berlin' })
    const of = { storeName: store.name, role: 'a packer', invitedBy: 'Zoë <zoe@shop.example>' }
    const expiresAt = new Date('2026-03-11T16:00:00Z')
    const data = { ...of, link: '/admin/invitations?token=a%26b&c=d', expiresAt } as const
    const to = 'ann+packing@shop.example'
    await write(server.services, notice({ kind: 'invitation', data, to, storeId: store.id }))
    const { messageId } = await mail()
    await sender.runDue()
    await sender.runDue()

    expect(receiver.mails).toHaveLength(1)
    const { headers, ...sent } = receiver.last()
    expect(sent).toMatchObject({ from: 'mail@shop.example', to: [to] })
    expect(Object.fromEntries(headers)).toMatchObject({
      from: '=?UTF-8?Q?Garden_=E2=80=9CShop=E2=80=9D?= <mail@shop.example>',
      to,
      subject: `You are invited to ${store.name}`,
      'message-id': messageId,
      'auto-submitted': 'auto-generated',
      date: 'Tue, 10 Mar 2026 16:00:00 +0000',
    })
    const link = 'http://localhost:3000/admin/invitations?token=a%26b&c=d'
    expect(sent.text).toContain(
      `Zoë <zoe@shop.example> invites you to work in the store ${store.name}. Your role there: a packer.`,
    )
    expect(sent.text).toContain(`until Mar 11, 2026, 5:00 PM GMT+1:\n\n${link}\n\n`)
    expect(sent.html).toContain('<p>Zoë &lt;zoe@shop.example&gt; invites you')
    expect(sent.html).toContain(`<a href="${link.replace('&', '&amp;')}"`)
    const row = await mail()
    expect(row).toMatchObject({ state: 'sent', contentSealed: null, attempts: 1, reason: '' })
    expect(row.sentAt).toEqual(new Date(server.clock.ms))
  })

  test('arrives in the language that somebody who has proved the address has chosen, else of who causes it, else in English', async () => {
    const { store } = await server.openStore({ timeZone: 'Europe/Berlin' })
    const to = merchantAccount.Email
    const data = { link: '/a', expiresAt: new Date('2026-03-11T16:00:00Z') } as const
    const arrived = async (locale?: Locale) => {
      const reset = notice({ kind: 'address-change', data, to, storeId: store.id, ...(locale && { locale }) })
      await write(server.services, reset)
      await sender.runDue()
      const { headers, text, html } = receiver.last()
      const [until = ''] = /(?<=bis |until ).*(?=:)/.exec(text) ?? []
      return [headers.get('subject'), until, /<html lang="(\w+)">/.exec(html)?.[1], text.split('\n').at(-1)]
    }
    const english = [
      ...['Confirm your new e-mail address', 'Mar 11, 2026, 5:00 PM GMT+1', 'en'],
      'Sent automatically by http://localhost:3000',
    ]
    const german = [
      '=?UTF-8?Q?Best=C3=A4tigen_Sie_Ihre_neue_E-Mail-Adr?= =?UTF-8?Q?esse?=',
      ...['11. März 2026, 17:00 MEZ', 'de', 'Automatisch gesendet von http://localhost:3000'],
    ]
    expect(await arrived()).toEqual(english)
    expect(await arrived('de-DE')).toEqual(german)
    const { db } = server.services
    await db.identity.updateMany({ where: { email: to }, data: { locale: 'en-US' } })
    expect(await arrived('de-DE')).toEqual(german)
    await prove(server, to)
    expect(await arrived('de-DE')).toEqual(english)
    await db.identity.updateMany({ where: { email: to }, data: { locale: 'de-DE' } })
    expect(await arrived()).toEqual(german)
  })

  test.each([
    { step: 'MAIL FROM', code: 550, text: 'the sender is not known here' },
    { step: 'RCPT TO', code: 450, text: 'greylisted, come back' },
    { step: 'DATA', code: 451, text: 'no room today' },
  ] as const)(
    'that is refused for now ($code after $step) is sent later under the same Message-ID',
    async (refusal) => {
      await write(server.services, notice())
      const { messageId } = await mail()
      receiver.refusal = refusal
      await sender.runDue()
      expect(await mail()).toMatchObject({
        state: 'waiting',
        reason: `The mail server answered: ${refusal.code} ${refusal.text}`,
      })
      receiver.refusal = null
      await sender.runDue()
      expect(receiver.mails).toEqual([])
      await untilDue()
      await sender.runDue()
      expect(receiver.mails.map(({ headers }) => headers.get('message-id'))).toEqual([messageId])
      expect(await mail()).toMatchObject({ state: 'sent', reason: '', attempts: 2 })
    },
  )

  test('waits for a server that cannot be reached, and for one with another password, and no secret is kept or logged', async () => {
    await write(server.services, notice())
    const { messageId } = await mail()
    const gone = await openMailReceiver()
    await gone.close()
    const { config } = server.services
    await senderOf({ ...server.services, config: { ...config, smtpUrl: gone.url } }).runDue()
    expect((await mail()).reason).toBe('The mail server cannot be reached or ended the connection (ECONNREFUSED)')
    await untilDue()
    const smtpUrl = receiver.url.replace(/:[^:@]*@/, ':another@')
    await senderOf({ ...server.services, config: { ...config, smtpUrl } }).runDue()
    expect((await mail()).reason).toBe('The mail server refused the user name or the password (535)')
    await untilDue()
    await sender.runDue()
    expect(receiver.mails.map(({ headers }) => headers.get('message-id'))).toEqual([messageId])
    const logged = server.log.join('')
    expect(logged).toContain('a mail was not sent')
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), 'another@', 'shop@mail.example']) {
      expect(logged).not.toContain(secret)
    }
  })

  test('that is refused for good is not sent again, and the reason is kept', async () => {
    await write(server.services, notice())
    receiver.refusal = { step: 'RCPT TO', code: 550, text: '5.1.1 no such mailbox' }
    await sender.runDue()
    expect(await mail()).toMatchObject({
      state: 'bounced',
      reason: 'The mail server answered: 550 5.1.1 no such mailbox',
      contentSealed: null,
    })
    receiver.refusal = null
    server.clock.ms += 72 * HOUR_MS
    await sender.runDue()
    expect(receiver.mails).toEqual([])
    expect(figureOf(await sender.registry.metrics(), 'mail_attempts_total{outcome="bounced"}')).toBe(1)
  })

  test('is tried for two days, less and less often, and then given up', async () => {
    await write(server.services, notice())
    const { createdAt } = await mail()
    receiver.refusal = { step: 'DATA', code: 451, text: 'no room' }
    const hours: number[] = []
    while ((await mail()).state === 'waiting') {
      await untilDue()
      hours.push((server.clock.ms - createdAt.getTime()) / HOUR_MS)
      await sender.runDue()
    }
    const waits = hours.slice(1).map((hour, index) => hour - (hours[index] ?? 0))
    expect(waits.slice(0, -1)).toEqual(waits.slice(0, -1).toSorted((one, other) => one - other))
    expect(hours.at(-1)).toBe(48)
    expect(hours.length).toBeGreaterThanOrEqual(8)
    expect(await mail()).toMatchObject({ state: 'failed', contentSealed: null })
    const text = await sender.registry.metrics()
    expect(figureOf(text, 'mail_attempts_total{outcome="retried"}')).toBe(hours.length - 1)
    expect(figureOf(text, 'mail_attempts_total{outcome="failed"}')).toBe(1)
  })

  test('is sent though the server says nothing: the attempt ends after 20 s', async () => {
    const silent = await openSocketReceiver(() => {})
    await write(server.services, notice())
    const smtpUrl = silent.url.replace('http:', 'smtp:')
    const wait = globalThis.setTimeout
    vi.stubGlobal('setTimeout', (act: () => void, ms?: number) => wait(act, ms === 20_000 ? 500 : ms))
    await senderOf({ ...server.services, config: { ...server.services.config, smtpUrl } }).runDue()
    vi.unstubAllGlobals()
    expect((await mail()).reason).toBe('The mail server cannot be reached or ended the connection (ETIMEDOUT)')
    await silent.close()
    await untilDue()
    await sender.runDue()
    expect(receiver.mails).toHaveLength(1)
  })
})

test('of many due mails each is sent once, by two processes at the same time', async () => {
  const wanted = await Promise.all(Array.from({ length: 30 }, () => write(server.services, notice())))
  expect(wanted).toEqual(Array.from({ length: 30 }, () => true))
  const other = senderOf(server.services)
  await Promise.all([sender.runDue(), other.runDue()])
  const ids = (await server.services.db.mail.findMany()).map(({ messageId }) => messageId)
  expect(receiver.mails.map(({ headers }) => headers.get('message-id')).toSorted()).toEqual(ids.toSorted())
})

test('a process that stops lets the attempt end that is under way', async () => {
  await write(server.services, notice())
  const arrived = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  receiver.onArrival = () => {
    arrived.resolve()
    return answered.promise
  }
  sender.start()
  await arrived.promise
  const stopped = sender.stop()
  answered.resolve()
  await stopped
  expect((await mail()).state).toBe('sent')
})

test('the figures tell how many mails wait, and how long', async () => {
  const registry = sender.registry
  const { db, secrets } = server.services
  const config = { backupDir: null, backupHours: 24 }
  const log = { warn: () => {} }
  showShared(registry, { db, secrets, log, config, now: () => new Date(server.clock.ms) })
  await write(server.services, notice())
  server.clock.ms += HOUR_MS
  await write(server.services, notice())
  const text = await registry.metrics()
  expect(figureOf(text, 'mail_waiting')).toBe(2)
  expect(figureOf(text, 'mail_oldest_waiting_seconds')).toBe(3_600)
})
