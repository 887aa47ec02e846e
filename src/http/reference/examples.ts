import { readFileSync } from 'node:fs'
import { samplesFile } from '../../operations/sandbox/records.ts'
import { resources } from '../../shop/registry.ts'
import type { Examples } from '../server/json/openapi.ts'

/** Requests that succeed on a new sandbox, creations first. Omitted identifiers are 1. */
export const examples: Examples = {
  createCategory: { body: { CategoryName: 'Picnic', CategoryParent: 4, Sorting: 40 } },
  updateCategories: {
    body: [
      { CategoryID: 7, Sorting: 10 },
      { CategoryID: 8, Sorting: 20 },
    ],
  },
  updateCategory: { path: { categoryid: 7 }, body: { CategoryDescription: 'Pots and pans.' } },
  deleteCategory: { path: { categoryid: 25 } },
  listCategoryOptionSets: { path: { categoryid: 7 } },
  createCategoryOptionSet: {
    path: { categoryid: 7 },
    body: {
      OptionSetName: 'Engraving',
      OptionType: 'Radio',
      OptionList: [{ OptionName: 'None' }, { OptionName: 'Name' }],
    },
  },
  updateCategoryOptionSets: { path: { categoryid: 7 }, body: [{ OptionSetID: 1, OptionRequired: true }] },
  updateCategoryOptionSet: { path: { categoryid: 7, optionsetid: 1 }, body: { OptionRequired: false } },
  listCategoryProducts: { path: { categoryid: 7 } },

  quoteOrder: { body: { BillingCountry: 'US', OrderItemList: [{ CatalogID: 1, ItemQuantity: 2 }] } },
  createOrder: {
    body: {
      BillingFirstName: 'Ann',
      BillingLastName: 'Ashe',
      BillingEmail: 'ann@customers.example',
      ShipmentList: [{ ShipmentCity: 'Boston', ShipmentCost: 4.9 }],
      OrderItemList: [{ CatalogID: 1, ItemQuantity: 2 }],
      Payment: { Amount: 110.8, Method: 'Card', Reference: 'pi_3Q', Status: 'approved' },
    },
  },

  createManufacturer: { body: { ManufacturerName: 'Quarry & Quill', Website: 'https://quarry-quill.example' } },
  updateManufacturers: { body: [{ ManufacturerID: 1, Sorting: 10 }] },
  updateManufacturer: { body: { PageTitle: 'Everything of the first manufacturer' } },
  deleteManufacturer: { path: { manufacturerid: 20 } },

  createDistributor: { body: { CompanyName: 'Harbor Freight Lines', Email: 'orders@harbor.example', Country: 'US' } },
  updateDistributors: { body: [{ DistributorID: 1, IsDropShipper: true }] },
  updateDistributor: { body: { ContactName: 'Order Desk' } },
  deleteDistributor: { path: { distributorid: 8 } },

  createCustomerGroup: { body: { Name: 'Schools', PriceLevel: 2, NonTaxable: true } },
  updateCustomerGroups: { body: [{ CustomerGroupID: 1, MinimumOrder: 25 }] },
  updateCustomerGroup: { body: { Description: 'Regular customers.' } },
  deleteCustomerGroup: { path: { groupid: 4 } },

  createProduct: {
    body: {
      SKUInfo: { SKU: 'MUG-ENAMEL', Name: 'Enamel Mug', Price: 12.5, Stock: 40 },
      ManufacturerID: 1,
      CategoryList: [{ CategoryID: 9 }],
      FeatureList: [{ FeatureTitle: 'Material', FeatureDescription: 'Steel' }],
    },
  },
  updateProducts: { body: [{ SKUInfo: { CatalogID: 1, Stock: 40 } }, { SKUInfo: { CatalogID: 2, Stock: 0 } }] },
  updateProduct: { body: { SKUInfo: { Price: 49.95, OnSale: false } } },
  deleteProduct: { path: { catalogid: 600 } },
  listProductAdvancedOptions: { path: { catalogid: 13 } },
  updateProductAdvancedOptions: {
    path: { catalogid: 13 },
    body: [{ AdvancedOptionCode: '9,13', AdvancedOptionStock: 20 }],
  },
  updateProductAdvancedOption: {
    path: { catalogid: 13, advancedoptioncode: '9,13' },
    body: { AdvancedOptionStock: 14 },
  },
  listProductDiscounts: { path: { catalogid: 5 } },
  createProductDiscount: {
    path: { catalogid: 5 },
    body: { DiscountLowbound: 100, DiscountUpbound: 500, DiscountPrice: 20, DiscountPercentage: true },
  },
  updateProductDiscounts: { path: { catalogid: 5 }, body: [{ DiscountID: 50, DiscountPrice: 6 }] },
  updateProductDiscount: { path: { catalogid: 5, discountid: 50 }, body: { DiscountPrice: 5 } },
  createProductEProduct: { body: { FilePath: 'assets/manuals/skillet.pdf' } },
  updateProductEProducts: { body: [{ FileNumber: 1, FilePath: 'assets/manuals/skillet-2.pdf' }] },
  updateProductEProduct: { body: { FilePath: 'assets/manuals/skillet.pdf' } },
  createProductFeature: { body: { FeatureTitle: 'Dishwasher', FeatureDescription: 'No' } },
  updateProductFeatures: { body: [{ FeatureID: 10, FeatureDescription: 'Cast iron' }] },
  updateProductFeature: { path: { featureid: 10 }, body: { FeatureDescription: 'Cast Iron' } },
  createProductImageGallery: {
    body: { ImageGalleryFile: 'assets/images/cookware/0001-lid.jpg', ImageGallerySorting: 9 },
  },
  updateProductImageGalleries: { body: [{ ImageGalleryID: 10, ImageGalleryCaption: 'From the front' }] },
  updateProductImageGallery: { path: { imagegalleryid: 10 }, body: { ImageGalleryCaption: 'front' } },
  listProductOptionSets: { path: { catalogid: 5 } },
  createProductOptionSet: {
    path: { catalogid: 5 },
    body: { OptionSetName: 'Gift wrap', OptionType: 'Radio', OptionList: [{ OptionName: 'Paper', OptionValue: 2.5 }] },
  },
  updateProductOptionSets: { path: { catalogid: 5 }, body: [{ OptionSetID: 1, OptionSorting: 1 }] },
  updateProductOptionSet: { path: { catalogid: 5, optionsetid: 1 }, body: { OptionRequired: true } },
  createProductRelatedProduct: { body: { RelatedProductID: 3, RelatedProductSorting: 5 } },
  updateProductRelatedProducts: { body: [{ RelatedIndexID: 10, RelatedProductSorting: 2 }] },
  updateProductRelatedProduct: { path: { relatedindexid: 10 }, body: { RelatedProductSorting: 1 } },
  createProductSerial: { body: { SerialCode: 'SKILLET-0001', SerialUses: 1 } },
  updateProductSerials: { body: [{ SerialID: 1, SerialUses: 2 }] },
  updateProductSerial: { body: { SerialUses: 1 } },
  createProductUpSellingItem: { body: { UpSellingItemID: 4, UpSellingItemSorting: 5 } },
  updateProductUpSellingItems: { body: [{ UpSellingIndexID: 10, UpSellingItemSorting: 2 }] },
  updateProductUpSellingItem: { path: { upsellingindexid: 10 }, body: { UpSellingItemSorting: 1 } },

  createCustomer: {
    body: {
      Email: 'robin@shopper.example',
      Password: 'a password of the shopper',
      BillingFirstName: 'Robin',
      BillingLastName: 'Reed',
      CustomerGroupID: 1,
    },
  },
  updateCustomers: { body: [{ CustomerID: 1, MailList: true }] },
  updateCustomer: { body: { BillingPhoneNumber: '617-555-0123' } },
  deleteCustomer: { path: { customerid: 600 } },

  updateOrders: {
    body: [
      { OrderID: 1, InternalComments: 'Packed' },
      { OrderID: 2, InternalComments: 'Packed' },
    ],
  },
  updateOrder: { body: { InternalComments: 'Called the customer' } },
  createOrderItem: { body: { CatalogID: 3, ItemQuantity: 1 } },
  updateOrderItems: { body: [{ ItemIndexID: 1, ItemAdditionalField1: 'Engraved' }] },
  updateOrderItem: { body: { ItemAdditionalField1: 'Plain' } },
  createOrderShipment: { path: { orderid: 2 }, body: { ShipmentMethodName: 'Ground', ShipmentCity: 'Denver' } },
  updateOrderShipments: {
    body: [{ ShipmentID: 0, ShipmentTrackingCode: '1Z9990001', ShipmentShippedDate: '11/08/2024' }],
  },
  updateOrderShipment: { path: { shipmentid: 0 }, body: { ShipmentTrackingCode: '1Z9990002' } },
  createOrderTransaction: {
    body: {
      TransactionType: 'Refund',
      TransactionAmount: 6,
      TransactionMethod: 'Card',
      RefundItemList: [{ ItemIndexID: 1, RefundQuantity: 1, RefundAmount: 5 }],
      RefundTaxAmount: 1,
    },
  },
  updateOrderTransactions: { body: [{ TransactionIndexID: 1, TransactionReference: 'ref-1' }] },
  updateOrderTransaction: { body: { TransactionReference: 'ref-2' } },
  listOrderQuestions: { path: { orderid: 2 } },
  createOrderQuestion: { path: { orderid: 2 }, body: { QuestionID: 2, QuestionAnswer: 'After six' } },
  updateOrderQuestions: { path: { orderid: 2 }, body: [{ QuestionAnswerIndexID: 1, QuestionAnswer: 'A friend' }] },
  updateOrderQuestion: { path: { orderid: 2 }, body: { QuestionAnswer: 'Newsletter' } },

  createGiftRegistry: {
    body: {
      Name: 'Robin and Sam',
      Event: '2027-06-12T00:00:00',
      CustomerAddressBook: { FirstName: 'Robin', LastName: 'Reed', City: 'Boston', Country: 'US' },
      GiftRegistryItemList: [{ CatalogID: 1, Listed: 2 }],
    },
  },
  updateGiftRegistries: { body: [{ GiftRegistryID: 1, ShipToAddress: true }] },
  updateGiftRegistry: { body: { Message: 'Thank you!' } },

  createWebhook: {
    body: {
      Name: 'Orders to the desk',
      Url: 'http://127.0.0.1:8080/orders',
      EventType: 1,
      Format: 'JSON',
      Enabled: true,
    },
  },
  updateWebhook: { body: { Format: 'XML' } },
  resumeWebhook: { body: { CatchUp: true } },

  createRMA: {
    body: { OrderID: 1, RMAReasonID: 1, Comments: 'Too heavy', RMAItemList: [{ CatalogID: 226, ReturnQuantity: 1 }] },
  },
  updateRMAs: { body: [{ RMAID: 1, RMAStatusID: 2 }] },
  updateRMA: { body: { StaffComments: 'Received' } },
}

/** What reads fill in of other records, which the file has by their numbers alone; of a list, its first item. */
const filledIn: Readonly<Record<string, object>> = {
  Products: {
    ManufacturerName: 'Hollis Ironworks',
    CategoryList: [{ CategoryID: 7, CategoryName: 'Cookware' }],
    DistributorList: [
      {
        DistributorID: 8,
        DistributorName: 'Lone Star Outfitters Supply',
        DistributorItemCost: 22.47,
        DistributorItemID: 'KIT-HOL-0001-D8',
        DistributorStockID: 'ST749135',
      },
    ],
  },
}

/** What the sandbox has, by the names of records in XML: its first records, and of each member some value. */
const lines = readFileSync(samplesFile, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as { readonly service: string; readonly record: object; readonly values: object })
  .map(({ service, record, values }) => {
    const filled = filledIn[service] ?? {}
    const typeName = resources.find((one) => one.service === service)?.typeName ?? ''
    return { typeName, record: { ...record, ...filled }, values: { ...filled, ...values } }
  })

/** What examples of answers are made of: records by their names in XML, then values of members, whatever contains them. */
export const samples: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(lines.map(({ typeName, record }) => [typeName, record])),
  OrderStatus: { OrderStatusID: 1, StatusID: 1, StatusDefinition: 'New', StatusText: 'New', Visible: true },
  Webhook: { Id: 1, ...(examples.createWebhook?.body as object) },
  ResponseInfo: { Key: 'Id', Value: '1', Status: '200', Message: 'updated successfully' },
  PlacedCheckout: {
    Key: 'OrderID',
    Value: '351',
    Status: '201',
    Message: 'Created successfully',
    InvoiceNumberPrefix: 'AB-',
    InvoiceNumber: 1350,
    OrderAmount: 110.8,
    OrderPage: 'https://shop.example/order/1-351-cydc_NJwc8wnMT4VS46wZg',
  },
  Event: { EventType: 1, EventName: 'Order New' },
  FeedEvent: {
    Sequence: 17,
    Id: 'evt_0b6f0f3c2c1e4b0e9d0a6a3f1c9d7e55',
    EventType: 9,
    EventName: 'Customer Changed',
    RecordID: 1,
    DateCreated: '2026-03-10T12:00:00',
    Changed: 'BillingCity,BillingZipCode',
  },
  // Two of the three pieces came back, and were refunded.
  OrderSum: {
    OrderID: 1,
    ItemTotal: 60,
    DiscountTotal: 6,
    ShippingTotal: 8,
    TaxTotal: 3.5,
    OtherAmount: 0,
    OrderAmount: 65.5,
    PaidAmount: 65.5,
    RefundedAmount: 40,
    NetAmount: 25.5,
    OpenAmount: 0,
    ItemSumList: [{ ItemIndexID: 1, ItemID: 'MUG-ENAMEL', ItemQuantity: 3, ReturnedQuantity: 2, RefundedQuantity: 2 }],
  },
  CallbackTest: {
    Sent: {
      PublicKey: '0123456789abcdef0123456789abcdef',
      TimeStamp: '07-11-2026 10:44:08',
      TokenKey: '0'.repeat(32),
      Action: 'AUTHORIZE',
      SecureURL: 'https://sample.store.example',
    },
    MessageId: 'msg_0b6f0f3c-2c1e-4b0e-9d0a-6a3f1c9d7e55',
    Status: 200,
    Reason: null,
    Milliseconds: 84,
    Answer: '{"PostBackURL": "https://app.example/welcome"}',
    PostBackURL: 'https://app.example/welcome',
  },
  Email: 'ann@shop.example',
  Name: 'Order desk',
}

/** What examples of members are made of, by the names of records. */
export const values = { ...samples, ...Object.fromEntries(lines.map((line) => [line.typeName, line.values])) }
