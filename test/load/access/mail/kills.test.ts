import { fileURLToPath } from 'node:url'
import { generateMersenne53Randomizer } from '@faker-js/faker'
import { afterAll, beforeAll, expect, onTestFailed, test, vi } from 'vitest'
import { writeMail } from '../../../../src/access/mail/write.ts'
import { operatorCaller } from '../../../../src/access/stores/caller-store.ts'
import { createRecord } from '../../../../src/engine/changing/change.ts'
import { inTransaction } from '../../../../src/foundation/database/client.ts'
import { placeOrder } from '../../../../src/shop/resources/orders/place-order.ts'
import { products } from '../../../../src/shop/resources/products/products.ts'
import { newStore } from '../../../support/access.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { type MailReceiver, openMailReceiver } from '../../../support/mail-receiver.ts'
import { freePort, programEnv, type Run, runProgram, runServer, serverKeys } from '../../../support/run-server.ts'
import { servicesOn } from '../../../support/services.ts'
import { shared } from '../../../support/shared.ts'

/** MAIL_KILLS=100 for a longer look. */
const KILLS = Number(process.env.MAIL_KILLS ?? 20)
const MAILS = 10 * KILLS
/** The most mails that a process sends before it is killed, so that the kills are over before the mails are. */
const ARRIVALS_MAX = 4
/** A whole server waits for 3 s until one that was killed does not count any more, so that many of them would take minutes. */
const program = fileURLToPath(new URL('sending-child.ts', import.meta.url))

/** A process that is started again and again, with a mail server of its own. */
interface Place {
  readonly receiver: MailReceiver
  readonly runs: Run[]
}

const database = await shared(cloneDatabase())
let places: readonly [Place, Place]
let server: Run | undefined
beforeAll(async () => {
  places = [
    { receiver: await openMailReceiver(), runs: [] },
    { receiver: await openMailReceiver(), runs: [] },
  ]
})
afterAll(async () => {
  await killed(server)
  for (const { runs, receiver } of places) {
    await killed(runs.at(-1))
    await receiver.close()
  }
})

const mailSettings = ({ receiver }: Place) => ({ SMTP_URL: receiver.url, MAIL_FROM: 'mail@shop.example' })

async function killed(run: Run | undefined): Promise<void> {
  await run?.end('SIGKILL')
}

const queues = [
  { of: 'people', writeMails },
  { of: 'orders', writeMails: placeOrders },
]

test.each(queues)(
  `of ${MAILS} mails of $of none is lost by ${KILLS} kills, and what arrives again has the same Message-ID`,
  async ({ of, writeMails }) => {
    const seed = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 2 ** 31))
    onTestFailed(() => {
      const outputs = [...places.flatMap(({ runs }) => runs), ...(server ? [server] : [])].map(({ output }) => output())
      console.error(`FAULT_SEED=${seed}\n${outputs.join('\n')}`)
    })
    const randomizer = generateMersenne53Randomizer(seed)
    const { db } = database
    await db.mail.deleteMany()
    for (const { receiver } of places) receiver.mails.length = 0
    await writeMails()
    const written = await db.mail.findMany()

    let kills = 0
    const killAgainAndAgain = async (place: Place) => {
      while (kills < KILLS) {
        kills += 1
        // Every other time the process is killed before the mail server has answered.
        const isAnswered = kills % 2 === 0
        const arrived = arrival(place.receiver, 1 + Math.floor(randomizer.next() * ARRIVALS_MAX))
        const run = runProgram(
          process.execPath,
          [program, database.url, serverKeys.SECRET_KEY, place.receiver.url, of],
          {
            env: programEnv,
          },
        )
        place.runs.push(run)
        const answer = await arrived
        if (isAnswered) answer()
        await killed(run)
        answer()
      }
    }
    await Promise.all(places.map(killAgainAndAgain))
    expect(kills).toBe(KILLS)
    expect(await db.mail.count({ where: { state: 'waiting' } })).toBeGreaterThan(0)

    server = runServer({
      ...mailSettings(places[0]),
      PORT: String(await freePort()),
      DATABASE_URL: database.url,
      ...serverKeys,
    })
    const areSent = async () => expect(await db.mail.count({ where: { state: 'sent' } })).toBe(MAILS)
    await vi.waitFor(areSent, { timeout: KILLS * 3_000, interval: 200 })
    const arrived = places.flatMap(({ receiver }) => {
      return receiver.mails.map(({ to, headers }) => `${to.join()} ${headers.get('message-id')}`)
    })
    expect(new Set(arrived)).toEqual(new Set(written.map(({ recipient, messageId }) => `${recipient} ${messageId}`)))
    // Kills did fall between the arrival of a mail and the note of it.
    expect(arrived.length).toBeGreaterThan(MAILS + KILLS / 4)
    await killed(server)
  },
  KILLS * 15_000,
)

/** Orders of a store that tells of them, each to an address of its own. */
async function placeOrders(): Promise<void> {
  const services = servicesOn(database.db, { ...mailSettings(places[0]), ...serverKeys })
  const { id } = await newStore(services)
  await database.db.store.update({ where: { id }, data: { orderMails: ['order-placed'] } })
  const caller = await operatorCaller(services, id)
  await createRecord(caller, products, { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 20, Stock: MAILS } })
  const OrderItemList = [{ ItemID: 'LAMP', ItemQuantity: 1 }]
  for (let index = 0; index < MAILS; index++) {
    await placeOrder(caller, { BillingEmail: `person-${index}@shop.example`, OrderItemList })
  }
}

async function writeMails(): Promise<void> {
  const services = servicesOn(database.db, { ...mailSettings(places[0]), ...serverKeys })
  await inTransaction(database.db, async (tx) => {
    for (let index = 0; index < MAILS; index++) {
      const to = `person-${index}@shop.example`
      const of = { to, identityId: null, storeId: null, causedBy: null }
      await writeMail(tx, services, { kind: 'address-changed', data: { newEmail: to }, ...of })
    }
  })
}

/** Resolves when so many further mails have arrived. The last of them is not answered before the returned function is called. */
function arrival(receiver: MailReceiver, count: number): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<() => void>()
  const answered = Promise.withResolvers<void>()
  const until = receiver.mails.length + count
  receiver.onArrival = () => {
    if (receiver.mails.length < until) return
    resolve(answered.resolve)
    return answered.promise
  }
  return promise
}
