import { writeFileSync } from 'node:fs'
import { iconsText } from './icons.ts'

/** `npm run icons`: writes the icons of areas and states, after a change of their list. */
writeFileSync(new URL('../../src/http/html/assets/icons.css', import.meta.url), iconsText())
