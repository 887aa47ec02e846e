import { setTimeout as delay } from 'node:timers/promises'
import { ownTree } from '../../test/support/run-server.ts'
import { CALM_MS, isServed, type Load } from './load.ts'
import { firstOf, seconds } from './report.ts'
import { type Scene, untilUp } from './scene.ts'

/** Restarts each server in turn under load, as one of this tree. Throws unless every request is served. Returns what there is to tell. */
export async function upgradeInTurn({ servers, balancer }: Scene, load: Load): Promise<string[]> {
  const first = load.sent.length
  const startedAtMs = performance.now()
  await delay(CALM_MS)
  for (const server of servers) {
    await server.stop()
    await server.start(ownTree)
    await untilUp(balancer, servers.length)
  }
  await delay(CALM_MS)
  const sent = load.sent.slice(first)
  const failed = sent.filter((one) => !isServed(one))
  if (failed.length > 0) throw new Error(`${failed.length} of ${sent.length} requests failed: ${firstOf(failed)}`)
  return [
    `Rolling upgrade of ${servers.length} servers in ${seconds(performance.now() - startedAtMs)}: 0 of ${sent.length} requests failed (${sent.filter(({ isChange }) => isChange).length} of them changes)`,
  ]
}
