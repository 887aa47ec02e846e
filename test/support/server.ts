import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../../src/foundation/embedded/embedded.ts'
import { administratorUrl } from './administrator.ts'
import { openClient } from './client.ts'

// A process of its own: prints the address of a PostgreSQL server in a temporary folder, and takes both away when its
// standard input ends. So they go with the run, whatever ends that: vitest exits a millisecond after a signal.
const dataDir = await mkdtemp(join(tmpdir(), 'store-platform-test-'))
try {
  const { url, stop } = await startEmbedded({ dataDir, durable: false })
  // The tests' databases are this role's, as the server's own is in use: nothing of it needs a superuser.
  const administrator = await openClient(await administratorUrl(dataDir, url))
  await administrator.query(`ALTER ROLE "${new URL(url).username}" CREATEDB`)
  await administrator.end()
  process.stdout.on('error', () => {}).write(url)
  process.stdout.end()
  await once(process.stdin.resume(), 'end')
  await stop()
} finally {
  await rm(dataDir, { recursive: true, force: true })
}
