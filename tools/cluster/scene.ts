import { orderNew, productStockChanged } from '../../src/engine/definition/event-kinds.ts'
import { openServerReceiver, type ServerReceiver } from '../../test/load/shop/webhooks/server-receiver.ts'
import { idsIn, openServerStore, type ServerStore } from '../../test/load/shop/webhooks/server-store.ts'
import { register } from '../../test/load/shop/webhooks/server-webhooks.ts'
import { freePort } from '../../test/support/run-server.ts'
import { type Balancer, type Pooler, startBalancer, startPooler } from './balancer.ts'
import { type Database, type Passwords, startDatabase } from './database.ts'
import type { Goods } from './load.ts'
import { until } from './processes.ts'
import type { Run } from './run.ts'
import { type ClusterServer, type Settings, serverOn, settingsOf } from './servers.ts'

const passwords: Passwords = { superuser: 'password-of-the-superuser', store: 'password-of-the-store' }

export interface Shop {
  readonly store: ServerStore
  readonly goods: Goods
  readonly receiver: ServerReceiver
}

/** A whole cluster, with a store and a receiver of its webhooks. */
export interface Scene extends Database, Shop {
  readonly passwords: Passwords
  readonly balancer: Balancer
  readonly pooler: Pooler
  readonly servers: readonly ClusterServer[]
  readonly settings: Settings
}

/** `tree`: of its servers. */
export async function openScene(run: Run, tree?: URL): Promise<Scene> {
  const { nodes, etcd } = await startDatabase(run, passwords)
  const ports = [await freePort(), await freePort(), await freePort()]
  const balancer = await startBalancer(run, ports, nodes)
  const pooler = await startPooler(run, balancer.databasePort, passwords.store)
  const settings = settingsOf(pooler.port, balancer.databasePort, passwords.store)
  const servers = ports.map((port) => serverOn(run, port, settings))
  for (const { start } of servers) await start(tree)
  await untilUp(balancer, servers.length)
  const shop = await openShop(balancer.baseUrl)
  run.add(shop.receiver.close)
  return { nodes, etcd, passwords, balancer, pooler, servers, settings, ...shop }
}

/** A store on the servers of `openServerStore`, its goods, and a receiver of its webhooks. */
export async function openShop(base: Parameters<typeof openServerStore>[0]): Promise<Shop> {
  const receiver = await openServerReceiver(() => 200)
  const store = await openServerStore(base)
  for (const kind of [orderNew, productStockChanged]) await register(store, receiver, kind)
  return { store, goods: await createGoods(store), receiver }
}

/** Waits until the balancer sends requests to so many servers. */
export function untilUp({ up }: Balancer, count: number): Promise<unknown> {
  return until(`${count} servers that are up`, async () => (await up('servers')).length === count)
}

async function createGoods(store: ServerStore): Promise<Goods> {
  const body = ['CHANGED-1', 'CHANGED-2', 'SOLD'].map((SKU) => ({ SKUInfo: { SKU, Name: 'Mug', Price: 8 } }))
  const [first = 0, second = 0, sold = 0] = idsIn(await store.call('POST', '/Products', { body }))
  idsIn(await store.call('PUT', `/Products/${sold}`, { body: { SKUInfo: { Stock: 1_000_000 } } }))
  return { changed: [first, second], sold }
}
