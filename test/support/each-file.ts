import { beforeAll } from 'vitest'
import { emptyWorkerDatabase } from './database.ts'

// A worker keeps its database over all its files. Each file finds it empty.
beforeAll(emptyWorkerDatabase)
