import { beforeAll } from 'vitest'
import { emptyWorkerDatabase } from './database.ts'

// A worker of the `app` project keeps its modules and its database over all its files; every file finds it empty.
beforeAll(emptyWorkerDatabase)
