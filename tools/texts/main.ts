import { parseArgs } from 'node:util'
import { languages, tidyCatalogues, writeCatalogues } from './catalogues.ts'

// npm run texts [-- --missing PART]: brings the catalogues up to what pages say, and tells what no language has yet.

const { values } = parseArgs({ options: { missing: { type: 'string' } } })
for (const language of languages) {
  writeCatalogues(language)
  for (const [file, entries] of Object.entries(tidyCatalogues(language))) {
    const missing = Object.keys(entries).filter((message) => entries[message] === '')
    if (missing.length > 0)
      console.log(`${language}/${file}: ${missing.length} of ${Object.keys(entries).length} missing`)
    if (`${values.missing}.json` === file) for (const message of missing) console.log(JSON.stringify(message))
  }
}
