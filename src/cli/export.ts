import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { PassThrough, type Readable, Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { createGzip } from 'node:zlib'
import { StartupError } from '../startup-error.ts'
import { createLineCounter } from './count-lines.ts'
import { createProgress, type Progress } from './progress.ts'
import { runProgram } from './run-program.ts'
import { callServer, findServer, readStoreId } from './server.ts'

const usage = 'Usage: npm run export -- --store ID [FILE.ndjson]   (FILE may end in .gz; without it: standard output)'

await runProgram(main)

/** Exports a store of the running server. A file is there whole or not at all. */
async function main(given: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const { file, store } = readArguments(given)
  const storeId = readStoreId(store)
  const server = await findServer(environment)
  const body = await callServer(server, `/admin/stores/${storeId}/export`)
  const progress = createProgress({ label: `Store ${storeId}` })
  try {
    if (file === undefined) await receive(body, process.stdout, progress)
    else await receiveFile(body, file, progress)
  } finally {
    progress.done()
  }
  return true
}

function readArguments(given: string[]): { file: string | undefined; store: string } {
  const { values, positionals } = parseArgs({
    args: given,
    allowPositionals: true,
    options: { store: { type: 'string' } },
  })
  const [file, ...others] = positionals
  if (values.store === undefined || others.length > 0) throw new StartupError(usage)
  return { file, store: values.store }
}

/** Password hashes are in it, so that only its owner may read it. */
async function receiveFile(body: Readable, file: string, progress: Progress): Promise<void> {
  const part = `${file}.part`
  const handle = await open(part, 'w', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new StartupError(`${part} cannot be written (${error.code ?? error.message})`)
  })
  try {
    await receive(body, createWriteStream('', { fd: handle, autoClose: false }), progress, file.endsWith('.gz'))
    await handle.sync()
    await handle.close()
    await rename(part, file)
  } catch (error) {
    await handle.close()
    await rm(part, { force: true })
    throw error
  }
}

async function receive(body: Readable, target: Writable, progress: Progress, isZipped = false): Promise<void> {
  const counter = createLineCounter()
  let shown = 0
  const watched = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      counter.add(chunk)
      progress.advance(counter.lines() - shown)
      shown = counter.lines()
      done(null, chunk)
    },
  })
  await pipeline(body, watched, isZipped ? createGzip() : new PassThrough(), target, {
    end: target !== process.stdout,
  }).catch((error: Error) => {
    throw new StartupError(`The export was cut off (${error.message}): run this again`)
  })
  if (counter.end() !== counter.lines()) throw new StartupError('The export is not complete: run this again')
}
