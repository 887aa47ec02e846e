import { isIP } from 'node:net'
import { inBlocks } from './address-blocks.ts'

/** Whether the text is an IP address of the loopback network, mapped IPv4 (`::ffff:127.0.0.1`) included. */
export const isLoopback = inBlocks(['127.0.0.0/8', '::1'])

/** Whether a host name or address is loopback. IPv6 may have brackets, as in URLs. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? bare.toLowerCase() === 'localhost' : isLoopback(bare)
}
