import { writeMail } from '../../../src/access/mail/write.ts'
import { inTransaction } from '../../../src/foundation/database/client.ts'
import { csvPages } from '../../app/http/pages/shop/csv-fixture.ts'
import { storedDelivery, storedWebhook } from '../../app/http/pages/shop/webhooks-fixture.ts'
import { memberWith } from '../../app/shop/staff/fixture.ts'
import type { TestPerson } from '../../support/person.ts'
import { memberIn } from '../../support/signed-in.ts'
import type { TestStore } from '../../support/store.ts'
import type { ListeningServer as Stage } from './browser.ts'

/** A word that finds no place in a line of a phone. */
const long = 'x'.repeat(60)

/** Where the records lie that a store is filled with, by the names that the addresses of its pages have for them. */
export type Places = Readonly<Record<string, string | number>>

/** Fills a store with something for every page, and with long words where people write. */
export async function fillShop(stage: Stage, shop: TestStore, merchant: TestPerson): Promise<Places> {
  await addCatalogue(stage, shop)
  return {
    ...(await addOrders(shop)),
    ...(await addApplication(stage, shop)),
    ...(await addWebhooks(stage, shop)),
    ...(await takeFilesIn(stage, shop, merchant)),
    ...(await addPeople(stage, shop)),
  }
}

async function addCatalogue({ origin }: Stage, { add, call }: TestStore): Promise<void> {
  const icon = `${origin}/assets/icon.svg`
  await add('/Category', { CategoryName: 'Clothes', CategoryIcon: icon })
  await add('/Category', { CategoryName: 'Shirts', CategoryParent: 1, Hide: true })
  await add('/CustomerGroups', { Name: 'Dealers', PriceLevel: 2 })
  await add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Brass lamp', Price: 42.5, Stock: 3 } })
  const medium = { OptionName: 'Medium' }
  const large = { OptionName: 'Large', OptionValue: 3 }
  const box = { OptionName: 'Gift box', OptionValue: 1.5 }
  await add('/Products', {
    SKUInfo: { SKU: 'SHIRT', Name: 'Linen shirt', Price: 20, Stock: 50 },
    MainImageFile: icon,
    ImageGalleryList: [{ ImageGalleryFile: icon, ImageGalleryCaption: 'Front' }],
    CategoryList: [{ CategoryID: 2 }],
    PriceLevel2: 18,
    Description: '<p>Of <b>linen</b>, with <a href="/care">care</a>.</p>\n<ul><li>Wash it.</li></ul>',
    DiscountList: [{ DiscountLowbound: 10, DiscountPrice: 17 }],
    RelatedProductList: [{ RelatedProductID: 1 }],
    OptionSetList: [
      { OptionSetName: 'Size', OptionType: 'Dropdown', OptionRequired: true, OptionList: [medium, large] },
      { OptionSetName: 'Extras', OptionType: 'Checkbox', OptionList: [box] },
    ],
  })
  const Name = 'Linen lampshade in a very long range of colours'
  await add('/Products', { SKUInfo: { SKU: 'SHADE', Name, Stock: 2 }, StockAlert: 5 })
  for (const ManufacturerName of ['Alder & Finch', 'Alder Lamps of the long and winding road', 'Birch']) {
    await add('/Manufacturers', { ManufacturerName })
  }
  const Email = 'marie-antoinette.de.la.montagne-blanche@customers.example'
  await call('POST', '/Customers', { body: { Email: 'ada@customers.example', Password: 'secret' } })
  await call('POST', '/Customers', { body: { Email, Password: 'secret' } })
}

/** One that is paid, refunded and returned, and one of long words of which a parcel has left and one is still to ship. */
async function addOrders({ add, call, placeOrder }: TestStore): Promise<Places> {
  await placeOrder([{ ItemID: 'LAMP', ItemQuantity: 3 }], { CustomerID: 1 })
  const RMAItemList = [{ SKU: 'LAMP', ReturnQuantity: 1, RestockQuantity: 1 }]
  await call('POST', '/RMA', { body: { OrderID: 1, RMAItemList } })
  const transactions: number[] = []
  for (const TransactionType of ['Void', 'Refund', 'Sale']) {
    const bank = { TransactionMethod: 'Bank transfer', TransactionReference: 'T-1' }
    transactions.push(await add('/Orders/1/Transactions', { TransactionType, TransactionAmount: 20, ...bank }))
  }
  const [, refundId = 0, transactionId = 0] = transactions
  const items = [
    { ItemID: 'SHADE', ItemQuantity: 1 },
    { CatalogID: 1, ItemQuantity: 1 },
  ]
  const partlyShippedId = await placeOrder(items, {
    CustomerID: 2,
    BillingEmail: `${long}@customers.example`,
    BillingFirstName: `Marie ${long}`,
    BillingPhoneNumber: '+1 555 0100 200 300',
    CustomerComments: `Leave it at the back door ${long}`,
  })
  const name = { ShipmentFirstName: 'Bob', ShipmentCity: 'Paris' }
  const sent = { ...name, ShipmentTrackingCode: long, ShipmentShippedDate: '03/11/2026' }
  const path = `/Orders/${partlyShippedId}` as const
  await call('PUT', path, { body: { InternalComments: long, ShipmentList: [{ ShipmentID: 0 }, sent] } })
  const [{ ShipmentList, OrderItemList }] = (await call('GET', path)).json()
  const parcelId: number = ShipmentList[1].ShipmentID
  const [first, second] = OrderItemList
  await call('PUT', path, { body: { OrderItemList: [first, { ...second, ItemShipmentID: parcelId }] } })
  return { transactionId, refundId, partlyShippedId, parcelId }
}

/** The one that `shop.call` uses fails: its last three calls were refused. */
async function addApplication({ services }: Stage, shop: TestStore): Promise<Places> {
  for (let count = 0; count < 3; count++) await shop.call('GET', '/Orders?limit=x')
  await services.callLog.flush()
  const { id } = await services.db.subscription.findFirstOrThrow({ where: { storeId: shop.store.id } })
  return { subscriptionId: id }
}

async function addWebhooks(stage: Stage, shop: TestStore): Promise<Places> {
  const reason = 'The answer has the status 500'
  const at = stage.services.now()
  const webhook = await storedWebhook(stage, shop, { failingSince: at })
  const paused = { enabled: false, disabledAt: at, pauseReason: 'The receiver answered 410' }
  const { id: pausedWebhookId } = await storedWebhook(stage, shop, paused)
  const attempt = { status: 500, reason, answer: 'x'.repeat(4_096) }
  const deliveryId = await storedDelivery(stage, webhook, {
    state: 'failed',
    reason,
    event: { body: JSON.stringify({ OrderID: 17, CustomerComments: 'x'.repeat(2_000) }) },
    log: [attempt, attempt],
  })
  return { webhookId: webhook.id, pausedWebhookId, deliveryId }
}

/** Files that wait for an answer, that can be applied, that are being applied and that were; and changes of many products. */
async function takeFilesIn(stage: Stage, { store }: TestStore, merchant: TestPerson): Promise<Places> {
  const { takeIn, assign, apply } = csvPages(() => ({ server: stage, merchant }))
  const idIn = (address: string) => /csv\/(\d+)/.exec(address)?.[1] ?? ''
  const heading = 'SKUInfo.SKU,SKUInfo.Name,SKUInfo.Price,LastUpdate'
  const many = Array.from({ length: 60 }, (_, at) => `CSV-${at},Lamp ${at},${at},`)
  // The last number is marked as one that a spreadsheet has shortened.
  const odd = ['CSV-0,Lamp,much,', 'NONE,,1,', '9.4001E+21,Label,7,']
  const markedId = idIn(await takeIn('products', [heading, ...many, `LAMP,${long}${long},7,`, ...odd].join('\n')))
  const done = await takeIn('products', [heading, ...many.slice(0, 3), 'CSV-0,,,'].join('\n'))
  await apply(done)

  const choose = async () => {
    const { headers } = await merchant.submit('/admin/products', { ids: '1' }, { action: '/admin/products/bulk?' })
    return String(headers.location)
  }
  const askingId = idIn(await choose())
  const kind = { Kind: 'price', Field: 'Price', How: 'raise-percent', Value: '10', Round: 'unit', OnSale: 'same' }
  const bulkId = idIn(String((await merchant.submit(await choose(), kind)).headers.location))

  const applyingId = idIn(await takeIn('products', [heading, ...many].join('\n')))
  const [now, day] = [stage.clock.ms, 86_400_000]
  // By a process that lives elsewhere.
  const lease = { startedAt: new Date(now), appliedBy: 'ada@shop.example', leasedUntil: new Date(now + day) }
  await stage.services.db.csvImport.updateMany({
    where: { storeId: store.id, id: Number(applyingId) },
    data: { state: 'applying', ...lease },
  })
  const words = `A heading of ${'many words '.repeat(10)},${long}`
  const other = [
    `Article,Description,Prise,Password,,${words}`,
    `A-1,"<b>Text</b> of some length",7.5,secret,x,${long},1`,
  ]
  const mappingId = idIn(await takeIn('products', other.join('\n')))
  const former = ['catalogid,id,name,categories,manufacturer,price,price2,description,nontax,usecatoptions']
  for (let n = 0; n < 6; n++) former.push(`${n},F-${n},Lamp,Lamps@Lamps/Desk ${n}@${long},Maker ${n},1,2,s,1,1`)
  const formerId = idIn(await assign(await takeIn('products', former.join('\n'))))
  return { markedId, doneId: idIn(done), askingId, bulkId, applyingId, mappingId, formerId }
}

/** Somebody with a role of the store's own, and mails, of which one came back. */
async function addPeople(stage: Stage, shop: TestStore): Promise<Places> {
  const { db } = stage.services
  await memberIn(stage, shop, { Name: 'Packer of parcels', Privileges: { Orders: ['write'] } })
  const { id: roleId } = await db.storeRole.findFirstOrThrow({ where: { storeId: shop.store.id } })
  const { id: userId } = await memberWith(stage, shop, 'reader')
  const data = { storeName: 'Garden Shop', link: `/account/sign-in?token=${long}`, expiresAt: new Date() } as const
  const of = { to: `${long}@shop.example`, identityId: null, storeId: shop.store.id, causedBy: null }
  for (const kind of ['customer-link', 'customer-link', 'address-change'] as const) {
    await inTransaction(db, (tx) => writeMail(tx, stage.services, { kind, data, ...of }))
  }
  const [refused, shown] = await db.mail.findMany({ where: { recipient: of.to }, orderBy: { id: 'asc' } })
  const reason = `The mail server answered: 550 ${'no such mailbox '.repeat(20)}`
  await db.mail.update({ where: { id: refused?.id ?? 0 }, data: { state: 'bounced', reason } })
  return { roleId, userId, mailId: Number(shown?.id) }
}
