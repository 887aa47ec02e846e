import { Webhook } from 'standardwebhooks'
import { beforeEach, expect, test } from 'vitest'
import { type Answer, json, openReceiver, type Received, status } from '../../../../support/receiver.ts'
import { refused } from '../../../../support/refused.ts'
import { shared } from '../../../../support/shared.ts'
import { developerIn, type TestDeveloper } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { type ApplicationRecord, logged, registered } from './fixture.ts'

let developer: TestDeveloper

const server = await sharedServer()
const receiver = await shared(openReceiver())
beforeEach(async () => {
  // Of its own each time: tries are counted by developer.
  developer = await developerIn(server)
  receiver.received.length = 0
  receiver.answer = status(200)
})

function addressOf({ Id }: ApplicationRecord): string {
  return `/developers/applications/${Id}/callback-test`
}

test('a sample is sent as a real AUTHORIZE is, signed with the secret that the page shows, and what came back is told', async () => {
  const application = await registered(developer, { CallBackURL: receiver.url })
  receiver.answer = json({ PostBackURL: 'https://app.example/welcome' })
  const tried = await developer.call('POST', addressOf(application))
  expect(tried.statusCode).toBe(200)
  const sent = {
    PublicKey: application.PublicKey,
    TimeStamp: '03-10-2026 12:00:00',
    TokenKey: '00000000000000000000000000000000',
    Action: 'AUTHORIZE',
    SecureURL: 'https://sample.store.example',
  }
  expect(tried.json()).toEqual({
    MessageId: receiver.received[0]?.headers['webhook-id'],
    Sent: sent,
    Status: 200,
    Reason: null,
    Milliseconds: expect.any(Number),
    Answer: '{"PostBackURL":"https://app.example/welcome"}',
    PostBackURL: 'https://app.example/welcome',
  })
  expect(receiver.received).toHaveLength(1)
  const [{ method, headers, text }] = receiver.received as [Received]
  expect([method, JSON.parse(text)]).toEqual(['POST', sent])
  expect(() => verified(application, headers, text)).not.toThrow()
  expect(() => verified(application, headers, `${text} `)).toThrow()
})

/** The clock of the tests stands, and the library goes by the real one: it would find the message too old. */
function verified({ CallBackSecret }: ApplicationRecord, headers: Received['headers'], body: string): void {
  const expected = new Webhook(CallBackSecret).sign(
    String(headers['webhook-id']),
    new Date(Number(headers['webhook-timestamp']) * 1_000),
    body,
  )
  if (!String(headers['webhook-signature']).split(' ').includes(expected)) throw new Error('wrong signature')
}

test.each<[string, Answer, object]>([
  [
    'a 500',
    (response) => response.writeHead(500).end('<b>broken</b>'),
    { Status: 500, Reason: 'The answer has the status 500 and not 200', Answer: '<b>broken</b>', PostBackURL: null },
  ],
  [
    'a closed connection',
    (response) => response.destroy(),
    { Status: null, Reason: expect.stringContaining('closed'), Answer: '' },
  ],
])('%s is told as it is', async (_what, reply, expected) => {
  receiver.answer = reply
  const application = await registered(developer, { CallBackURL: receiver.url })
  const tried = await developer.call('POST', addressOf(application))
  expect([tried.statusCode, tried.json()]).toMatchObject([200, expected])
  expect(receiver.received).toHaveLength(1)
})

test('the page shows what was sent and what came back, as text', async () => {
  const application = await registered(developer, { CallBackURL: receiver.url })
  const page = `/developers/applications/${application.Id}`
  receiver.answer = (response) => response.end('<script>alert(1)</script>')
  const fine = await developer.submit(page, {}, { action: addressOf(application) })
  expect(fine.statusCode).toBe(200)
  expect(fine.body).toContain('would subscribe</span>')
  expect(fine.body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(fine.body).not.toContain('<script>alert')
  expect(fine.body).toContain('https://sample.store.example')
  expect(fine.body).toContain(String(receiver.received[0]?.headers['webhook-id']))
  expect(fine.body).toContain(application.PublicKey)

  receiver.answer = status(404)
  const refusal = await developer.submit(page, {}, { action: addressOf(application) })
  expect(refusal.statusCode).toBe(200)
  expect(refusal.body).toContain('would not subscribe</span> The answer has the status 404 and not 200.')
})

test('it subscribes nobody, and the log has that it was tried, without what was answered', async () => {
  const application = await registered(developer, { CallBackURL: receiver.url })
  receiver.answer = (response) => response.end('a secret of the receiver')
  await developer.call('POST', addressOf(application))
  receiver.answer = (response) => response.writeHead(500).end('another secret')
  await developer.call('POST', addressOf(application))
  const { db } = server.services
  expect(await db.subscription.count({ where: { applicationId: application.Id } })).toBe(0)
  expect(await db.handshake.count({ where: { applicationId: application.Id } })).toBe(0)
  const entries = await logged(server, application)
  expect(entries.slice(1).map(({ action, details }) => [action, details])).toEqual([
    ['application.callback-tested', { status: 200 }],
    ['application.callback-tested', { status: 500, reason: 'The answer has the status 500 and not 200' }],
  ])
  expect(JSON.stringify(entries)).not.toContain('secret')
})

test('without a CallBackURL there is nothing to try, and no button', async () => {
  const application = await registered(developer)
  expect(refused(await developer.call('POST', addressOf(application)))).toMatchObject({
    statusCode: 409,
    field: 'CallBackURL',
  })
  const page = await developer.open(`/developers/applications/${application.Id}`)
  expect(page.body).not.toContain(addressOf(application))
})

test('a developer tries ten times at once, and then every ten seconds; others are not held up', async () => {
  const application = await registered(developer, { CallBackURL: receiver.url })
  const statuses = async (count: number) => {
    const answers = await Promise.all(
      Array.from({ length: count }, () => developer.call('POST', addressOf(application))),
    )
    return answers.map(({ statusCode }) => statusCode).toSorted()
  }
  expect(await statuses(12)).toEqual([...Array(10).fill(200), 429, 429])
  expect(receiver.received).toHaveLength(10)
  const tooMany = await developer.submit(
    `/developers/applications/${application.Id}`,
    {},
    { action: addressOf(application) },
  )
  expect([tooMany.statusCode, tooMany.headers['retry-after']]).toEqual([429, '10'])
  expect(tooMany.body).toContain('Too many tries; come back in 10 s')
  server.clock.ms += 10_000
  expect(await statuses(2)).toEqual([200, 429])

  const other = await developerIn(server)
  const theirs = await registered(other, { CallBackURL: receiver.url })
  expect((await other.call('POST', addressOf(theirs))).statusCode).toBe(200)
})
