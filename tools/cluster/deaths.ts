import { setTimeout as delay } from 'node:timers/promises'
import { nodeOf, switchOver, untilComplete } from './database.ts'
import { CALM_MS, isServed, type Load } from './load.ts'
import { countsOf, seconds } from './report.ts'
import { type Scene, untilUp } from './scene.ts'

/** Kills one part after the other under load, but for the primary, and starts it again. Returns how long there were no changes. */
export async function killEach(scene: Scene, load: Load): Promise<string[]> {
  const { nodes, etcd, servers, balancer, pooler } = scene
  const [server] = servers
  if (server === undefined) throw new Error('There is no server')
  const restarted = async () => {
    await server.kill()
    await server.start()
    await untilUp(balancer, servers.length)
  }
  const standby = (role: 'sync' | 'async') => async () => {
    const node = await nodeOf(nodes, role)
    await node.kill()
    await delay(CALM_MS)
    node.start()
    await untilComplete(nodes)
  }
  const deaths: readonly (readonly [string, () => Promise<void>])[] = [
    ['A server killed', restarted],
    ['PgBouncer killed', pooler.restart],
    ['HAProxy killed', balancer.restart],
    ['One of three etcd killed', etcd.restartOne],
    ['The asynchronous standby killed', standby('async')],
    ['The synchronous standby killed', standby('sync')],
    ['A switchover to the synchronous standby', () => switchOver(nodes).then(() => untilComplete(nodes))],
  ]
  const lines: string[] = []
  for (const [name, strike] of deaths) lines.push(`${name}: ${await effectOf(strike, load)}`)
  return lines
}

/** What becomes of requests while `strike` runs, and for a moment behind it. */
async function effectOf(strike: () => Promise<void>, load: Load): Promise<string> {
  await delay(CALM_MS)
  const before = load.sent.length
  const struckAtMs = performance.now()
  await strike()
  await delay(CALM_MS)
  const sent = load.sent.slice(before)
  const made = sent.filter((one) => one.isChange && isServed(one)).map(({ endedAtMs }) => endedAtMs)
  const times = [struckAtMs, ...made, performance.now()]
  const longestMs = Math.max(...times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0)))
  const failed = sent.filter((one) => !isServed(one))
  return `${failed.length} of ${sent.length} requests failed (${countsOf(failed)}), at most ${seconds(longestMs)} between two changes`
}
