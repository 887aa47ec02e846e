import { emptyWorkerDatabase } from './database.ts'

// A worker keeps its database over all its files. Each file finds it empty, also where it opens a server at its top.
await emptyWorkerDatabase()
