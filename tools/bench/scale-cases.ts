import type { InjectOptions } from 'fastify'
import type { Resource } from '../../src/engine/definition/resource.ts'
import { customers } from '../../src/shop/resources/customers/customers.ts'
import { orders } from '../../src/shop/resources/orders/orders.ts'
import { products } from '../../src/shop/resources/products/products.ts'
import { openClient } from '../../test/support/client.ts'
import type { StoreSize } from '../../test/support/large-store/statements.ts'
import type { LargeServer } from './large-server.ts'
import { valuesOf } from './scale-values.ts'

export interface ScaleCase {
  readonly title: string
  /** Each run changes something else. */
  readonly request: (run: number) => InjectOptions
  /** Of a list. */
  readonly countUrl?: string
}

type Sized = readonly [resource: Resource, count: number]

/** The same cases for a store of any size, with values of its own. */
export async function scaleCases(server: LargeServer, url: string, size: StoreSize): Promise<readonly ScaleCase[]> {
  const services: readonly Sized[] = [
    [products, size.products],
    [customers, size.customers],
    [orders, size.orders],
  ]
  const lists = services.flatMap((sized) => wholeLists(server, sized))
  const client = await openClient(url)
  try {
    for (const sized of services) lists.push(...(await filteredLists(server, client, sized)))
    return [...lists, ...others(server, size, await sampleOf(client, server.storeId))]
  } finally {
    await client.end()
  }
}

function wholeLists({ application: headers }: LargeServer, [{ service }, count]: Sized): ScaleCase[] {
  const list = (title: string, query: string) => ({
    title: `${service}${title}`,
    request: () => ({ url: `/StoreWebAPI/v1/${service}${query}`, headers }),
  })
  return [
    list('', ''),
    list('?limit=100', '?limit=100'),
    list(', from the middle by cursor', `?cursor=${Math.floor(count / 2)}`),
    list(', last page by cursor', `?cursor=${count - 10}`),
    list('?countonly=1', '?countonly=1'),
    list(', from the middle by offset', `?offset=${Math.floor(count / 2)}`),
  ]
}

async function filteredLists(
  { application: headers, storeId }: LargeServer,
  client: Awaited<ReturnType<typeof openClient>>,
  [{ service, table, filters }, count]: Sized,
): Promise<ScaleCase[]> {
  const cases: ScaleCase[] = []
  for (const [name, filter] of Object.entries(filters)) {
    for (const { share, value } of await valuesOf(client, storeId, { name, filter, table, count })) {
      const url = `/StoreWebAPI/v1/${service}?${name}=${encodeURIComponent(value)}`
      cases.push({
        title: `${service}?${name}: ${share}`,
        request: () => ({ url, headers }),
        countUrl: `${url}&countonly=1`,
      })
    }
  }
  return cases
}

/** A product that orders can be placed of for a while, and the telephone number of a guest. */
async function sampleOf(client: Awaited<ReturnType<typeof openClient>>, storeId: number) {
  const { rows } = await client.query<{ soldProduct: number; guestPhone: string }>(
    `SELECT (SELECT "id" FROM "Product" WHERE "storeId" = $1 AND NOT "hide" AND NOT "notForSale" ORDER BY "stock" DESC, "id" LIMIT 1)
       AS "soldProduct", (SELECT "details"->>'BillingPhoneNumber' FROM "Order" WHERE "storeId" = $1 AND "customerId" IS NULL
       ORDER BY "id" LIMIT 1) AS "guestPhone"`,
    [storeId],
  )
  return rows[0] ?? { soldProduct: 1, guestPhone: '' }
}

function others(
  { application, operator, merchant, storeId }: LargeServer,
  size: StoreSize,
  { soldProduct, guestPhone }: { soldProduct: number; guestPhone: string },
): ScaleCase[] {
  const [product, customer, order] = [size.products, size.customers, size.orders].map((count) =>
    Math.ceil(count / 2),
  ) as [number, number, number]
  const called = (title: string, path: string, payload?: (run: number) => object): ScaleCase => ({
    title,
    request: (run) => ({
      url: `/StoreWebAPI/v1/${path}`,
      headers: application,
      ...(payload && { method: 'PUT' as const, payload: payload(run) }),
    }),
  })
  return [
    called('Products?hide=0&stockfrom=1', 'Products?hide=0&stockfrom=1'),
    called('Products?hide=0&name=cotton', 'Products?hide=0&name=cotton'),
    called('Products?name=ott&pricefrom=100', 'Products?name=ott&pricefrom=100'),
    called('Orders?orderstatus=1&datestart=2020-01-01', 'Orders?orderstatus=1&datestart=2020-01-01'),
    called('Customers?city=london&lastname=man', 'Customers?city=london&lastname=man'),
    called('Products/{id}', `Products/${product}`),
    called('Products?sku=…', `Products?sku=SKU-${product}`),
    called('Customers/{id}', `Customers/${customer}`),
    called('Orders/{id}', `Orders/${order}`),
    called('Events', 'Events'),
    called('PUT Products/{id}, stock', `Products/${product}`, (run) => ({ SKUInfo: { Stock: 100 + run } })),
    called('PUT Products/{id}, description', `Products/${product}`, (run) => ({ Description: `Description ${run}` })),
    called('PUT Customers/{id}, city', `Customers/${customer}`, (run) => ({
      BillingCity: run % 2 === 0 ? 'Springfield' : 'Riverfield',
    })),
    called('PUT Orders/{id}, comment', `Orders/${order}`, (run) => ({ InternalComments: `Comment ${run}` })),
    {
      title: 'order placed (operator)',
      request: () => ({
        method: 'POST',
        url: `/admin/stores/${storeId}/orders`,
        headers: operator,
        payload: { CustomerID: customer, OrderItemList: [{ CatalogID: soldProduct, ItemQuantity: 1 }] },
      }),
    },
    ...[`customers/${customer}/data`, `guests/data?phone=${guestPhone}`].map((path) => ({
      title: `a person's data: ${path}`.replace(/[\d-]{2,}/g, '{n}'),
      request: () => ({ url: `/admin/stores/${storeId}/${path}`, headers: operator }),
    })),
    {
      title: 'erasure of a customer, dry run',
      request: () => ({
        method: 'POST',
        url: `/admin/stores/${storeId}/customers/${customer}/erase?dry=true`,
        headers: operator,
        payload: {},
      }),
    },
    ...pagesOf(product, customer, order).map((path) => ({
      title: path.replace(/\d{2,}/g, '{n}'),
      request: () => ({ url: path, headers: merchant }),
    })),
  ]
}

/** Every kind of page whose work could grow with the store. */
function pagesOf(product: number, customer: number, order: number): string[] {
  const lastYear = new Date(Date.now() - 365 * 86_400_000).toISOString().slice(0, 'yyyy-mm-dd'.length)
  return [
    '/admin',
    '/admin/orders',
    `/admin/orders?find=AB-${order}`,
    '/admin/orders?find=Lewis',
    `/admin/search?q=AB-${order}`,
    '/admin/search?q=Lewis',
    '/admin/search?q=0199',
    ...['/admin/orders?find=', '/admin/customers?find=', '/admin/search?q='].flatMap((search) =>
      ['Springfield', '12 Oakton Street', '45123', 'Street'].map((place) => search + encodeURIComponent(place)),
    ),
    '/admin/orders?orderstatus=4&sort=-OrderDate',
    ...['', '/fields', '/lines', '/shipments/0', '/events', '/history', '/invoice'].map(
      (page) => `/admin/orders/${order}${page}`,
    ),
    '/admin/products',
    '/admin/products?name=cotton&sort=SKUInfo.Price',
    '/admin/products?categoryid=1',
    '/admin/products?manufacturerid=1',
    '/admin/category/1',
    '/admin/manufacturers/1',
    ...['', '/edit', '/stock', '/prices', '/options', '/categories', '/history'].map(
      (page) => `/admin/products/${product}${page}`,
    ),
    '/admin/products/search?q=cotton%20bag',
    '/admin/categories/tree',
    '/admin/orders/new',
    '/admin/payments',
    '/admin/payments?period=last-year',
    '/admin/payments?method=Card&direction=out&period=last-year',
    `/admin/payments?find=BANK-${order}&period=last-year`,
    '/admin/reports',
    '/admin/reports?period=last-year',
    '/admin/csv',
    '/admin/customers',
    `/admin/customers/${customer}`,
    '/admin/history',
    '/admin/history?by=nobody',
    '/admin/history?of=Products&field=SKUInfo.Price',
    `/admin/history?to=${lastYear}`,
    '/admin/rma',
    '/admin/webhooks',
  ]
}
