import { setTimeout as delay } from 'node:timers/promises'
import { nodeOf, promotionOf, untilComplete } from './database.ts'
import { CALM_MS, isServed, type Load } from './load.ts'
import { until } from './processes.ts'
import { countsOf, seconds } from './report.ts'
import type { Scene } from './scene.ts'

/** From the promotion to the first change that is made. */
const BACK_MS_MAX = 5_000

/** Kills the primary and its Patroni under load. Throws unless changes are made again in time. Returns what there is to tell. */
export async function killPrimary({ nodes, passwords, servers }: Scene, load: Load): Promise<string[]> {
  const primary = await nodeOf(nodes, 'primary')
  await delay(CALM_MS)
  const standbys = nodes.filter((node) => node !== primary)
  const promotion = promotionOf(standbys, passwords)
  promotion.catch(() => {})
  const before = load.sent.length
  const killedAtMs = performance.now()
  await primary.kill()
  const promotedAtMs = await promotion
  const madeSince = (ms: number) => load.sent.find((one) => one.isChange && isServed(one) && one.endedAtMs > ms)
  const backAtMs = (await until('a change', async () => madeSince(promotedAtMs), { everyMs: 20 })).endedAtMs
  await Promise.all(servers.map(({ untilReady }) => untilReady()))
  const readyAtMs = performance.now()
  await delay(CALM_MS)
  const failed = load.sent.slice(before).filter((one) => !isServed(one))
  const report = [
    `Primary killed: promotion after ${seconds(promotedAtMs - killedAtMs)}, the first change ${seconds(backAtMs - promotedAtMs)} after the promotion, all servers ready ${seconds(readyAtMs - promotedAtMs)} after it`,
    `Of ${load.sent.length - before} requests meanwhile ${failed.length} failed: ${countsOf(failed)}`,
  ]
  if (backAtMs - promotedAtMs > BACK_MS_MAX) {
    throw new Error(`${report.join('\n')}\nNo change within ${seconds(BACK_MS_MAX)} of the promotion`)
  }
  primary.start()
  await untilComplete(nodes)
  report.push(
    `The former primary is a standby again ${seconds(performance.now() - readyAtMs - CALM_MS)} after its start`,
  )
  return report
}
