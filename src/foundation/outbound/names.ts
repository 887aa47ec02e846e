import { Resolver } from 'node:dns/promises'

/** Leaves time to retry after a lost packet within the callers' connect timeout. */
const resolverOptions = { timeout: 1_000, tries: 2 }

/**
 * Returns all addresses that DNS has for a name, at least one, or rejects with the resolver's error. IPv4 or IPv6
 * addresses are enough if the other lookup fails.
 *
 * Does not use the system's `getaddrinfo`, because it blocks threads that the whole process shares, for many seconds if
 * a name server is dead, and a user who sets an address to call also chooses the name server.
 */
export async function addressesInDns(
  hostname: string,
  // Created per lookup, because creation reads the system's name servers.
  resolver = new Resolver(resolverOptions),
): Promise<readonly string[]> {
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const addresses = [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason
  return addresses
}
