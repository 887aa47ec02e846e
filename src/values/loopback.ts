import { isIP } from 'node:net'
import { inBlocks } from './address-blocks.ts'

/** Whether an IP address, mapped IPv4 (`::ffff:127.0.0.1`) included, is this machine's own. Anything else is not. */
export const isLoopback = inBlocks(['127.0.0.0/8', '::1'])

/** Whether a host name or address is this machine's own; IPv6 may stand in the brackets that it has in addresses. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? bare.toLowerCase() === 'localhost' : isLoopback(bare)
}
