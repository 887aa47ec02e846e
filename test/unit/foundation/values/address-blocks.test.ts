import { isIP } from 'node:net'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { inBlocks, isAddressBlock } from '../../../../src/foundation/values/address-blocks.ts'

describe('an address or CIDR block', () => {
  test.each([
    ...'10.0.0.5 0.0.0.0 10.1.0.0/16 10.0.0.5/16 0.0.0.0/0 255.255.255.255/32 ::1 ::/0 2001:db8::/32'.split(' '),
    ...'2001:DB8::5/128 ::ffff:10.0.0.5 ::ffff:10.0.0.0/104 fe80::1%eth0'.split(' '),
  ])('%s is one', (text) => {
    expect(isAddressBlock(text)).toBe(true)
    expect(() => inBlocks([text])).not.toThrow()
  })

  test.each([
    '',
    ' 10.0.0.5',
    '10.0.0.5 ',
    ...'10.0.0 010.0.0.1 10.0.0.256 10.0.0.0/33 10.0.0.0/ 10.0.0.0/-1 10.0.0.0/1e1 10.0.0.0/8.0'.split(' '),
    ...'10.0.0.0/8/8 10.0.0.0/0008 10.0.0.0/255.0.0.0 10.0.0.1-10.0.0.9 ::/129 [::1] 2001:db8:::1 /8'.split(' '),
    ...'localhost shop.example/24'.split(' '),
  ])('%j is none', (text) => {
    expect(isAddressBlock(text)).toBe(false)
  })
})

describe('an address lies in a block', () => {
  test.each([
    ['10.0.0.5', '10.0.0.5'],
    ['2001:db8::5', '2001:0DB8:0:0:0:0:0:5'],
    // Mapped addresses are the IPv4 address, on either side.
    ['10.0.0.0/8', '::ffff:10.0.0.5'],
    ['10.0.0.0/8', '::ffff:a00:5'],
    ['::ffff:10.0.0.5', '10.0.0.5'],
    ['::ffff:10.0.0.0/104', '10.0.0.5'],
    // A link's name is not part of the address.
    ['fe80::/10', 'fe80::1%eth0'],
    ['fe80::1%eth0', 'fe80::1'],
  ])('%s holds %s', (block, address) => {
    expect(inBlocks([block])(address)).toBe(true)
    expect(inBlocks(['192.0.2.1', block])(address)).toBe(true)
  })

  test.each([
    ['10.0.0.5', '10.0.0.4'],
    ['10.0.0.0/8', '::a00:5'],
    ['10.0.0.0/8', '::ffff:11.0.0.5'],
    ['0.0.0.0/0', '::1'],
    ['2001:db8::5', '2001:db8::6'],
    ['10.0.0.5', ''],
    ['10.0.0.5', 'unknown'],
    ['0.0.0.0/0', 'shop.example'],
    ['::/0', '10.0.0'],
  ])('%s does not hold %s', (block, address) => {
    expect(inBlocks([block])(address)).toBe(false)
  })

  test('and no address lies in no blocks', () => {
    expect(inBlocks([])('10.0.0.5')).toBe(false)
    expect(inBlocks([])('::1')).toBe(false)
  })
})

test('blocks of every width hold the same addresses as another reader of them says', () => {
  const v4 = fc.ipV4()
  const v6 = fc.ipV6()
  const near = (address: string, flipped: number) => {
    const bytes = ipaddr.parse(address).toByteArray()
    const at = Math.floor(flipped / 8) % bytes.length
    bytes[at] = (bytes[at] ?? 0) ^ (1 << (flipped % 8))
    return ipaddr.fromByteArray(bytes).toString()
  }
  const pairs = fc.oneof(
    fc.tuple(v4, fc.integer({ min: 0, max: 32 }), fc.nat(31)),
    fc.tuple(v6, fc.integer({ min: 0, max: 128 }), fc.nat(127)),
  )
  fc.assert(
    fc.property(pairs, ([address, bits, flipped]) => {
      const other = near(address, flipped)
      const [one, two] = [ipaddr.parse(address), ipaddr.parse(other)]
      // Mapped ones are another matter, above.
      fc.pre(isIP(address) === 4 || !(one as ipaddr.IPv6).isIPv4MappedAddress())
      expect(isAddressBlock(`${address}/${bits}`)).toBe(true)
      expect(inBlocks([`${address}/${bits}`])(other)).toBe(two.match(one, bits))
    }),
    { numRuns: 1_000 },
  )
})
