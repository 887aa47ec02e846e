import { BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Whether a text is an IP address or a CIDR block, such as 10.0.0.5 or 10.1.0.0/16. */
export function isAddressBlock(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= widthOf(address))
}

/** Whether an IP address lies in one of these addresses and blocks; false for what is no address. An IPv4 block holds the mapped form (`::ffff:10.0.0.5`) too. */
export function inBlocks(blocks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const block of blocks) {
    const [address = '', bits] = block.split('/')
    list.addSubnet(address, bits === undefined ? widthOf(address) : Number(bits), familyOf(address))
  }
  return (address) => list.check(address, familyOf(address))
}

/**
 * The network that refused requests and failed sign-ins are counted by: the /64 of an IPv6 address, because one subscriber
 * has all of it; an IPv4 address, mapped or not, is its own. What is no address stays as it is.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? `${parsed.parts.slice(0, 4).join(':')}::/64` : parsed.toString()
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}

function widthOf(address: string): number {
  return isIP(address) === 4 ? 32 : 128
}
