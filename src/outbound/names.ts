import { Resolver } from 'node:dns/promises'

/** Within the time that callers give for connecting, a lost packet can be made good. */
const resolverOptions = { timeout: 1_000, tries: 2 }

/**
 * All addresses that the DNS has for a name, at least one; rejects with the resolver's error otherwise. One kind of
 * address is enough when the other cannot be had.
 *
 * Not the system's `getaddrinfo`: it blocks threads that everything else in the process shares, for many seconds where
 * a name server is dead, and whoever sets an address to call chooses the name server.
 */
export async function addressesInDns(
  hostname: string,
  // Made for each look-up: it reads the system's name servers when it is made.
  resolver = new Resolver(resolverOptions),
): Promise<readonly string[]> {
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const addresses = [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason
  return addresses
}
