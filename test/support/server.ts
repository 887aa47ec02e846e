import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../../src/database/embedded.ts'

// A process of its own: prints the address of a PostgreSQL server in a temporary folder, and takes both away when its
// standard input ends. So they go with the run, whatever ends that: vitest exits a millisecond after a signal.
const dataDir = await mkdtemp(join(tmpdir(), 'store-platform-test-'))
try {
  const { url, stop } = await startEmbedded({ dataDir, durable: false })
  process.stdout.on('error', () => {}).write(url)
  process.stdout.end()
  await once(process.stdin.resume(), 'end')
  await stop()
} finally {
  await rm(dataDir, { recursive: true, force: true })
}
