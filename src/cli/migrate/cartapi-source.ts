import { type FieldSet, fieldsAmong } from '../../engine/definition/fields.ts'
import type { Resource } from '../../engine/definition/resource.ts'
import { StartupError } from '../../foundation/process/startup-error.ts'
import { customerElements } from '../../http/soap/records/customer.ts'
import { orderElements } from '../../http/soap/records/order.ts'
import { productElements } from '../../http/soap/records/product.ts'
import { type Content, type Given, type Names, newGiven, readableFields } from '../../http/soap/records/reading.ts'
import { categories } from '../../shop/resources/categories/categories.ts'
import { customers } from '../../shop/resources/customers/customers.ts'
import { orders } from '../../shop/resources/orders/orders.ts'
import { products } from '../../shop/resources/products/products.ts'
import { CartApi, ErrorDocument, type Result, TOO_LARGE } from './cartapi-calls.ts'
import { TargetNames } from './cartapi-names.ts'
import { type Source, type SourceKeys, Unavailable } from './source.ts'
import type { Target } from './target.ts'

/** The largest batch that cartAPI allows. */
const BATCH_MAX = 100
/** A page begins with a record that is known: with fewer there would be nothing new in it. */
const PAGE_MIN = 2
/** Refuses a batch, such as one that would be too large for an answer. */
const INVALID_BATCH = 33
/** No product, customer or order, or none from startNum on. */
const notFound: readonly number[] = [46, 47, 49]

/** A service that cartAPI shows: its operations, and the elements of a record. */
interface Shown {
  /** With the private fields that cartAPI shows. */
  readonly resource: Resource
  readonly operation: string
  readonly parameters: Readonly<Record<string, boolean>>
  /** The element of a record. */
  readonly element: string
  readonly counted: string
  readonly elements: { readonly read: (content: Content, record: Given, names: Names) => void }
}

const shownProducts: Shown = {
  resource: products,
  operation: 'getProduct',
  parameters: {},
  element: 'Product',
  counted: 'ProductQuantity',
  elements: productElements,
}

const shownServices: readonly Shown[] = [
  shownProducts,
  {
    resource: withShown(customers, customerElements),
    operation: 'getCustomer',
    parameters: {},
    element: 'Customer',
    counted: 'CustomerCount',
    elements: customerElements,
  },
  {
    resource: withShown(orders, orderElements),
    operation: 'getOrder',
    parameters: { startFrom: false },
    element: 'Order',
    counted: 'Quantity',
    elements: orderElements,
  },
]

function withShown(resource: Resource, { fields }: { readonly fields: readonly string[] }): Resource {
  const isShown = (name: string) => resource.fields.get(name) !== undefined || fields.includes(name)
  return { ...resource, fields: fieldsAmong(resource.storedFields, isShown) }
}

export interface CartApiOptions {
  /** Has the order statuses, groups, manufacturers and distributors that cartAPI names by texts. */
  readonly target: Target
  /** Nothing is written to the target. */
  readonly isReadOnly: boolean
  readonly say: (line: string) => void
}

/**
 * Reads products, customers and orders of a store by cartAPI, and the categories that its products name. Throws StartupError for an
 * address without cartAPI, and for keys that it refuses.
 */
export async function openCartApiSource(keys: SourceKeys, options: CartApiOptions): Promise<Source> {
  const api = await CartApi.open(keys, options.say)
  try {
    const source = new CartApiSource(api, await TargetNames.open(options.target, options), options.say)
    await source.count(products)
    return source
  } catch (error) {
    await api.close()
    throw error
  }
}

class CartApiSource implements Source {
  readonly resources = [categories, ...shownServices.map(({ resource }) => resource)]
  readonly leftOut = leftOut()
  readonly #api: CartApi
  readonly #names: TargetNames
  readonly #say: (line: string) => void
  /** The size of a batch whose answer is within the bounds, by operation. */
  readonly #batchSizes = new Map<string, number>()
  /** What was read of the lists, by service. */
  readonly #lists = new Map<string, ReadList>()
  /** Names of the categories that products are in, by id. */
  readonly #categories = new Map<number, string>()
  #hasReadProducts = false

  constructor(api: CartApi, names: TargetNames, say: (line: string) => void) {
    this.#api = api
    this.#names = names
    this.#say = say
  }

  knowsChanges(): boolean {
    return false
  }

  now(): Date {
    return this.#api.now()
  }

  close(): Promise<void> {
    return this.#api.close()
  }

  async count({ service }: Resource): Promise<number | Unavailable> {
    if (service === categories.service) return (await this.#readProducts()) ?? this.#categories.size
    const { operation, parameters, counted } = shownOf(service)
    const result = await this.#api.call(`${operation}Count`, parameters)
    if (isNotFound(result)) return 0
    if (result instanceof ErrorDocument || result === TOO_LARGE) return unavailable(result)
    const text = result.take(counted)?.text.trim() ?? ''
    return /^\d{1,10}$/.test(text) ? Number(text) : new Unavailable(`${counted} is no number`)
  }

  async page(
    { service, maxRecords }: Resource,
    { before }: { before: number },
  ): Promise<readonly unknown[] | Unavailable> {
    const problem = await this.#readProducts()
    if (problem) return problem
    if (service === categories.service) return this.#categoryRecords().slice(before, before + maxRecords)
    return this.#records(shownOf(service), before)
  }

  async find({ service }: Resource, id: number): Promise<unknown | null | Unavailable> {
    const unread = await this.#readProducts()
    if (unread) return unread
    if (service === categories.service) {
      return this.#categoryRecords().find(({ CategoryID }) => CategoryID === id) ?? null
    }
    const shown = shownServices.find(({ resource }) => resource.service === service)
    if (shown === undefined) return new Unavailable('cartAPI does not show it')
    const { places } = this.#listOf(service)
    const problem = places.has(id) ? null : await this.#readOn(shown)
    if (problem) return problem
    const place = places.get(id)
    if (place === undefined) return null
    // Deletions since may have moved it up.
    const around = await this.#records(shown, Math.max(0, place - BATCH_MAX / 2))
    if (around instanceof Unavailable) return around
    return around.find((record) => idOf(record) === id) ?? new Unavailable('the list has moved')
  }

  /** Reads all products once, for their SKUs and categories. */
  async #readProducts(): Promise<Unavailable | null> {
    if (this.#hasReadProducts) return null
    this.#say('Reading the SKUs and categories of all products first')
    const problem = await this.#readOn(shownProducts)
    this.#hasReadProducts = problem === null
    return problem
  }

  /** Reads a list to its end, from a little before the place up to which it was read, because deletions move it up. */
  async #readOn(shown: Shown): Promise<Unavailable | null> {
    const { end } = this.#listOf(shown.resource.service)
    for (let before = Math.max(0, end - BATCH_MAX); ; ) {
      const records = await this.#records(shown, before)
      if (records instanceof Unavailable) return records
      if (records.length === 0) return null
      before += records.length
    }
  }

  /** At least two records from a place on, unless the list ends before; `[]`: it has ended. */
  async #records(shown: Shown, before: number): Promise<Given[] | Unavailable> {
    const records: Given[] = []
    while (records.length < PAGE_MIN) {
      const batch = await this.#batch(shown, before + records.length)
      if (batch instanceof Unavailable) return batch
      if (batch.length === 0) break
      records.push(...batch)
    }
    await this.#names.settle()
    return records
  }

  /** Halves the batch until its answer is within the bounds; later batches have the same size. */
  async #batch(shown: Shown, before: number): Promise<Given[] | Unavailable> {
    const { operation, parameters, element, elements, resource } = shown
    for (;;) {
      const batchSize = this.#batchSizes.get(operation) ?? BATCH_MAX
      const result = await this.#api.call(operation, { batchSize, startNum: before + 1, ...parameters })
      const isTooLarge = result === TOO_LARGE || (result instanceof ErrorDocument && result.id === INVALID_BATCH)
      if (isTooLarge && batchSize > 1) {
        this.#batchSizes.set(operation, Math.floor(batchSize / 2))
        continue
      }
      if (isNotFound(result)) return []
      if (result instanceof ErrorDocument) return unavailable(result)
      if (result === TOO_LARGE) {
        throw new StartupError(
          `The source's ${resource.typeName} at place ${before + 1} is larger than any answer may be`,
        )
      }
      return this.#read({ content: result, element, elements, service: resource.service }, before)
    }
  }

  #read(
    {
      content,
      element,
      elements,
      service,
    }: Pick<Shown, 'element' | 'elements'> & { content: Content; service: string },
    before: number,
  ): Given[] {
    const list = this.#listOf(service)
    const records: Given[] = []
    while (content.has(element)) {
      const record = newGiven()
      elements.read(content, record, this.#names)
      list.places.set(idOf(record), before + records.length)
      if (service === products.service) this.#noteProduct(record)
      records.push(record)
    }
    list.end = Math.max(list.end, before + records.length)
    return records
  }

  #noteProduct({ SKUInfo = {}, CategoryList }: Given): void {
    const { CatalogID, SKU, Name } = SKUInfo as Given
    this.#names.addProduct(String(SKU ?? ''), { id: Number(CatalogID), name: String(Name ?? '') })
    for (const { CategoryID, CategoryName } of (CategoryList ?? []) as Given[]) {
      this.#categories.set(Number(CategoryID), String(CategoryName ?? ''))
    }
  }

  #categoryRecords(): { CategoryID: number; CategoryName: string }[] {
    return Array.from(this.#categories, ([CategoryID, CategoryName]) => ({ CategoryID, CategoryName }))
  }

  #listOf(service: string): ReadList {
    const list = this.#lists.get(service) ?? { places: new Map<number, number>(), end: 0 }
    this.#lists.set(service, list)
    return list
  }
}

/** What was read of a list: the places of its records by id, and the place up to which it was read. */
interface ReadList {
  readonly places: Map<number, number>
  end: number
}

function shownOf(service: string): Shown {
  const shown = shownServices.find(({ resource }) => resource.service === service)
  if (shown === undefined) throw new Error(`cartAPI does not show ${service}`)
  return shown
}

function idOf({ SKUInfo, CustomerID, OrderID }: Given): number {
  return Number((SKUInfo as Given | undefined)?.CatalogID ?? OrderID ?? CustomerID)
}

function isNotFound(result: Result): boolean {
  return result instanceof ErrorDocument && notFound.includes(result.id)
}

function unavailable(result: ErrorDocument | typeof TOO_LARGE): Unavailable {
  return new Unavailable(result === TOO_LARGE ? 'too large an answer' : `error ${result.id}: ${result.description}`)
}

/** Names that a line shows. */
const NAMED_MAX = 12

/** What cartAPI does not show of a store, a line each. */
function leftOut(): string[] {
  const lines = shownServices.map(({ resource, elements }) => {
    const all = hiddenFields(resource.fields, readableFields(elements))
    const hidden = [...all.filter((path) => !path.includes('.')), ...all.filter((path) => path.includes('.'))]
    const more = hidden.length - NAMED_MAX
    return `of ${resource.service}: ${hidden.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  })
  return [
    ...lines,
    'the tree and the texts of categories, and those without products',
    'manufacturers, distributors and customer groups: make them here first, and records are joined to them by their names',
    'products closed to a customer group, until the group is here under the same number',
    'order statuses, beside the texts that orders show',
    'gift registries and returns',
    'advanced options, and all files of a product but the first',
    'passwords of customers: they ask for a new one at their next sign-in',
    'card and bank numbers',
    'what REST leaves out too: webhooks, coupons, gift certificates beside those of orders, redirects, taxes and rates',
  ]
}

/** The fields that a copy could have and no element shows. */
function hiddenFields(fields: FieldSet, readable: Given, path = ''): string[] {
  return fields.shown.entries.flatMap(([name, field]): string[] => {
    const at = path === '' ? name : `${path}.${name}`
    const value = readable[name]
    if (field.kind === 'object') return hiddenFields(field.fields, (value ?? newGiven()) as Given, at)
    if (field.access === 'derived' || (field.kind !== 'list' && ['wo', 'key'].includes(field.access))) return []
    if (value === undefined) return field.kind !== 'list' && field.sql !== undefined ? [] : [at]
    return field.kind === 'list' ? hiddenFields(field.fields, (value as Given[])[0] ?? newGiven(), at) : []
  })
}
