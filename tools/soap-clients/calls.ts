import { hardText } from './records.ts'
import type { Credentials, Server } from './server.ts'

/** A call, and what every program must read in its answer. */
export interface Call {
  readonly operation: string
  readonly name: string
  /** Null: given as the language's own null. */
  readonly parameters: Readonly<Record<string, string | number | boolean | null>>
  /** The name of the result's root. */
  readonly root: string
  /** The texts of all elements at a path below the root, in their order. */
  readonly texts: Readonly<Record<string, readonly string[]>>
  /** Regular expressions that the text of the first element at a path fits. */
  readonly patterns: Readonly<Record<string, string>>
}

type Parameters = Call['parameters']

/**
 * Every operation, in an order in which each call finds what those before it left behind: once through for a new store with
 * `records`, and at last pages of the sandbox, whose long records must be those that REST gives.
 */
export async function callsOf(server: Server, shop: Credentials): Promise<Call[]> {
  const groups = [counts(), products(), inventory(), customers(), orders(), changedOrder(), refusals()]
  const calls = groups.flat().map((call) => ({ ...call, parameters: { ...shop, ...call.parameters } }))
  return [...calls, ...(await sandboxPages(server))]
}

function call(
  [operation, name]: readonly [string, string],
  parameters: Parameters,
  root: string,
  texts: Call['texts'],
  patterns: Call['patterns'] = {},
): Call {
  return { operation, name, parameters, root, texts, patterns }
}

function counts(): Call[] {
  return [
    call(['getProductCount', 'all'], {}, 'GetProductCountResponse', { ProductQuantity: ['3'] }),
    call(['getCustomerCount', 'all'], { callBackURL: null }, 'CustomerCountResponse', { CustomerCount: ['2'] }),
  ]
}

function products(): Call[] {
  const bySku = { batchSize: 1, startNum: 1, productId: 'tee-2' }
  const page = { batchSize: 2, startNum: 2, productId: null, callBackURL: '' }
  return [
    call(['getProduct', 'by SKU'], bySku, 'GetProductDetailsResponse', {
      'Product/CatalogID': ['2'],
      'Product/ProductID': ['TEE-2'],
      'Product/ProductName': [hardText],
      'Product/Price': ['30.00'],
      'Product/PriceLevel/Price_1': ['30'],
      'Product/Stock': ['5'],
      'Product/ExtendedDescription': ['<p>Größe &amp; <b>Farbe</b></p>'],
      'Product/Keywords': [''],
      'Product/Hide': ['0'],
    }),
    call(['getProduct', 'a page of two'], page, 'GetProductDetailsResponse', {
      'Product/ProductID': ['TEE-2', 'MUG-3'],
      'Product/Images/Image/Url': ['', '', '', '', '', '', '', ''],
    }),
  ]
}

function inventory(): Call[] {
  const change = (quantity: number, replaceStock: boolean) => ({ productId: 'MUG-3', quantity, replaceStock })
  return [
    call(['updateProductInventory', 'set'], change(12, true), 'UpdateInventoryResponse', {
      ProductID: ['MUG-3'],
      NewInventory: ['12'],
    }),
    call(['updateProductInventory', 'added'], change(-5, false), 'UpdateInventoryResponse', {
      ProductID: ['MUG-3'],
      NewInventory: ['7'],
    }),
    call(['getProductInventory', 'after both'], { productId: 'MUG-3' }, 'GetInventoryResponse', {
      ProductID: ['MUG-3'],
      Inventory: ['7'],
    }),
  ]
}

const lena = {
  alt_contactid: 'erp-7',
  billing_firstname: 'Lena 🎁',
  billing_lastname: 'Müller & "Söhne" <GmbH>',
  billing_city: 'Straße',
  email: 'lena@example.com',
  pass: 'geheim',
  comments: 'Erste Zeile\nzweite',
  custenabled: '1',
}

function customers(): Call[] {
  const edit = (action: string, data: Record<string, string>) => ({ customerData: dataOf(data), action })
  const filter = (customersFilter: string) => ({ batchSize: 100, startNum: 0, customersFilter })
  const done = { result: ['OK'], contactid: ['3'], alt_contactid: ['erp-7'] }
  return [
    call(['editCustomer', 'insert'], edit('insert', lena), 'EditCustomerResponse', done),
    call(['getCustomer', 'by filter'], filter('email=LENA@example.com , city=Straße'), 'CustomersRequestResponse', {
      'Customer/CustomerID': ['3'],
      'Customer/BillingAddress/FirstName': [lena.billing_firstname],
      'Customer/BillingAddress/LastName': [lena.billing_lastname],
      'Customer/BillingAddress/Email': [lena.email],
      'Customer/ShippingAddress/FirstName': [''],
      'Customer/Comments': [lena.comments],
      'Customer/CustEnabled': ['1'],
    }),
    call(
      ['editCustomer', 'update'],
      edit('update', { contactid: '3', billing_city: 'Öhringen' }),
      'EditCustomerResponse',
      done,
    ),
    call(['getCustomer', 'updated'], filter(`lastname=${lena.billing_lastname}`), 'CustomersRequestResponse', {
      'Customer/BillingAddress/FirstName': [lena.billing_firstname],
      'Customer/BillingAddress/City': ['Öhringen'],
    }),
    call(['getCustomerCount', 'one more'], {}, 'CustomerCountResponse', { CustomerCount: ['3'] }),
    call(['editCustomer', 'delete'], edit('delete', { alt_contactid: 'erp-7' }), 'EditCustomerResponse', done),
    call(['getCustomer', 'all'], filter(''), 'CustomersRequestResponse', {
      'Customer/CustomerID': ['1', '2'],
      'Customer/BillingAddress/City': ['London', 'Köln'],
    }),
    call(
      ['getCustomerLoginToken', 'of one'],
      { customerEmail: 'zoe@example.com', timeToLive: 1 },
      'CustomerLoginTokenResponse',
      {},
      { Token: '^[A-Za-z0-9_-]{64}$' },
    ),
  ]
}

function dataOf(fields: Record<string, string>): string {
  return Object.entries(fields)
    .map((pair) => pair.join('==='))
    .join('|||')
}

function orders(): Call[] {
  const all = { startFrom: false, invoiceNum: null, status: null, dateFrom: null, dateTo: null }
  const page = { batchSize: 100, startNum: 1, ...all }
  return [
    call(['getOrder', 'by number'], { ...page, invoiceNum: 'AB-1000' }, 'GetOrdersResponse', {
      'Order/OrderID': ['1'],
      'Order/InvoiceNumber': ['AB-1000'],
      'Order/CustomerID': ['2'],
      'Order/Date': ['3/2/2026'],
      'Order/Time': ['3:08:30 PM'],
      'Order/Total': ['35.98'],
      'Order/Tax': ['0.00'],
      'Order/Comments/OrderComment': [`${hardText}\nbitte`],
      'Order/OrderStatus': ['New'],
      'Order/ShippingInformation/Shipment/ShipmentID': ['0'],
      'Order/ShippingInformation/OrderItems/Item/ProductID': ['TOTE-1'],
      'Order/ShippingInformation/OrderItems/Item/Quantity': ['2'],
    }),
    call(['getOrder', 'from a number on'], { ...page, startFrom: true, invoiceNum: '1001' }, 'GetOrdersResponse', {
      'Order/InvoiceNumber': ['AB-1001', 'AB-1002'],
    }),
    call(['getOrderCount', 'by status'], { ...all, status: 'Shipped' }, 'OrdersCountResponse', { Quantity: ['2'] }),
    call(
      ['getOrderCount', 'by date'],
      { ...all, dateFrom: '03/03/2026', dateTo: '03/03/2026' },
      'OrdersCountResponse',
      { Quantity: ['1'] },
    ),
    call(['getOrderCount', 'none'], { ...all, invoiceNum: '1' }, 'OrdersCountResponse', { Quantity: ['0'] }),
  ]
}

function changedOrder(): Call[] {
  const invoiceNum = 'AB-1000'
  const shipment = { shipmentID: '0', tracking: '1Z 99 <Ä&🎁>', shipmentDate: '03/08/2026' }
  const one = { batchSize: 1, startNum: 1, startFrom: false, invoiceNum: '1000' }
  return [
    call(['getOrderStatus', 'before'], { invoiceNum }, 'OrderStatusResponse', {
      InvoiceNum: ['AB-1000'],
      id: ['1'],
      StatusText: ['New'],
    }),
    call(['updateOrderStatus', 'next'], { invoiceNum, newStatus: 'processing' }, 'UpdateOrderStatusResponse', {
      InvoiceNum: ['AB-1000'],
      NewStatus: ['processing'],
    }),
    call(['getOrderStatus', 'after'], { invoiceNum: '1000' }, 'OrderStatusResponse', {
      InvoiceNum: ['AB-1000'],
      id: ['2'],
      StatusText: ['Processing'],
    }),
    call(['updateOrderShipment', 'sent'], { invoiceNum, ...shipment }, 'UpdateOrderShipmentResponse', {
      result: ['OK'],
    }),
    call(['getOrder', 'after both'], one, 'GetOrdersResponse', {
      'Order/OrderStatus': ['Processing'],
      'Order/ShippingInformation/Shipment/TrackingCode': [shipment.tracking],
      'Order/ShippingInformation/Shipment/ShipmentDate': ['3/8/2026'],
    }),
  ]
}

/** What is refused is an answer as any other, with a number. */
function refusals(): Call[] {
  const refusal = (operation: string, name: string, parameters: Parameters, id: number, description: string) =>
    call([operation, name], parameters, 'Error', { Id: [String(id)], Description: [description] })
  const page = { batchSize: 1, startNum: 1 }
  return [
    refusal('getProduct', 'unknown SKU', { ...page, productId: 'Größe 🎁' }, 46, 'No Data Found'),
    refusal('getProduct', 'too many', { batchSize: 101, startNum: 1 }, 33, 'Data Error'),
    refusal('getOrder', 'unknown', { ...page, startFrom: false, invoiceNum: '4711' }, 49, 'No Data Found'),
    refusal('updateOrderStatus', 'unknown', { invoiceNum: '1000', newStatus: 'Verschickt' }, 39, 'Data Error'),
    refusal('editCustomer', 'unknown', { customerData: 'contactid===4711', action: 'delete' }, 47, 'No Data Found'),
    refusal('editCustomer', 'wrong action', { customerData: 'contactid===1', action: 'remove' }, 42, 'Data Error'),
    // What some programs send has been copied from the page that explained the operation.
    refusal('getProductCount', 'no address', { callBackURL: 'string' }, 40, 'Data Error'),
    refusal('getProductCount', 'wrong key', { userKey: 'Schlüssel' }, 17, 'Login Error'),
  ]
}

const PAGE = 100

async function sandboxPages({ read, sandbox }: Server): Promise<Call[]> {
  const page = { ...sandbox, batchSize: PAGE, startNum: 1 }
  const products = await read('Products/skuinfo', PAGE)
  const customers = await read('Customers', PAGE)
  const orders = await read('Orders', PAGE)
  return [
    call(['getProduct', 'a hundred'], page, 'GetProductDetailsResponse', {
      'Product/ProductID': textsOf(products, 'SKU'),
      'Product/ProductName': textsOf(products, 'Name'),
    }),
    call(['getCustomer', 'a hundred'], page, 'CustomersRequestResponse', {
      'Customer/BillingAddress/Email': textsOf(customers, 'Email'),
      'Customer/BillingAddress/LastName': textsOf(customers, 'BillingLastName'),
    }),
    call(['getOrder', 'a hundred'], { ...page, startFrom: false }, 'GetOrdersResponse', {
      'Order/OrderID': textsOf(orders, 'OrderID'),
      'Order/BillingAddress/LastName': textsOf(orders, 'BillingLastName'),
      'Order/Comments/OrderComment': textsOf(orders, 'CustomerComments'),
    }),
  ]
}

function textsOf(records: readonly Record<string, unknown>[], member: string): string[] {
  return records.map((record) => String(record[member]))
}
