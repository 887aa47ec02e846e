import { writeFileSync } from 'node:fs'
import { coloursFile } from '../../src/http/reference/colours.ts'
import { coloursText } from './colours.ts'

/** `npm run colours`: colours the code of the guides, after a change of it. */
writeFileSync(coloursFile, coloursText())
