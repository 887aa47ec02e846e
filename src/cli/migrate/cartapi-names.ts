import { skuKey } from '../../foundation/values/sku.ts'
import type { Names } from '../../http/soap/records/reading.ts'
import { customerGroups } from '../../shop/resources/customer-groups/customer-groups.ts'
import { distributors } from '../../shop/resources/distributors/distributors.ts'
import { manufacturers } from '../../shop/resources/manufacturers/manufacturers.ts'
import { orderStatuses, statusWithoutName } from '../../shop/resources/order-statuses/order-statuses.ts'
import type { Target } from './target.ts'

/** The first number of a status of the store's own (order-statuses §1.1). */
const OWN_STATUS_MIN = 13
const STATUS_LENGTH_MAX = 50

interface Options {
  /** Nothing is written: new statuses only get a number. */
  readonly isReadOnly: boolean
  readonly say: (line: string) => void
}

interface SoldProduct {
  readonly id: number
  readonly name: string
}

/** Finds what cartAPI names by a text among the records of the target, and products among those of the source. */
export class TargetNames implements Names {
  readonly #target: Target
  readonly #options: Options
  readonly #statuses: Map<string, number>
  readonly #groups: Ids
  readonly #manufacturers: Ids
  readonly #distributors: Ids
  readonly #products = new Map<string, SoldProduct>()
  #newStatuses: Record<string, unknown>[] = []
  /** What was said to be missing. */
  readonly #said = new Set<string>()

  private constructor(target: Target, options: Options, known: Known) {
    this.#target = target
    this.#options = options
    this.#statuses = known.statuses
    this.#groups = known.groups
    this.#manufacturers = known.manufacturers
    this.#distributors = known.distributors
  }

  static async open(target: Target, options: Options): Promise<TargetNames> {
    const statuses = await target.all(orderStatuses)
    return new TargetNames(target, options, {
      statuses: new Map([
        // The merchant's texts before the names that the statuses came with.
        ...statuses.map(({ id, record }) => [folded(record.StatusDefinition), id] as const).toReversed(),
        ...statuses.map(({ id, record }) => [folded(record.StatusText), id] as const).toReversed(),
      ]),
      groups: idsByName(await target.all(customerGroups), 'Name'),
      manufacturers: idsByName(await target.all(manufacturers), 'ManufacturerName'),
      distributors: idsByName(await target.all(distributors), 'CompanyName'),
    })
  }

  /** An unknown text becomes a status of the target's own, which `settle` writes. */
  status(given: string): number {
    const text = given.trim().slice(0, STATUS_LENGTH_MAX)
    if (text === '') return 0
    const known = this.#statuses.get(folded(text))
    if (known !== undefined) return known
    const used = new Set(this.#statuses.values())
    let id = OWN_STATUS_MIN
    while (used.has(id)) id++
    this.#statuses.set(folded(text), id)
    this.#newStatuses.push({ ...statusWithoutName(id), StatusDefinition: text, StatusText: text })
    return id
  }

  customerGroup(name: string): number {
    return this.#named(this.#groups, 'customer group', name)
  }

  manufacturer(name: string): number {
    return this.#named(this.#manufacturers, 'manufacturer', name)
  }

  distributor(name: string): number {
    return this.#named(this.#distributors, 'distributor', name)
  }

  product(sku: string): number {
    return this.#products.get(skuKey(sku))?.id ?? 0
  }

  /**
   * The longest SKU that this one begins with is the product's, if the product has the item's name too: else an item whose product
   * is gone would be counted as another one's.
   */
  soldProduct(sku: string, name: string): number {
    const key = skuKey(sku)
    const exact = this.#products.get(key)
    if (exact) return exact.id
    for (let length = key.length - 1; length > 0; length--) {
      const product = this.#products.get(key.slice(0, length).trimEnd())
      if (product && folded(product.name) === folded(name)) return product.id
    }
    return 0
  }

  addProduct(sku: string, product: SoldProduct): void {
    this.#products.set(skuKey(sku), product)
  }

  /** Writes the new statuses. Call it before their numbers are used: the next run finds them by their texts, and takes the same numbers. */
  async settle(): Promise<void> {
    const added = this.#newStatuses
    this.#newStatuses = []
    if (added.length === 0 || this.#options.isReadOnly) return
    const refusals = await this.#target.write(added.map((record) => ({ service: orderStatuses.service, record })))
    for (const [index, { OrderStatusID, StatusText }] of added.entries()) {
      const reason = refusals.get(index)
      const problem = reason === undefined ? '' : ` is refused (${reason})`
      this.#options.say(`New order status here: ${OrderStatusID} ${StatusText}${problem}`)
    }
  }

  #named(ids: Ids, what: string, name: string): number {
    if (name.trim() === '') return 0
    const id = ids.get(folded(name)) ?? 0
    const line = `No ${what} here, or more than one, is ${JSON.stringify(name.slice(0, 150))}: it is left out`
    if (id === 0 && !this.#said.has(line)) {
      this.#said.add(line)
      this.#options.say(line)
    }
    return id
  }
}

interface Known {
  readonly statuses: Map<string, number>
  readonly groups: Ids
  readonly manufacturers: Ids
  readonly distributors: Ids
}

/** By folded name; null: several have it. */
type Ids = ReadonlyMap<string, number | null>

function idsByName(records: Awaited<ReturnType<Target['all']>>, member: string): Ids {
  const ids = new Map<string, number | null>()
  for (const { id, record } of records) {
    const name = folded(record[member])
    ids.set(name, ids.has(name) ? null : id)
  }
  return ids
}

/** Programs write `NotCompleted` for `Not Completed`. */
function folded(text: unknown): string {
  return String(text ?? '')
    .replace(/\s+/g, '')
    .toLowerCase()
}
