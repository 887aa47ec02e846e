import { PassThrough, type Readable, Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { createGzip } from 'node:zlib'
import { StartupError } from '../foundation/process/startup-error.ts'
import { writeWholeFile } from '../foundation/process/whole-file.ts'
import { LineCounter } from './count-lines.ts'
import { createProgress } from './progress.ts'
import { runProgram } from './run-program.ts'
import { callServer, findServer, readStoreId } from './server.ts'

const usage = 'Usage: npm run export -- --store ID [FILE.ndjson]   (FILE may end in .gz; without it: standard output)'

await runProgram(usage, main)

/** Exports a store of the running server. A file is there whole or not at all. */
async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { store: { type: 'string' } } })
  const [file, ...others] = positionals
  if (values.store === undefined || others.length > 0) throw new StartupError(usage)
  const storeId = readStoreId(values.store)
  const server = await findServer(environment)
  // The file is opened before the server is asked.
  const receiveInto = async (target: Writable, isZipped: boolean) => {
    const body = await callServer(server, `/admin/stores/${storeId}/export`)
    await receive(body, target, { label: `Store ${storeId}`, isZipped })
  }
  if (file === undefined) await receiveInto(process.stdout, false)
  else await writeWholeFile(file, (target) => receiveInto(target, file.endsWith('.gz')))
  return true
}

async function receive(body: Readable, target: Writable, { label, isZipped }: { label: string; isZipped: boolean }) {
  const progress = createProgress({ label })
  const counter = new LineCounter()
  const watched = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      counter.add(chunk)
      progress.advanceTo(counter.lines)
      done(null, chunk)
    },
  })
  try {
    const zip = isZipped ? createGzip() : new PassThrough()
    await pipeline(body, watched, zip, target, { end: target !== process.stdout })
  } catch (error) {
    throw new StartupError(`The export was cut off (${(error as Error).message}): run this again`)
  } finally {
    progress.done()
  }
  if (counter.end !== counter.lines) throw new StartupError('The export is not complete: run this again')
}
