import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The superuser's address on an embedded server, made of its server role's `url` as docs/operations.md says. */
export async function administratorUrl(dataDir: string, url: string): Promise<string> {
  const password = (await readFile(join(dataDir, 'postgres/password'), 'utf8')).trim()
  return Object.assign(new URL(url), { username: 'store_platform', password, pathname: '/postgres' }).href
}
