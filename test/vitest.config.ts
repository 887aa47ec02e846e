import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const argon2 = fileURLToPath(new URL('./support/argon2.ts', import.meta.url))

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A worker keeps its modules over the files of one project; the projects run one after the other.
    isolate: false,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/unit/**/*.test.ts'], sequence: { groupOrder: 0 } },
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
      {
        extends: true,
        test: {
          name: 'load',
          // They wait for programs and a browser much of the time.
          maxWorkers: 3,
          // Programs are started by the dozen, on machines that may be busy with something else.
          testTimeout: 120_000,
          include: ['test/load/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          setupFiles: ['test/support/each-file.ts'],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
