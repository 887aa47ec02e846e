import {
  type EventKind,
  eventKind,
  orderStatusChange,
  productKinds,
  productStockChanged,
} from '../../../../src/engine/definition/event-kinds.ts'
import { tell } from './server-changes.ts'
import type { ServerReceiver } from './server-receiver.ts'
import { idsIn, type ServerStore } from './server-store.ts'

/** One event, as the feed shows it. */
export interface FedEvent {
  readonly Sequence: number
  readonly Id: string
  readonly EventType: number
  readonly EventName: string
  readonly Changed?: string
  readonly RecordID: number
  readonly Record: FedRecord
}

/** Of an order, a customer or a product. */
interface FedRecord {
  readonly OrderStatusID?: number
  readonly SKUInfo?: { readonly Name: string; readonly Stock: number }
}

/** Reads the feed in one loop, as an integrator would. */
export async function readFeed(store: ServerStore): Promise<FedEvent[]> {
  const events: FedEvent[] = []
  for (;;) {
    const { status, text } = await store.call('GET', `/Events?after=${events.at(-1)?.Sequence ?? 0}&limit=500`)
    if (status !== 200) throw new Error(`${status}: ${text}`)
    const page = JSON.parse(text) as FedEvent[]
    if (page.length === 0) return events
    events.push(...page)
  }
}

/** What it tells of, as `tell` says it of a change. */
export function tellEvent({ EventType, RecordID, Record }: FedEvent): string {
  const kind = eventKind(EventType)
  if (kind === null) throw new Error(`There is no kind ${EventType}`)
  const details = new Map<EventKind, unknown>([
    [orderStatusChange, Record.OrderStatusID],
    [productKinds.changed, Record.SKUInfo?.Name],
    [productStockChanged, Record.SKUInfo?.Stock],
  ])
  return tell(kind, RecordID, details.get(kind))
}

/**
 * Registers the receiver for one kind of event, at a path named by its number, and has it trust the secret. Returns the
 * webhook's id.
 */
export async function register(
  store: ServerStore,
  receiver: ServerReceiver,
  { type, name }: EventKind,
): Promise<number> {
  const path = `/${type}`
  const body = { Name: name, Url: `${receiver.url}${path}`, EventType: type, Enabled: true, Format: 'JSON' }
  const [id = 0] = idsIn(await store.call('POST', '/Webhooks', { body }))
  const { text } = await store.call('GET', `/Webhooks/${id}/Secret`)
  const [{ Secret }] = JSON.parse(text) as [{ Secret: string }]
  receiver.trust(path, Secret)
  return id
}
