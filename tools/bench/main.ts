import { parseArgs } from 'node:util'
import { runProgram } from '../../src/cli/run-program.ts'
import { StartupError } from '../../src/foundation/process/startup-error.ts'
import { benchAgainst } from './against.ts'
import { type BenchOptions, withStops } from './bench.ts'
import { benchIsolation } from './isolation/isolation.ts'
import { benchRest } from './rest.ts'
import { profileRest } from './rest-profile.ts'
import { benchRoom } from './room.ts'
import { benchScale } from './scale.ts'
import { benchStart } from './start.ts'
import { benchUpgrade } from './upgrade.ts'
import { benchWebhooks } from './webhooks.ts'

/*
 * `npm run bench -- [NAME] [FILE]`: NAME is one of the benches below, FILE the Online Retail data set; without it a
 * generated year of the same size is measured. `against` takes a commit before FILE.
 */

const benches = {
  rest: benchRest,
  profile: profileRest,
  scale: benchScale,
  webhooks: benchWebhooks,
  isolation: benchIsolation,
  start: benchStart,
  room: benchRoom,
  upgrade: benchUpgrade,
  against: benchAgainst,
}

/** Figures of the first seconds say nothing about the hours that webhooks, and those who attack, work. */
const defaults = { seconds: '1.5', rounds: '3' }
const defaultsOf: Partial<Record<keyof typeof benches, typeof defaults>> = {
  webhooks: { seconds: '20', rounds: '1' },
  isolation: { seconds: '15', rounds: '1' },
  start: { seconds: '10', rounds: '5' },
  room: { seconds: '20', rounds: '1' },
  upgrade: { seconds: '60', rounds: '1' },
}

const usage = `Usage: npm run bench -- [NAME] [FILE.csv[.gz]] [--seconds N] [--rounds N] [--cases TEXT,…]
       npm run bench -- against COMMIT [FILE.csv[.gz]] [the same options]
  NAME       ${Object.keys(benches).join(', ')} (default rest)
  rest       requests beside baselines: the same bytes from memory; the same after authentication; plain statements of pg;
             for changes, one transaction for the whole list
  room       the room of records, events, history and a backup on disk, and memory and sessions of the server
  upgrade    what programs wait while a later version migrates the last store of --sizes (orders=1M), and rewrites its rows
  against    the cases of rest, first readings after a start, readings while everything is changed, and what a start and its memory
             take (--cases start,memory), of this working tree beside those of COMMIT, on the same PostgreSQL
  --seconds  length of one measurement (default 1.5; webhooks and room 20, isolation 15, upgrade 60); after a start, until it is at rest (10)
  --rounds   how often each is taken (default 3; webhooks, isolation and room 1, start 5); the table shows medians, of those three
             all
  --cases    only those whose title holds one of these texts, such as Orders,PUT
  --sizes    the stores of scale: so many products, customers and orders each (10k,1M), or of one kind, with 100,000 of the
             others (orders=10M); default 10k,100k
  --postgres the version that scale runs on (18 or 15; default both, if they are there)`

await runProgram(usage, async (given) => {
  const { name, options } = readArguments(given)
  await withStops((stops) => benches[name](options, stops))
  return true
})

function readArguments(given: string[]): { name: keyof typeof benches; options: BenchOptions } {
  const { values, positionals } = parseArgs({
    args: given,
    allowPositionals: true,
    options: {
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      cases: { type: 'string' },
      sizes: { type: 'string' },
      postgres: { type: 'string' },
    },
  })
  const [first = 'rest', ...others] = positionals
  const [name, files] = isBench(first) ? [first, others] : (['rest', positionals] as const)
  const [commit = null, ...rest] = name === 'against' ? files : [null, ...files]
  const [file = null, ...more] = rest
  if (more.length > 0) throw new StartupError(usage)
  const { seconds, rounds } = { ...(defaultsOf[name] ?? defaults), ...values }
  return {
    name,
    options: {
      commit,
      file,
      seconds: positive(seconds),
      rounds: Math.ceil(positive(rounds)),
      cases: values.cases?.split(',') ?? [],
      sizes: (values.sizes ?? '10k,100k').split(','),
      postgres: values.postgres ?? null,
    },
  }
}

function isBench(name: string): name is keyof typeof benches {
  return Object.hasOwn(benches, name)
}

function positive(text: string): number {
  const value = Number(text)
  if (!(value > 0 && value <= 600)) throw new StartupError(usage)
  return value
}
