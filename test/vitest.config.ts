import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const argon2 = fileURLToPath(new URL('./support/argon2.ts', import.meta.url))

/** Folders and files that take longest. Where one of them begins last, the other workers have nothing to do at the end. */
const longest = [
  'app/conformance/',
  'app/cli/',
  'app/foundation/database/outages',
  'app/representations/',
  'app/isolation/',
  'app/operations/installation/move',
  'app/shop/erasure/files',
  'load/foundation/process/start',
  'load/browser/',
  'load/cli/',
  'load/shop/webhooks/fault',
  'release/memory/',
  'release/foundation/database/beside',
  'release/foundation/embedded/',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const isLong = ({ moduleId }: TestSpecification) => longest.some((part) => moduleId.includes(`/test/${part}`))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    pool: 'forks',
    // Tests wait much of their time: for the database, for programs, for a browser.
    maxWorkers: 4,
    // Collecting young objects took a sixth of the workers' time.
    execArgv: ['--max-semi-space-size=64'],
    // Ends what hangs. Machines that are busy with something else take many times as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What is waited for comes, however busy the machine is: a test that gives up early leaves its locks to the next one.
    expect: { poll: { timeout: 30_000 } },
    // A worker keeps its modules over the files of one project; the projects run one after the other.
    isolate: false,
    // vitest shuffles files by a sequencer of its own.
    sequence: process.argv.includes('--sequence.shuffle.files') ? {} : { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'tools/sandbox-data/*.test.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        resolve: { alias: { '@node-rs/argon2': argon2 } },
        test: {
          name: 'app',
          include: ['test/app/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          setupFiles: ['test/support/each-file.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      // They start programs by the dozen.
      ...['load', 'release'].map((name, place) => ({
        extends: true as const,
        test: {
          name,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          include: [`test/${name}/**/*.test.ts`],
          globalSetup: ['test/support/global-setup.ts'],
          setupFiles: ['test/support/each-file.ts'],
          sequence: { groupOrder: 2 + place },
        },
      })),
    ],
  },
})
