import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { pipeline, type Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import { createGunzip } from 'node:zlib'
import type { ImportCounts, Refusal } from '../engine/transfer/import.ts'
import { readLines } from '../engine/transfer/lines.ts'
import { StartupError } from '../foundation/process/startup-error.ts'
import { LineCounter } from './count-lines.ts'
import { createProgress, type Progress } from './progress.ts'
import { runProgram } from './run-program.ts'
import { callServer, findServer, readStoreId } from './server.ts'

const usage =
  'Usage: npm run import -- FILE.ndjson [--store ID] [--events]   (FILE may end in .gz; - is standard input; --events: what changes is notified)'

await runProgram(usage, main)

/** Imports a file into a store of the running server. False: not every line was stored. */
async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { store: { type: 'string' }, events: { type: 'boolean', default: false } },
  })
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw new StartupError(usage)
  const server = await findServer(environment)
  const storeId = values.store === undefined ? server.storeId : readStoreId(values.store)
  const counter = new LineCounter()
  if (file !== '-') for await (const chunk of await openFile(file)) counter.add(chunk)
  const progress = createProgress({ label: `Store ${storeId}`, ...(file !== '-' && { total: counter.lines }) })
  const report = await callServer(server, `/admin/stores/${storeId}/import?events=${values.events}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: await openFile(file),
  })
  const { lines, stored, refused, passed } = await follow(report, progress)
  const ofErased = passed > 0 ? `, ${passed} passed over (their persons were erased)` : ''
  process.stdout.write(`${lines} lines: ${stored} stored, ${refused} refused${ofErased}\n`)
  return refused === 0
}

async function openFile(file: string): Promise<Readable> {
  if (file === '-') {
    // The server gives a request a minute to begin.
    await once(process.stdin, 'readable')
    return process.stdin
  }
  const stream = createReadStream(file)
  await once(stream, 'open').catch((error: NodeJS.ErrnoException) => {
    throw new StartupError(`${file} cannot be read (${error.code ?? error.message})`)
  })
  // Errors of both reach the reader of the result.
  return file.endsWith('.gz') ? pipeline(stream, createGunzip(), () => {}) : stream
}

type ReportLine =
  | { progress: { lines: number } }
  | { refused: Refusal }
  | { warned: Refusal }
  | { done: ImportCounts }
  | { failed: { message: string } }

async function follow(report: Readable, progress: Progress): Promise<ImportCounts> {
  try {
    for await (const { content } of readLines(report)) {
      const line = content as ReportLine
      if ('progress' in line) progress.advanceTo(line.progress.lines)
      else if ('refused' in line) progress.say(describe(line.refused))
      else if ('warned' in line) progress.say(`Worth a look: ${describe(line.warned)}`)
      else if ('failed' in line) throw new StartupError(line.failed.message)
      else {
        progress.advanceTo(line.done.lines)
        return line.done
      }
    }
  } catch (error) {
    if (error instanceof StartupError) throw error
    throw new StartupError(
      `The connection to the server was lost (${(error as Error).message}). What is stored stays: run this again`,
    )
  } finally {
    progress.done()
  }
  throw new StartupError('The server ended its answer early. What is stored stays: run this again')
}

function describe({ line, service, id, message }: Refusal): string {
  const record = `${service} ${id}`.trim()
  return `Line ${line}${record === '' ? '' : ` (${record})`}: ${message}`
}
