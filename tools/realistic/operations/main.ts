import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../../../src/cli/run-program.ts'
import { StartupError } from '../../../src/foundation/process/startup-error.ts'
import { withStops } from '../../bench/bench.ts'
import { findRealFile, whereToGetIt } from '../real-file.ts'
import { openInstallation } from './installation.ts'
import { backUp, move, restore, rotateKey } from './steps.ts'
import { startTraffic, type Traffic } from './traffic.ts'
import { expectNothingLost } from './verdict.ts'

/*
 * `npm run operations -- [FILE]`: each of the operator's commands on a store of a real year, while orders are placed and
 * webhooks delivered. Each is killed once in the middle and run again. Ends with what must hold, counted at the client.
 */

const usage = `Usage: npm run operations -- FILE. ${whereToGetIt}`

await runProgram(usage, async ([file = findRealFile()]) => {
  if (file === null || !existsSync(file)) throw new StartupError(usage)
  const folder = mkdtempSync(join(tmpdir(), 'operations-'))
  await withStops(async (stops) => {
    await stops.add(async () => rmSync(folder, { recursive: true, force: true }))
    const from = join(folder, 'from')
    await mkdir(from)
    const installation = await openInstallation(from, file, stops)
    const traffic = await startTraffic(installation.shop)
    await stops.add(traffic.close)
    const context = { folder, installation, traffic, stops }
    for (const step of [backUp, restore, rotateKey, move]) {
      const before = { ...traffic.refusals }
      say(`${await Promise.race([step(context), traffic.failed])}${refusedSince(before, traffic)}`)
    }
    say(await expectNothingLost(context))
  })
  return true
})

function refusedSince(before: Readonly<Record<string, number>>, { refusals }: Traffic): string {
  const more = Object.entries(refusals).flatMap(([name, count]) => {
    const since = count - (before[name] ?? 0)
    return since > 0 ? [`${since} × ${name}`] : []
  })
  return `\n  Changes that were sent again: ${more.length === 0 ? 'none' : more.join(', ')}`
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
