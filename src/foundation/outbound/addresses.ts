import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { inBlocks } from '../values/address-blocks.ts'

/** Whether connecting to an IP address is allowed; false for anything else. */
export type IsAllowed = (address: string) => boolean

/** Allows public unicast addresses and `allow` (addresses and CIDR blocks; IPv4 blocks include mapped forms). */
export function addressRule(allow: readonly string[]): IsAllowed {
  const isException = inBlocks(allow)
  return (address) => {
    if (isIP(address) === 0) return false
    const ip = unwrapped(address)
    return isPublic(ip) || isException(ip.toString())
  }
}

/** Returns why `url` is invalid, whatever its host, as a sentence without its subject, or null. */
export function urlFault(url: string): string | null {
  // Parsers drop tabs and line breaks silently, so that the address that is called would be another.
  if (/\p{Cc}/u.test(url)) return 'must not hold a control character, such as a tab or a line break'
  const parsed = URL.parse(url)
  if (parsed === null) return 'is not a web address; allowed: http or https, such as https://shop.example/path'
  if (!/^https?:$/.test(parsed.protocol)) return 'must begin with http:// or https://'
  if (parsed.username || parsed.password) return 'must not hold a user name or password'
  if (refusedPorts.has(parsed.port)) return `must not use port ${parsed.port}, which belongs to another protocol`
  return null
}

/** Returns why a host can never be called, without a DNS lookup, as a sentence without its subject, or null. */
export function hostFault(hostname: string, isAllowed: IsAllowed): string | null {
  const known = knownAddresses(hostname)
  if (known === null || known.some(isAllowed)) return null
  const [address = ''] = known
  return `leads to ${isIP(address) === 0 ? address : unwrapped(address)}, which is not a public address`
}

/** Omits the brackets of an IPv6 address. */
export function hostnameOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

/** Returns the addresses of an IP address or localhost (RFC 6761 §6.3); null for a name in DNS. */
export function knownAddresses(hostname: string): readonly string[] | null {
  if (isIP(hostname) !== 0) return [hostname]
  return /(^|\.)localhost\.?$/i.test(hostname) ? ['127.0.0.1', '::1'] : null
}

type Ip = ipaddr.IPv4 | ipaddr.IPv6

const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
/** A public address, but on Azure's virtual machines it is their own host. */
const azureHost = '168.63.129.16'

/** Returns the IPv4 address that a connection reaches through a mapped address or NAT64 (64:ff9b::/96). */
function unwrapped(address: string): Ip {
  const ip = ipaddr.parse(address)
  if (ip instanceof ipaddr.IPv4) return ip
  return ip.isIPv4MappedAddress() || ip.match(nat64) ? new ipaddr.IPv4(ip.toByteArray().slice(12)) : ip
}

function isPublic(ip: Ip): boolean {
  if (ip.range() !== 'unicast' || ip.toString() === azureHost) return false
  return ip instanceof ipaddr.IPv4 || ip.match(globalUnicast)
}

/** https://fetch.spec.whatwg.org/#port-blocking */
const refusedPorts: ReadonlySet<string> = new Set(
  [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
  ].map(String),
)
