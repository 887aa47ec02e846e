import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { addressesInDns } from '../../../../src/foundation/outbound/names.ts'
import { openOutbound, post, reasonOf } from './receivers.ts'

const A = 1
const AAAA = 28
const NO_ERROR = 0
const SERVER_FAILURE = 2
const NO_SUCH_NAME = 3

type Answer = { code: number; addresses?: readonly (readonly number[])[] } | 'silence'

/** A name server on this machine that answers each kind of question as given; the resolver asks it alone. */
async function resolverOf(answers: Readonly<Record<number, Answer>>): Promise<Resolver> {
  const server = createSocket('udp4').on('message', (question, { port, address }) => {
    // RFC 1035 §4: the header, then a name of labels up to an empty one, then the kind.
    const end = question.indexOf(0, 12) + 5
    const kind = question.readUInt16BE(end - 4)
    const answer = answers[kind] ?? 'silence'
    if (answer === 'silence') return
    const { code, addresses = [] } = answer
    const header = Buffer.from(question.subarray(0, 12))
    header.writeUInt16BE(0x8180 | code, 2)
    header.writeUInt16BE(addresses.length, 6)
    header.writeUInt32BE(0, 8)
    const records = addresses.map((bytes) =>
      Buffer.from([0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
    )
    server.send(Buffer.concat([header, question.subarray(12, end), ...records]), port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const resolver = new Resolver({ timeout: 200, tries: 1 })
  resolver.setServers([`127.0.0.1:${server.address().port}`])
  return resolver
}

const ipv6 = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]

test('all addresses of a name are found, of both kinds', async () => {
  const resolver = await resolverOf({
    [A]: {
      code: NO_ERROR,
      addresses: [
        [10, 0, 0, 5],
        [8, 8, 8, 8],
      ],
    },
    [AAAA]: { code: NO_ERROR, addresses: [ipv6] },
  })
  expect(await addressesInDns('shop.example', resolver)).toEqual(['10.0.0.5', '8.8.8.8', '2001:db8::5'])
})

test.each<[string, Answer]>([
  ['there is none', { code: NO_ERROR }],
  ['the name server fails', { code: SERVER_FAILURE }],
  ['there is no answer', 'silence'],
])('one kind is enough when of the other %s', async (_, other) => {
  const without6 = await resolverOf({ [A]: { code: NO_ERROR, addresses: [[10, 0, 0, 5]] }, [AAAA]: other })
  expect(await addressesInDns('shop.example', without6)).toEqual(['10.0.0.5'])
  const without4 = await resolverOf({ [A]: other, [AAAA]: { code: NO_ERROR, addresses: [ipv6] } })
  expect(await addressesInDns('shop.example', without4)).toEqual(['2001:db8::5'])
})

test.each<[string, Answer, string]>([
  ['does not exist', { code: NO_SUCH_NAME }, 'shop.example is not known to the DNS'],
  ['has no address', { code: NO_ERROR }, 'shop.example is not known to the DNS'],
  ['cannot be asked for', { code: SERVER_FAILURE }, 'No name server answered for shop.example'],
  ['is not answered for', 'silence', 'No name server answered for shop.example'],
])('a name that %s is a failure with that reason', async (_, answer, reason) => {
  const resolver = await resolverOf({ [A]: answer, [AAAA]: answer })
  const outbound = openOutbound({ lookup: (hostname) => addressesInDns(hostname, resolver) })
  expect(reasonOf(await outbound.send(post('http://shop.example/')))).toBe(reason)
})
