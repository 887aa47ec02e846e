import { vi } from 'vitest'
import { emptyWorkerDatabase } from './database.ts'

// Vitest waits for a second, which no option changes, and busy machines take longer.
if (!('isPatient' in vi)) {
  const { waitFor, waitUntil } = vi
  Object.assign(vi, {
    isPatient: true,
    waitFor: ((act, options = 30_000) => waitFor(act, options)) satisfies typeof waitFor,
    waitUntil: ((isSo, options = 30_000) => waitUntil(isSo, options)) satisfies typeof waitUntil,
  })
}

// A worker keeps its database over all its files. Each file finds it empty, also where it opens a server at its top.
await emptyWorkerDatabase()
