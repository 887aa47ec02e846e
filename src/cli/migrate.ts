import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { readConfig } from '../foundation/process/settings.ts'
import { StartupError } from '../foundation/process/startup-error.ts'
import { resources } from '../shop/registry.ts'
import { Book } from './migrate/book.ts'
import type { Copying, Sums } from './migrate/copy.ts'
import { fetchImages } from './migrate/images.ts'
import { readKeys } from './migrate/keys.ts'
import { DIFFERENCES, Passes } from './migrate/passes.ts'
import { resultLines } from './migrate/result.ts'
import { leftOut, Source, Unavailable } from './migrate/source.ts'
import { Target } from './migrate/target.ts'
import { keepSecret, printable } from './printable.ts'
import { createProgress, figure } from './progress.ts'
import { runProgram } from './run-program.ts'
import { findServer, readStoreId } from './server.ts'

const usage = `Usage: npm run migrate -- --from ADDRESS --store N [--version v1|v2] [--follow] [--compare] [--into-used]
         [--apply-deletions] [--yes]
       npm run migrate -- --from ADDRESS --store N --images
Copies a store from a server of this interface into a store of the running server, and goes on where it was. Keys come from
MIGRATE_PRIVATE_KEY, MIGRATE_TOKEN and MIGRATE_SECURE_URL, or are asked for.
  --follow           keeps the copy up to date until Ctrl+C, a round every MIGRATE_ROUND_SECONDS (1 to 3600; 60 if not set)
  --compare          reads both sides again and lists what differs
  --into-used        takes a store that has records; what is in it is not overwritten
  --apply-deletions  deletes here what was deleted there; more than 20 records and 1 % of a service with --yes alone
  --images           fetches the pictures that the copied records name, below MIGRATE_SECURE_URL or ADDRESS; needs no keys
docs/moving-in.md has the whole move as a list.
`

/** Between two rounds of --follow, unless MIGRATE_ROUND_SECONDS says otherwise. */
const ROUND_SECONDS = 60

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const

await runProgram(usage, main)

async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const { values } = parseArgs({
    args,
    options: {
      ...{ from: text, store: text, version: { ...text, default: 'v1' }, by: { ...text, default: 'rest' } },
      ...{ follow: flag, compare: flag, 'apply-deletions': flag, 'into-used': flag, yes: flag, images: flag },
    },
  })
  const { from, store, version, by } = values
  if (from === undefined || store === undefined) throw new StartupError(usage)
  if (!/^v[12]$/.test(version)) throw new StartupError(`--version ${version} must be v1 or v2`)
  if (by !== 'rest') {
    throw new StartupError(
      `--by ${by} cannot copy a store. Two ways can: a REST application of the former shop (docs/moving-in.md says how to get one), or the former platform’s CSV files, in the store administration`,
    )
  }
  const storeId = readStoreId(store)
  const roundSeconds = readRoundSeconds(environment)
  const server = await findServer(environment)
  const target = await Target.open(server, storeId, say)
  if (values.images) return fetchImages(target, environment.MIGRATE_SECURE_URL?.trim() || from, print)
  const keys = await readKeys(environment, from)
  keepSecret(keys.privateKey, keys.token)
  const source = await Source.open(keys, { version, timeZone: target.store.TimeZone, say })
  try {
    const folder = join(readConfig(environment).dataDir, 'migrate', `store-${storeId}`)
    const book = await Book.open(folder, `${from.replace(/\/+$/, '').toLowerCase()} by ${by}`)
    try {
      const isNew = book.state.pass === null && book.state.lastPass === 0
      if (isNew && !values.compare && !values['into-used'] && (await target.hasRecords())) {
        throw new StartupError(
          `Store ${storeId} (${target.store.Name}) has records. Open another one with npm run new-store, or give --into-used: what is in it stays as it is`,
        )
      }
      return await run({ source, target, book }, { ...values, roundSeconds })
    } finally {
      await book.close()
    }
  } finally {
    await source.close()
  }
}

type Asked = Record<'follow' | 'compare' | 'apply-deletions' | 'yes', boolean> & { readonly roundSeconds: number }

async function run(
  { source, target, book }: Omit<Copying, 'progress'>,
  { follow, compare, 'apply-deletions': deletes, yes: isSure, roundSeconds }: Asked,
): Promise<boolean> {
  const { Name: name, SecureURL: secureUrl, Id: id } = target.store
  say(`Store ${id}, ${name} (${secureUrl}); what this copy knows is in ${book.folder}`)
  const progress = createProgress({ label: compare ? 'Compared' : 'Copied', total: await totalOf(source) })
  const passes = new Passes({ source, target, book, progress }, { deletes, isSure })
  await passes.copy.open()
  if (compare) {
    const found = await passes.compare()
    progress.done()
    const { equal, different, onlyThere, onlyHere } = found
    print(
      `${figure(equal)} equal, ${figure(different)} different, ${figure(onlyThere)} only there, ${figure(onlyHere)} only here\n`,
    )
    const isEqual = different + onlyThere + onlyHere === 0
    if (!isEqual) print(`What differs: ${book.path(DIFFERENCES)}\n`)
    return show(passes, book, null) && isEqual
  }
  let isWell = true
  if (!follow || book.state.lastPass === 0 || book.state.pass !== null) {
    progress.advanceTo(book.state.pass?.sums.read ?? 0)
    await passes.whole()
    progress.done()
    isWell = show(passes, book)
    print(['Never copied:', ...leftOut.map((line) => `  ${line}`), ''].join('\n'))
  }
  progress.end()
  if (follow) await keepUp(passes, book, roundSeconds)
  return isWell
}

/** Reads what changes until a signal ends it. */
async function keepUp(passes: Passes, book: Book, roundSeconds: number): Promise<void> {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  say(`Following: a round every ${roundSeconds} s. Ctrl+C ends it`)
  const progress = () => {
    const { unavailable, incomplete, again, missing } = passes
    return JSON.stringify([unavailable, incomplete, again, missing].map((found) => [...found]))
  }
  const hasActed = () => {
    const { written, changedHere, deletedHere, refused } = passes.copy.sums
    return written + changedHere + deletedHere + refused + passes.deleted > 0
  }
  for (let before = progress(); ; before = progress()) {
    await sleep(roundSeconds * 1_000, undefined, stopping).catch(() => {})
    if (stopping.signal.aborted) return
    await passes.round()
    if (hasActed() || progress() !== before) show(passes, book)
  }
}

function show(passes: Passes, book: Book, sums: Sums | null = passes.copy.sums): boolean {
  const { lines, isWell } = resultLines(passes, sums, (name) => book.path(name))
  for (const line of lines) print(`${line}\n`)
  return isWell
}

async function totalOf(source: Source): Promise<number> {
  let total = 0
  for (const resource of resources) {
    const count = await source.count(resource)
    if (!(count instanceof Unavailable)) total += count
  }
  return total
}

function readRoundSeconds({ MIGRATE_ROUND_SECONDS: given = '' }: NodeJS.ProcessEnv): number {
  if (given === '') return ROUND_SECONDS
  const seconds = Number(given)
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 3600) return seconds
  throw new StartupError(`MIGRATE_ROUND_SECONDS ${given} must be a whole number from 1 to 3600`)
}

function say(line: string): void {
  process.stderr.write(`${printable(line)}\n`)
}

function print(output: string): void {
  process.stdout.write(printable(output))
}
