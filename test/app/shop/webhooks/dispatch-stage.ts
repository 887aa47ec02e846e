import { inspect } from 'node:util'
import { Registry } from 'prom-client'
import { Webhook as Verifier } from 'standardwebhooks'
import { vi } from 'vitest'
import { createStore } from '../../../../src/access/people/create-store.ts'
import type { Privileges } from '../../../../src/engine/caller.ts'
import { connect, type Db, type Transaction } from '../../../../src/foundation/database/client.ts'
import type { Delivery, Event, Webhook } from '../../../../src/foundation/database/generated/client.ts'
import { createOutbound, type OutboundOptions } from '../../../../src/foundation/outbound/outbound.ts'
import { createSecrets } from '../../../../src/foundation/values/secrets.ts'
import { recordsToXml } from '../../../../src/http/rest/xml.ts'
import { resourceNamed } from '../../../../src/shop/registry.ts'
import { type Claim, claimDue, findDue } from '../../../../src/shop/webhooks/dispatch/claim.ts'
import { Dispatcher, type DispatcherOptions } from '../../../../src/shop/webhooks/dispatch/dispatcher.ts'
import { createDispatcherMetrics } from '../../../../src/shop/webhooks/dispatch/metrics.ts'
import { type Allotment, Slots } from '../../../../src/shop/webhooks/dispatch/slots.ts'
import { newSealedSecret } from '../../../../src/shop/webhooks/secret.ts'
import { storeInput } from '../../../support/access.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { signingSecrets } from '../../../support/signing-secrets.ts'
import type { Arrival } from './dispatch-receiver.ts'

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

export const ORDER_NEW = 1
export const CUSTOMER_NEW = 3

/** The webhooks with due deliveries, each with room for so much. */
export async function allotted(db: Db, at: Date, room: Pick<Allotment, 'deliveries' | 'slots'>): Promise<Allotment[]> {
  const due = await findDue(db, at, { storeId: 0, webhookId: 0 })
  return new Slots().allot(due).map((allotment) => ({ ...allotment, ...room }))
}

/** Claims all that is due, as a process does that has slots for more than any test needs. */
export async function claimAll(db: Db, at: Date): Promise<Claim[]> {
  return claimDue(db, at, await allotted(db, at, { deliveries: 500, slots: 500 }))
}

export type Stage = Awaited<ReturnType<typeof openStage>>

/** What one process has of the dispatcher. */
export interface Process {
  readonly dispatcher: Dispatcher
  readonly registry: Registry
  readonly db: Db
  /** Stops it and ends its connections. */
  readonly end: () => Promise<void>
}

let serial = 0

/** An empty database of its own with a clock that stands, and whatever dispatchers need. */
export async function openStage() {
  const { db, url, drop } = await cloneDatabase()
  const clock = { ms: Date.parse('2026-03-01T12:00:00Z') }
  const now = () => new Date(clock.ms)
  const secrets = createSecrets('a secret key for tests alone, 32+')
  const warnings: string[] = []
  const processes = new Set<Process>()

  /** One as a server process has it, with connections of its own; ended with the stage at the latest. */
  function openProcess(options: DispatcherOptions & { outbound?: Partial<OutboundOptions> } = {}): Process {
    const own = connect(url)
    const registry = new Registry()
    const outbound = createOutbound({ allow: ['127.0.0.0/8'], ...options.outbound })
    const dispatcher = new Dispatcher(
      {
        db: own,
        secrets,
        now,
        outbound,
        metrics: createDispatcherMetrics(registry),
        toXml: (service, record) => recordsToXml([record], resourceNamed(service)),
        log: { warn: (details, message) => warnings.push(`${message} ${inspect(details)}`) },
      },
      options,
    )
    const end = async () => {
      if (!processes.delete(process)) return
      await dispatcher.stop()
      await outbound.close()
      await own.$disconnect()
    }
    const process = { dispatcher, registry, db: own, end }
    processes.add(process)
    return process
  }

  /**
   * Lets one process send all that is due, and ends it, because PostgreSQL has few connections for all the tests that run:
   * without one, a process sends nothing and warns.
   */
  async function settle(): Promise<void> {
    const { dispatcher, end } = openProcess()
    await dispatcher.settle()
    await end()
  }

  async function addStore(): Promise<number> {
    const services = { db, secrets, now, defaultTimeZone: 'America/New_York' }
    const { id } = await createStore(services, { ...storeInput(), Name: `Shop ${++serial}` })
    return id
  }

  function addWebhook(storeId: number, changes: Partial<Webhook> & { url: string }): Promise<Webhook> {
    const id = ++serial
    const data = {
      storeId,
      id,
      name: `Webhook ${id}`,
      eventType: ORDER_NEW,
      format: 'JSON',
      enabled: true,
      createdAt: now(),
      updatedAt: now(),
      updatedBy: '',
      secretSealed: newSealedSecret(secrets),
      ...changes,
    }
    return db.webhook.create({ data })
  }

  /** A subscription of the store; null privileges: everything. */
  async function addSubscription(
    storeId: number,
    { asked, agreed }: { asked: Privileges; agreed: Privileges },
  ): Promise<{ applicationId: number; subscriptionId: number }> {
    const number = ++serial
    const columns = (privileges: Privileges) => (privileges === null ? {} : { privileges: { ...privileges } as object })
    const application = await db.application.create({
      data: {
        name: `Application ${number}`,
        publicKey: `public ${number}`,
        privateKeyHash: `hash ${number}`,
        privateKeySealed: '',
        createdAt: now(),
        ...columns(asked),
      },
    })
    const { id: subscriptionId } = await db.subscription.create({
      data: {
        storeId,
        applicationId: application.id,
        tokenHash: `token ${number}`,
        tokenSealed: '',
        createdAt: now(),
        ...columns(agreed),
      },
    })
    return { applicationId: application.id, subscriptionId }
  }

  /** As a committed change leaves it, without a number; in `tx`, as an uncommitted one. */
  function addEvent(storeId: number, changes: Partial<Event> = {}, tx: Transaction = db): Promise<Event> {
    const recordId = ++serial
    const body = JSON.stringify({ OrderID: recordId, BillingFirstName: 'Zoë' })
    return tx.event.create({ data: { storeId, eventType: ORDER_NEW, recordId, body, createdAt: now(), ...changes } })
  }

  async function addEvents(storeId: number, count: number): Promise<void> {
    await db.$executeRaw`
      INSERT INTO "Event" ("storeId", "eventType", "recordId", "body", "createdAt")
      SELECT ${storeId}, ${ORDER_NEW}, n, '{"OrderID":' || n || '}', ${now()} FROM generate_series(1, ${count}::int) AS n`
  }

  function deliveriesOf({ storeId, id: webhookId }: Pick<Webhook, 'storeId' | 'id'>): Promise<Delivery[]> {
    return db.delivery.findMany({ where: { storeId, webhookId }, orderBy: { id: 'asc' } })
  }

  /** The attempts of all deliveries of a webhook, in the order in which they were written. */
  function attemptsOf({ storeId, id: webhookId }: Pick<Webhook, 'storeId' | 'id'>) {
    return db.deliveryAttempt.findMany({ where: { delivery: { storeId, webhookId } }, orderBy: { id: 'asc' } })
  }

  function webhookNow({ storeId, id }: Pick<Webhook, 'storeId' | 'id'>): Promise<Webhook> {
    return db.webhook.findUniqueOrThrow({ where: { storeId_id: { storeId, id } } })
  }

  /** Leaves no event, webhook or delivery, and no process. */
  async function clear(): Promise<void> {
    for (const process of [...processes]) await process.end()
    await db.delivery.deleteMany()
    await db.event.deleteMany()
    await db.eventFeed.deleteMany()
    await db.eventCut.deleteMany()
    await db.webhook.deleteMany()
    warnings.length = 0
  }

  return {
    db,
    url,
    clock,
    now,
    secrets,
    warnings,
    openProcess,
    settle,
    addStore,
    addWebhook,
    addSubscription,
    addEvent,
    addEvents,
    deliveriesOf,
    attemptsOf,
    webhookNow,
    clear,
    /** Throws unless the reference library finds it signed with a secret of the webhook that is good at this time. */
    verify: (arrival: Arrival | undefined, webhook: Webhook) => {
      const [secret = '', ...former] = signingSecrets(secrets, webhook, now())
      for (const each of [secret, ...former]) verifyWith(each, clock.ms, arrival)
    },
    close: async () => {
      await clear()
      await drop()
    },
  }
}

/** Throws for what the reference library, at this time, does not find signed with this secret. */
export function verifyWith(secret: string, atMs: number, arrival: Arrival | undefined): void {
  vi.useFakeTimers({ toFake: ['Date'], now: atMs })
  try {
    const headers = arrival?.headers as Record<string, string>
    new Verifier(secret).verify(arrival?.text ?? '', headers, { jsonParse: false })
  } finally {
    vi.useRealTimers()
  }
}
