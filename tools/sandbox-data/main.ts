import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { recordsFile } from '../../src/sandbox/records.ts'
import { sandboxText } from './generate.ts'

/** `npm run sandbox-data`: writes the sandbox's records anew. */
writeFileSync(recordsFile, gzipSync(sandboxText(), { level: 9 }))
