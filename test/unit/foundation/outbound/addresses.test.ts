import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { BlockList } from 'node:net'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createOutbound } from '../../../../src/foundation/outbound/outbound.ts'
import { special4, special6 } from './special-addresses.ts'

const { addressFault } = createOutbound({ allow: [] })

test.each([
  'https://shop.example/callback?a=b#c',
  'http://shop.example:8080',
  'https://müller.example/',
  'HTTPS://Shop.Example./',
  'https://8.8.8.8/',
  'https://[2001:4860:4860::8888]/',
  'http://[::ffff:8.8.8.8]/',
  'http://[64:ff9b::808:808]/',
  'http://not-localhost.example/',
  'http://10.0.0.1.example/',
])('%s may be tried', (url) => {
  expect(addressFault(url)).toBeNull()
})

test.each([
  ['http://127.0.0.1/', '127.0.0.1'],
  ['http://127.1/', '127.0.0.1'],
  ['http://0x7f000001/', '127.0.0.1'],
  ['http://0x7f.1/', '127.0.0.1'],
  ['http://2130706433/', '127.0.0.1'],
  ['http://0177.0.0.1/', '127.0.0.1'],
  ['http://127.0.0.1./', '127.0.0.1'],
  ['http://%31%32%37.0.0.1/', '127.0.0.1'],
  ['http://①②⑦.0.0.1/', '127.0.0.1'],
  ['http://127。0。0。1/', '127.0.0.1'],
  ['http://localhost/', '127.0.0.1'],
  ['http://LOCALHOST.:8080/', '127.0.0.1'],
  ['http://shop.localhost/', '127.0.0.1'],
  ['http://ⓛocalhost/', '127.0.0.1'],
  ['http://0.0.0.0/', '0.0.0.0'],
  ['http://0/', '0.0.0.0'],
  ['http://10.0.0.5:8080/', '10.0.0.5'],
  ['http://100.64.0.1/', '100.64.0.1'],
  ['http://169.254.169.254/latest/meta-data/', '169.254.169.254'],
  ['http://172.16.0.1/', '172.16.0.1'],
  ['http://192.0.2.1/', '192.0.2.1'],
  ['http://168.63.129.16/', '168.63.129.16'],
  ['http://192.168.1.1/', '192.168.1.1'],
  ['http://224.0.0.1/', '224.0.0.1'],
  ['http://255.255.255.255/', '255.255.255.255'],
  ['http://[::]/', '::'],
  ['http://[::1]/', '::1'],
  ['http://[::ffff:10.0.0.1]/', '10.0.0.1'],
  ['http://[::ffff:a00:1]/', '10.0.0.1'],
  ['http://[::10.0.0.1]/', '::a00:1'],
  ['http://[64:ff9b::a00:1]/', '10.0.0.1'],
  ['http://[64:ff9b:1::808:808]/', '64:ff9b:1::808:808'],
  ['http://[2002:0a00:0001::]/', '2002:a00:1::'],
  ['http://[2001:0:a00:1::]/', '2001:0:a00:1::'],
  ['http://[fe80::1]/', 'fe80::1'],
  ['http://[fd00::1]/', 'fd00::1'],
  ['http://[ff02::1]/', 'ff02::1'],
  ['http://[4000::1]/', '4000::1'],
])('%s leads inside', (url, address) => {
  expect(addressFault(url)).toBe(`leads to ${address}, which is not a public address`)
})

test.each([
  ['ftp://shop.example/', 'must begin with http:// or https://'],
  ['file:///etc/passwd', 'must begin with http:// or https://'],
  ['javascript:alert(1)', 'must begin with http:// or https://'],
  ['https://user@shop.example/', 'must not hold a user name or password'],
  ['https://:password@shop.example/', 'must not hold a user name or password'],
  ['https://shop.example@10.0.0.1/', 'must not hold a user name or password'],
  ['http://shop.example:25/', 'must not use port 25, which belongs to another protocol'],
  ['https://shop.example:6667/', 'must not use port 6667, which belongs to another protocol'],
  ['http://shop.example:0/', 'must not use port 0, which belongs to another protocol'],
])('%s %s', (url, fault) => {
  expect(addressFault(url)).toBe(fault)
})

test.each(['', 'shop.example/callback', '//shop.example', 'http://', 'http://[fe80::1%25eth0]/', 'http://256.1.1.1/'])(
  '%j is no web address',
  (url) => {
    expect(addressFault(url)).toBe('is not a web address; allowed: http or https, such as https://shop.example/path')
  },
)

test('the ports that browsers refuse are refused, and no others', () => {
  // The list of undici's fetch; it exports none.
  const library = dirname(createRequire(import.meta.url).resolve('undici'))
  const source = readFileSync(join(library, 'lib/web/fetch/constants.js'), 'utf8')
  const list = /const badPorts = [^[]*\(\[([^\]]+)\]/.exec(source)?.[1] ?? ''
  const refusedByBrowsers = [0, ...[...list.matchAll(/\d+/g)].map(([port]) => Number(port))]
  expect(refusedByBrowsers.length).toBeGreaterThan(80)

  const ports = Array.from({ length: 65_536 }, (_, port) => port)
  const refused = ports.filter((port) => addressFault(`http://shop.example:${port}/`) !== null)

  expect(refused).toEqual(refusedByBrowsers)
})

describe('exceptions', () => {
  const allowing = (...allow: string[]) => createOutbound({ allow }).addressFault

  test('a block allows what lies in it, in every spelling, and nothing else', () => {
    const fault = allowing('10.1.0.0/16', '192.168.7.7')
    for (const host of ['10.1.2.3', '0x0a010203', '[::ffff:10.1.2.3]', '[64:ff9b::a01:203]', '192.168.7.7']) {
      expect(fault(`http://${host}:8080/`)).toBeNull()
    }
    for (const host of ['10.2.0.1', '192.168.7.8', '127.0.0.1', '[::1]', '[::a01:203]', '[2002:a01:203::]']) {
      expect(fault(`http://${host}:8080/`)).toMatch(/^leads to /)
    }
  })

  test('IPv6 blocks and single addresses too', () => {
    const fault = allowing('fd00:1::/32', '::1')
    expect(fault('http://[fd00:1::5]/')).toBeNull()
    expect(fault('http://[::1]/')).toBeNull()
    expect(fault('http://[fd00:2::5]/')).toMatch(/^leads to /)
    expect(fault('http://[::2]/')).toMatch(/^leads to /)
  })

  test('localhost may be called as soon as one of its addresses may', () => {
    expect(allowing('::1')('http://localhost:8080/')).toBeNull()
    expect(allowing('127.0.0.0/8')('http://localhost:8080/')).toBeNull()
  })

  test('everything else about the address is refused as before', () => {
    const fault = allowing('0.0.0.0/0', '::/0')
    expect(fault('http://10.0.0.1:25/')).toMatch(/^must not use port/)
    expect(fault('http://user@10.0.0.1/')).toMatch(/^must not hold/)
    expect(fault('ftp://10.0.0.1/')).toMatch(/^must begin/)
  })
})

describe('of all addresses, those that are special are refused and the others are not', () => {
  const special = new BlockList()
  for (const [address, bits] of special4) special.addSubnet(address, bits, 'ipv4')
  const publicSpecial6 = new BlockList()
  for (const [address, bits] of special6) publicSpecial6.addSubnet(address, bits, 'ipv6')
  const global6 = new BlockList()
  global6.addSubnet('2000::', 3, 'ipv6')

  const octets = fc.tuple(...([0, 1, 2, 3] as const).map(() => fc.integer({ min: 0, max: 255 })))
  const nearSpecial = fc.constantFrom(...special4).chain(([address, bits]) => near(address, bits))
  const ipv4 = fc.oneof(
    octets.map((bytes) => bytes.join('.')),
    nearSpecial,
  )

  test('IPv4, in each of its spellings', () => {
    fc.assert(
      fc.property(ipv4, fc.constantFrom(...spellings), (address, spell) => {
        expect(addressFault(`http://${spell(bytesOf(address))}/`) === null).toBe(!special.check(address, 'ipv4'))
      }),
      { numRuns: 5_000 },
    )
  })

  test('IPv6', () => {
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 })
    const beginnings = special6.map(([address]) => fullGroups(address))
    const ipv6 = fc
      .tuple(groups, fc.constantFrom(...beginnings, [0x2001], [0x2600], [0x64]), fc.integer({ min: 0, max: 4 }))
      .map(([rest, beginning, kept]) => rest.map((group, at) => (at < kept ? (beginning[at] ?? group) : group)))
    fc.assert(
      fc.property(ipv6, (parts) => {
        const address = parts.map((part) => part.toString(16)).join(':')
        const isPublic = global6.check(address, 'ipv6') && !publicSpecial6.check(address, 'ipv6')
        expect(addressFault(`http://[${address}]/`) === null).toBe(isPublic)
      }),
      { numRuns: 5_000 },
    )
  })
})

type Bytes = readonly number[]

function bytesOf(address: string): number[] {
  return address.split('.').map(Number)
}

function whole(bytes: Bytes): number {
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0)
}

const hexPairs = (bytes: Bytes) => `${whole(bytes.slice(0, 2)).toString(16)}:${whole(bytes.slice(2)).toString(16)}`

const spellings: readonly ((bytes: Bytes) => string)[] = [
  (bytes) => bytes.join('.'),
  (bytes) => `${bytes.join('.')}.`,
  (bytes) => String(whole(bytes)),
  (bytes) => `0x${whole(bytes).toString(16)}`,
  (bytes) => `0${whole(bytes).toString(8)}`,
  (bytes) => bytes.map((byte) => `0${byte.toString(8)}`).join('.'),
  (bytes) => bytes.map((byte) => `0X${byte.toString(16)}`).join('.'),
  (bytes) => `${bytes[0]}.${whole(bytes.slice(1))}`,
  (bytes) => `${bytes[0]}.${bytes[1]}.${whole(bytes.slice(2))}`,
  (bytes) => `[::ffff:${bytes.join('.')}]`,
  (bytes) => `[::ffff:${hexPairs(bytes)}]`,
  (bytes) => `[64:ff9b::${hexPairs(bytes)}]`,
]

/** Within the block, or just outside of it. */
function near(address: string, bits: number): fc.Arbitrary<string> {
  const first = whole(bytesOf(address))
  const size = 2 ** (32 - bits)
  const ends = [first - 1, first, first + size - 1, first + size].filter((value) => value >= 0 && value < 2 ** 32)
  return fc
    .oneof(fc.constantFrom(...ends), fc.integer({ min: first, max: first + size - 1 }))
    .map((value) => [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.'))
}

function fullGroups(address: string): number[] {
  const [before = '', after = ''] = address.split('::')
  const groups = (text: string) =>
    text.split(':').flatMap((group) => (group === '' ? [] : [Number.parseInt(group, 16)]))
  const [left, right] = [groups(before), groups(after)]
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right]
}
