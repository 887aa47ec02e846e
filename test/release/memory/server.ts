import { registerApplication } from '../../../src/access/applications/applications.ts'
import { addSubscription } from '../../../src/access/applications/subscriptions/subscription-rows.ts'
import { createStore } from '../../../src/access/people/create-store.ts'
import { storeInput } from '../../support/access.ts'
import { cloneDatabase } from '../../support/database.ts'
import { residentMb } from '../../support/resident-memory.ts'
import { freePort, runServer, serverKeys } from '../../support/run-server.ts'
import { servicesOn } from '../../support/services.ts'

export const CONNECTIONS_MAX = 500
export const PASSWORD = 'correct horse battery'

export interface Shop {
  readonly id: number
  readonly email: string
  readonly credentials: Readonly<Record<string, string>>
}

export type MeasuredServer = Awaited<ReturnType<typeof openMeasuredServer>>

/** A server in a process of its own, on a database with `count` stores, whose memory is watched. */
export async function openMeasuredServer(count: number) {
  const database = await cloneDatabase()
  const services = servicesOn(database.db)
  const shops: Shop[] = []
  for (let number = 1; number <= count; number++) {
    const email = `merchant-${number}@shop.example`
    const input = { ...storeInput(), Email: email, Password: PASSWORD }
    const { id, secureUrl } = await createStore(services, input)
    const throttle = { capacity: 1_000_000, leakPerSecond: 10_000 }
    const { publicKey, privateKey } = await registerApplication(services, { Name: `App ${number}`, Throttle: throttle })
    const { token } = await addSubscription(services, { storeId: id, publicKey })
    shops.push({ id, email, credentials: { secureurl: secureUrl, privatekey: privateKey, token } })
  }
  const port = await freePort()
  const run = runServer({
    PORT: String(port),
    DATABASE_URL: database.url,
    ...serverKeys,
    LOG_LEVEL: 'error',
    MAX_CONNECTIONS: String(CONNECTIONS_MAX),
  })
  await run.shows('Base address')
  const memory = watchMemory(run.process.pid ?? 0)
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}`,
    db: database.db,
    shops,
    memory,
    output: run.output,
    close: async () => {
      memory.stop()
      await run.end()
      await database.drop()
    },
  }
}

/** The resident memory of a process, in MB, read every 20 ms. */
function watchMemory(pid: number) {
  const now = () => Math.round(residentMb(pid))
  let highest = 0
  const timer = setInterval(() => {
    highest = Math.max(highest, now())
  }, 20)
  return {
    now,
    /** The highest figure since the last call. */
    highest: () => {
      const figure = Math.max(highest, now())
      highest = 0
      return figure
    },
    stop: () => clearInterval(timer),
  }
}

/** Fills each store with products whose page of 200 has 12.6 MB, store by store: all at once takes longer than a statement may. */
export async function fillLargePages(db: MeasuredServer['db']): Promise<void> {
  for (const { id } of await db.store.findMany({ select: { id: true } })) {
    await db.$executeRaw`
      INSERT INTO "Product" ("storeId", "id", "sku", "name", "cost", "price", "retailPrice", "salePrice", "onSale", "stock",
        "nonTaxable", "notForSale", "hide", "giftCertificate", "homeSpecial", "categorySpecial", "nonSearchable", "selfShip",
        "freeShipping", "disableRewards", "inventoryControl", "fileName", "createdAt", "updatedAt", "updatedBy", "details")
      SELECT ${id}, n, 'SKU-' || n, 'Product', 0, 0, 0, 0, false, 0, false, false, false, false, false, false, false,
        false, false, false, 0, '', now(), now(), '', json_build_object('ShortDescription', '€' || repeat(md5(n::text), 1900))
      FROM generate_series(1, 200) n`
  }
}
