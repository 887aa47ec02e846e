import { BEFORE, committedVersion } from '../../test/support/other-version.ts'
import { killEach } from './deaths.ts'
import { killPrimary } from './failover.ts'
import { startLoad } from './load.ts'
import { checkData, findLosses } from './losses.ts'
import { missingPackages } from './packages.ts'
import { upgradeInTurn } from './rolling-upgrade.ts'
import { openRun, type Run } from './run.ts'
import { openScene } from './scene.ts'

/*
 * `npm run test:cluster`: the cluster of compose.cluster.yml from Debian's packages, on loopback. Three servers of the version before are
 * replaced in turn under load, then each part is killed, the primary last. Prints its figures, and ends with 1 where a request, a change or an event is lost.
 */

const MINUTES_MAX = 9

const missing = missingPackages()
if (missing !== null) {
  console.error(missing)
  process.exit(1)
}

const { promise: stopped, reject: stop } = Promise.withResolvers<never>()
stopped.catch(() => {})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(new Error(signal)))
setTimeout(
  () => stop(new Error(`The cluster test takes longer than ${MINUTES_MAX} minutes`)),
  MINUTES_MAX * 60_000,
).unref()

const run = await openRun()
try {
  await Promise.race([test(run), stopped])
} catch (error) {
  console.error(`${await run.tails()}\n\n${(error as Error).message}`)
  process.exitCode = 1
}
await run.end()
process.exit()

async function test(run: Run): Promise<void> {
  const before = committedVersion(BEFORE)
  run.add(async () => before?.remove())
  const scene = await openScene(run, before?.tree)
  const version = before ? `of ${BEFORE}` : `of this version, because the history has no ${BEFORE}`
  say([`A primary, two standbys, PgBouncer, HAProxy and three servers ${version} run`])
  const load = startLoad(scene.store, scene.goods)
  say(await upgradeInTurn(scene, load))
  say(await killEach(scene, load))
  say(await killPrimary(scene, load))
  await load.stop()
  say(await findLosses(scene, load))
  say(await checkData(scene))
}

function say(lines: readonly string[]): void {
  for (const line of lines) console.log(line)
}
