import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { inBlocks } from '../values/address-blocks.ts'

/** Whether an IP address may be connected to; false for anything that is none. */
export type IsAllowed = (address: string) => boolean

/** Public unicast addresses, and those of `allow` (addresses and CIDR blocks; an IPv4 block holds the mapped forms too). */
export function addressRule(allow: readonly string[]): IsAllowed {
  const isException = inBlocks(allow)
  return (address) => {
    if (isIP(address) === 0) return false
    const ip = unwrapped(address)
    return isPublic(ip) || isException(ip.toString())
  }
}

/** What is wrong with `url`, wherever its host is, as a sentence without its subject. */
export function urlFault(url: string): string | null {
  const parsed = URL.parse(url)
  if (parsed === null) return 'is not a web address; allowed: http or https, such as https://shop.example/path'
  if (!/^https?:$/.test(parsed.protocol)) return 'must begin with http:// or https://'
  if (parsed.username || parsed.password) return 'must not hold a user name or password'
  if (refusedPorts.has(parsed.port)) return `must not use port ${parsed.port}, which belongs to another protocol`
  return null
}

/** Why a host can never be called, as far as no name must be looked up for it; a sentence without its subject. */
export function hostFault(hostname: string, isAllowed: IsAllowed): string | null {
  const known = knownAddresses(hostname)
  return known === null || known.some(isAllowed) ? null : leadsInside(known)
}

/** Without the brackets of an IPv6 address. */
export function hostnameOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

/** What needs no DNS: an address itself, and localhost (RFC 6761 §6.3). Null: another name. */
export function knownAddresses(hostname: string): readonly string[] | null {
  if (isIP(hostname) !== 0) return [hostname]
  return /(^|\.)localhost\.?$/i.test(hostname) ? ['127.0.0.1', '::1'] : null
}

/** Of addresses that are themselves in the URL, none of which is allowed; a sentence without its subject. */
function leadsInside([address = '']: readonly string[]): string {
  const shown = isIP(address) === 0 ? address : unwrapped(address).toString()
  return `leads to ${shown}, which is not a public address`
}

type Ip = ipaddr.IPv4 | ipaddr.IPv6

const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
/** Public by its number; for the machines of Azure it is the host that they run on. */
const azureHost = '168.63.129.16'

/** The IPv4 address that a connection would really go to: of a mapped one by this machine, of 64:ff9b::/96 by a NAT64. */
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
