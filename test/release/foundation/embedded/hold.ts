import { once } from 'node:events'
import { startEmbedded } from '../../../../src/foundation/embedded/embedded.ts'
import { StartupError } from '../../../../src/foundation/process/startup-error.ts'

// A process that uses the data folder named on its command line: prints the address, or why it cannot start, and stops
// when its standard input ends.
try {
  const { url, stop } = await startEmbedded({ dataDir: process.argv[2] ?? '' })
  process.stdout.write(`${url}\n`)
  await once(process.stdin.resume(), 'end')
  await stop()
} catch (error) {
  if (!(error instanceof StartupError)) throw error
  process.stdout.write(`${error.message}\n`)
}
