import { once } from 'node:events'
import { createServer } from 'node:net'
import { StartupError } from './startup-error.ts'

/**
 * Checks that the address can be listened on, before a start spends time on anything else. Returns the port, or a free one
 * for 0. Throws `StartupError`.
 */
export async function findPort(host: string, port: number, setting: Place['setting'] = 'PORT'): Promise<number> {
  const server = createServer()
  try {
    await once(server.listen({ host, port }), 'listening')
    const address = server.address()
    return typeof address === 'object' && address ? address.port : port
  } catch (error) {
    throw cannotListen({ host, port, setting }, error)
  } finally {
    server.close()
  }
}

type Place = { host: string; port: number; setting: 'PORT' | 'HTTP_PORT' }

/** Turns an error of listening into a `StartupError` with a remedy. */
export function cannotListen({ host, port, setting }: Place, error: unknown): StartupError {
  const { code, message } = error as NodeJS.ErrnoException
  const remedy = (code && remedies[code]) ?? `is not possible (${code ?? message}). Set HOST and PORT to others`
  return new StartupError(`Listening on ${host} port ${port} ${remedy.replace('PORT', setting)}`)
}

const remedies: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is not possible: the port is in use. Stop the program that uses it, or set PORT to a free one',
  EACCES: 'is not allowed for this user. Set PORT to 1024 or above',
  EADDRNOTAVAIL: 'is not possible: this machine does not have that address. Set HOST to one that it has',
  ENOTFOUND: 'is not possible: there is no such host name. Set HOST to an IP address of this machine',
}
