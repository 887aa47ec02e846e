// Prints how many properties, parameters and operations of /openapi.json lack a description of their own; with a name of these,
// which ones:
//   node tools/bench/descriptions.ts properties

import { openApiDocument } from '../../src/app.ts'
import { describedIn, descriptionFaults } from '../../test/support/descriptions.ts'

const found = describedIn(openApiDocument({ publicUrl: 'https://shop.example', restPrefixes: ['/StoreWebAPI'] }))
for (const [kind, all] of Object.entries(found)) {
  const missing = all.filter(({ description }) => description === '').length
  const faults = descriptionFaults(all)
  console.log(`${kind}: ${all.length}, of which ${missing} without description; ${faults.length} faults in all`)
  if (process.argv.includes(kind)) console.log(faults.join('\n'))
}
