import { families } from './families.ts'
import { runFamily } from './run.ts'
import { startServer } from './server.ts'

/*
 * `node tools/soap-clients/main.ts [php] [zeep] [perl] [mono]`: programs of these families call every operation of a server that is
 * started for them. Without a name all that are installed run, and of the others it is said. Ends with 1 when an answer was not
 * as expected, and when a family that was named is not installed.
 */

const names = families.map(({ name }) => name)
const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`${unknown.join(', ')}: there are ${names.join(', ')}`)
  process.exit(1)
}

const chosen = families.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
const missing = chosen.filter(({ isInstalled }) => !isInstalled)
for (const { name } of missing) console.log(`${name} is not installed\n`)
if (wanted.length > 0 && missing.length > 0) process.exitCode = 1

const server = await startServer()
try {
  for (const family of chosen.filter(({ isInstalled }) => isInstalled)) {
    const { isExpected, output } = await runFamily(server, family)
    console.log(output)
    if (!isExpected) process.exitCode = 1
  }
} finally {
  await server.stop()
}
