// Plain JavaScript that every Node from 14 on can read: an older Node than TypeScript needs, or a missing installation, must
// end in one clear line and not in a loader's stack trace.
import { existsSync } from 'node:fs'
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'

const NODE_MIN = [22, 19]

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const isTooOld = major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])

if (!existsSync(new URL('../node_modules/fastify/', import.meta.url))) {
  refuse('The dependencies are not installed. Run: npm ci')
} else if (isTooOld) {
  refuse(
    `Node ${NODE_MIN.join('.')} or later is needed, and this is ${process.versions.node}. ` +
      'Run npm start, which uses the Node 24 that npm ci brings (not with --ignore-scripts or --omit=optional), or install Node 24',
  )
} else {
  // What Node makes of the sources, types stripped and compiled, is kept for the next start, which takes a third less of the
  // processor. Where the folder cannot be written, nothing is kept.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)))
  await import('./main.ts').catch((error) => {
    if (!/^Cannot find (?:native binding|package|module)/.test(error.message)) throw error
    const [reason] = error.message.split(/\. |\n/, 1)
    refuse(`The dependencies are not installed whole (${reason}). Run npm ci without --omit=optional`)
  })
  // By itself Node writes it when the process ends, and a killed one would leave nothing.
  module.flushCompileCache?.()
}

/** @param {string} reason */
function refuse(reason) {
  console.error(`store-platform cannot start: ${reason}`)
  process.exitCode = 1
}
