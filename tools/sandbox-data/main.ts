import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { recordsFile, samplesFile } from '../../src/operations/sandbox/records.ts'
import { samplesText, sandboxText } from './generate.ts'

/** `npm run sandbox-data`: writes the sandbox's records anew, and those that the reference shows. */
writeFileSync(recordsFile, gzipSync(sandboxText(), { level: 9 }))
writeFileSync(samplesFile, samplesText())
