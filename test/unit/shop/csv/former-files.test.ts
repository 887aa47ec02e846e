import { expect, test } from 'vitest'
import { columnsOf, isTaken, listColumnsOf } from '../../../../src/shop/csv/lines/columns.ts'
import { isSecret, suggest } from '../../../../src/shop/csv/take-in/mapping.ts'
import { customers } from '../../../../src/shop/resources/customers/customers.ts'
import { products } from '../../../../src/shop/resources/products/products.ts'

const numbered = (name: string, last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => `${name}${first + index}`)

/** The headings that are known of the product file of 3dcart and Shift4Shop, in its order, and later columns of its table. */
const productHeadings = [
  ...'catalogid id name categories mfgid manufacturer distributor cost price price2 price3 saleprice onsale stock'.split(
    ' ',
  ),
  ...'stock_alert display_stock weight minimumorder maximumorder date_created description extended_description'.split(
    ' ',
  ),
  ...'keywords sorting thumbnail image1 image2 image3 image4 realmedia related accessories shipcost'.split(' '),
  ...numbered('imagecaption', 4),
  ...'title metatags displaytext eproduct_password eproduct_random eproduct_expire eproduct_path eproduct_serial'.split(
    ' ',
  ),
  ...'eproduct_instructions homespecial categoryspecial hide free_shipping nontax notforsale giftcertificate'.split(
    ' ',
  ),
  ...'userid last_update'.split(' '),
  ...numbered('extra_field_', 13),
  ...'usecatoptions qtyoptions'.split(' '),
  ...numbered('price_', 10),
  ...numbered('hide_', 10),
  ...'minorderpkg listing_displaytype show_out_stock pricing_groupopt qtydiscount_opt loginlevel redirectto'.split(' '),
  ...'accessgroup self_ship tax_code eproduct_reuseserial nonsearchable instock_message outofstock_message'.split(' '),
  ...'backorder_message height width depth reward_points reward_disable reward_redeem filename fractional_qty'.split(
    ' ',
  ),
  ...'gtin rma_maxperiod recurring_order reminders_enabled reminders_frequency review_average review_count'.split(' '),
  ...'qty_reorder giftwrap_option warehouse_location warehouse_bin warehouse_aisle warehouse_custom'.split(' '),
  ...'makeanoffer_enabled makeanoffer_price canonical_url link sample_enable sample_name sample_sku_prefix'.split(' '),
  ...'sample_price sample_weight categoriesaaa'.split(' '),
]

const address = 'firstname lastname address address2 city state zip country company phone'.split(' ')

/** Those of its customer file, and the other columns of that table. */
const customerHeadings = [
  ...address.map((part) => `billing_${part}`),
  'email',
  ...address.map((part) => `shipping_${part}`),
  ...'comments pass discount accountno maillist custenabled'.split(' '),
  ...'contactid lastlogindate website custother1 type userid last_update'.split(' '),
  ...numbered('additional_field', 4),
  ...'alt_contactid oshipaddresstype reset_pass'.split(' '),
]

test.each([
  { resource: products, headings: productHeadings },
  { resource: customers, headings: customerHeadings },
])(
  'every heading of the $resource.service file is taken in, left out with a reason, or asks',
  ({ resource, headings }) => {
    const { columns, asked, leftOut, byName } = resource.formerFile ?? {
      columns: {},
      asked: {},
      leftOut: {},
      byName: [],
    }
    const tables = [columns, asked, leftOut].map((table) => Object.keys(table))
    expect(tables.flat().toSorted()).toEqual(headings.toSorted())
    expect(byName.filter((heading) => columns[heading] === undefined)).toEqual([])
    const questions = Object.values(asked).flatMap((one) => ('column' in one ? [one.column] : []))
    const targets = [...Object.values(columns), ...questions]
    const taken = [...columnsOf(resource).filter(isTaken), ...listColumnsOf(resource)].map(({ name }) => name)
    expect(targets.filter((name) => !taken.includes(name))).toEqual([])
    expect(new Set(targets).size).toBe(targets.length)
    for (const reason of Object.values(leftOut)) expect(reason).toMatch(/^[a-z]/)
  },
)

const caller = { privileges: null }

test.each([
  [
    'the columns of a shorter file of the former platform',
    'id,mfgid,name,manufacturer,categories,cost,price,price2,stock,weight,free_shipping,date_created,description,extended_description,keywords,hide,sorting,thumbnail,image1',
    true,
    true,
  ],
  ['words that every shop has', 'id,name,price,stock', false, false],
  ['two headings of that platform', 'id,name,price2,mfgid', false, false],
  ['its headings and one of somebody else', 'id,price2,extended_description,nontax,colour', true, false],
  [
    'its headings and one whose meaning is not certain',
    'id,price2,extended_description,nontax,usecatoptions',
    true,
    false,
  ],
  ['its headings without the SKU', 'catalogid,price2,extended_description,nontax,stock', true, false],
])('of %s, nothing is guessed', (_what, headings, isFormer, isCertain) => {
  expect(suggest(caller, products, headings.split(','))).toMatchObject({ isFormer, isCertain })
})

test('a heading that could mean two columns is left to the person, and no column is suggested twice', () => {
  const { suggestions } = suggest(caller, products, [
    'sku',
    'id',
    'description',
    'SKU code',
    'Priice',
    'userid',
    'LastUpdate',
  ])
  expect(suggestions.map(({ column, candidates, reason }) => column || candidates.join() || reason)).toEqual([
    'SKUInfo.SKU',
    '',
    'Description,ShortDescription',
    '',
    'SKUInfo.Price',
    'is written by the platform itself',
    'is written by the platform itself',
  ])
})

test('headings may be any text, such as names that every object has', () => {
  const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty']
  expect(suggest(caller, products, names).suggestions.every(({ column }) => typeof column === 'string')).toBe(true)
  expect(names.filter((name) => isSecret(products, name))).toEqual([])
})

test.each([
  ['pass', true],
  ['Password', true],
  ['user_password', true],
  ['PWD', true],
  ['Kennwort', true],
  ['contraseña', true],
  ['eproduct_password', true],
  ['reset_pass', false],
  ['ResetPassword', false],
  ['passport number', false],
  ['compass', false],
  ['email', false],
])('the heading %s is of passwords: %s', (heading, isOne) => {
  expect(isSecret(customers, heading)).toBe(isOne)
})
